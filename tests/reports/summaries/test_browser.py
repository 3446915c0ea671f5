"""Executive summaries in a real browser: asked for by hand, read in every window."""

import pytest

from runs.models import Suite
from tests.browser import overflow_px, shoot, show
from tests.factories import make_issue, make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, finish, judge
from tests.reports.summaries.builders import make_summary

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def fits(page, name):
    for width in (1280, 390):
        show(page, width=width)
        assert overflow_px(page) == 0, (name, width)
    shoot(page, name)


@pytest.fixture
def runs():
    suite = Suite.objects.create(name="Library desk")
    issue = make_issue(title="Sums go wrong", tags=("arithmetic",))
    tests = [make_test(f"What is {n} + {n}?", issue=issue) for n in range(2, 8)]
    made = []
    for place, name in enumerate(("Alpha One 70B Instruct", "Beta Two", "Gamma Three mini")):
        model = make_model(name=name, developer="Alphabet Soup" if place else "Beta Works")
        run = make_run(
            *tests, model=model, jury=make_jury(make_model()), suite=suite, label="Nightly"
        )
        answer(run, f"I am {name}. It is four.")
        judge(run, [[float(n % 3 <= place)] for n in range(6)])
        finish(run)
        made.append(run)
    return made


def test_a_maintainer_asks_and_reads(page, log_in, runs):
    make_model(name="Careful reader", input_usd_per_mtok=3, output_usd_per_mtok=15)
    log_in(make_user("maintainer"))
    page.goto(f"/reports/summaries/ask/?with={runs[0].pk}")
    for run in runs[1:]:
        page.get_by_role("checkbox", name=run.model_name).check()
    page.get_by_label("Language model").select_option(label="Careful reader")
    page.get_by_role("button", name="Preview request").click()
    page.get_by_text("All 6 tests were sent whole.").wait_for()
    fits(page, "summary-ask")
    page.get_by_role("button", name="Send to Careful reader").click()
    assert page.locator("#summary-state").inner_text() == "running"
    fits(page, "summary-waiting")


def test_a_summary_is_read_with_its_numbers_and_its_exchange(page, log_in, runs):
    done = make_summary(runs, name="Careful reader")
    failed = make_summary(runs, name="Idle reader", error_kind="unusable_reply", reply="No.")
    log_in(make_user("maintainer"))
    page.goto("/reports/summaries/")
    assert page.locator("[aria-label='Executive summaries'] tbody tr").count() == 2
    fits(page, "summaries")
    page.goto(done.get_absolute_url())
    assert page.locator("mark.eh-unsupported").last.inner_text() == "83 %"
    assert page.locator("[data-table=claims] tbody tr").count() == 3
    grades = page.locator(".eh-grades tbody tr").first.locator("td").all_inner_texts()
    assert grades[0].split("%")[0].isdigit()
    assert grades[1:] == ["7", "4", "10", "7", "N/A"]  # the third model: 2, 8 and 5, and 2 more
    fits(page, "summary")
    page.get_by_role("link", name="View transcript").click()
    page.get_by_text("You are an analyst.").wait_for()
    fits(page, "summary-exchange")
    page.goto(failed.get_absolute_url())
    assert page.get_by_text("No summary: failed.").is_visible()
    fits(page, "summary-failed")
