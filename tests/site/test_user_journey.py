"""From a reporter's feedback to an overridden verdict, on the real site with a real worker."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from issues.models import Issue, IssueState, Test, TestState
from runs.models import Result
from tests import provider
from tests.axe import violations
from tests.evalhub.work.processes import running
from tests.factories import make_issue, make_jury, make_model, make_template, make_test, make_user
from tests.issues.pages import make_feedback
from tests.provider import Provider, verdict

pytestmark = [pytest.mark.browser, pytest.mark.journey, pytest.mark.django_db(transaction=True)]

TESTS, WRONG = 6, 2
PASSED, FAILED = TESTS - WRONG, WRONG
"""What the judge makes of the answers: the first two are wrong."""

END_MS = 240_000
"""A run of twelve calls takes some seconds, and a worker that starts on a busy machine more."""

REASON = "Thirteen is right: the hyphen parts two words."


def candidate_or_judge(request: provider.Json) -> str:
    """A candidate that miscounts the first tests' words, and a judge that notices."""
    text = provider.prompt(request)
    if '"score"' in text:
        return verdict(0 if "Thirteen" in text else 1, "Compared with the reference.")
    number = int(re.search(r"sentence (\d)", text)[1])
    return "Thirteen." if number <= WRONG else "Twelve."


@pytest.fixture
def worker(tmp_path: Path, database_url: str) -> Iterator[Provider]:
    """The worker command, and the provider that its calls go to."""
    with (
        Provider(candidate_or_judge, latency_ms=100) as served,
        running(
            tmp_path / "worker.log",
            "manage.py",
            "worker",
            DATABASE_URL=database_url,
            EVALHUB_ALLOWED_ADDRESSES="127.0.0.1",
        ),
    ):
        yield served


def make_workspace(served: Provider) -> Issue:
    """A draft issue with all tests but the first, and a complaint that nobody has read."""
    issue = make_issue(title="Miscounts words", description="By one.", state=IssueState.DRAFT)
    for number in range(2, TESTS + 1):
        make_test(
            f"How many words has sentence {number}?",
            issue=issue,
            template=make_template(title="Says the number"),
            reference="12",
            guidelines="The answer says twelve.",
        )
    make_feedback(comment="There are twelve.", prompt="How many words has sentence 1?")
    make_model(name="Candidate", api_base=served.base_url)
    make_jury(make_model(name="Judge", api_base=served.base_url), name="One judge")
    return issue


def write_a_test(page, issue: Issue) -> Test:
    """Attach the complaint from the issue, and write a test from it: the first act sends both."""
    page.goto(issue.get_absolute_url())
    page.get_by_role("link", name="Link feedback, tests …").click()
    page.get_by_role("checkbox", name="There are twelve.").check()
    assert violations(page) == []
    page.get_by_role("button", name="Link to this issue").click()
    page.get_by_text("1 row linked").wait_for()
    page.goto(issue.feedback.get().get_absolute_url())
    page.get_by_role("button", name="Create test").click()
    page.get_by_text("Draft created from feedback").wait_for()
    template = issue.tests.first().template_id
    page.locator("#id_template").evaluate(f"(box) => {{ box.value = {template} }}")
    page.locator("#id_guidelines").fill("The answer says twelve.")
    page.locator("#id_reference").fill("12")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(issue.get_absolute_url())
    page.get_by_role("button", name="Send to review").click()
    page.get_by_text("1 test sent to review.").wait_for()
    return issue.tests.latest("pk")


def approve(page, issue: Issue) -> None:
    """The second act: the issue takes its tests along."""
    page.goto(issue.get_absolute_url())
    page.get_by_role("button", name="Approve", exact=True).click()
    page.get_by_text("1 test approved.").wait_for()


def drawn(page) -> dict[str, int]:
    """The ring's parts as Plotly has drawn them; parts without results are left out."""
    page.locator("#chart-outcomes .slice").first.wait_for()
    ring = "document.getElementById('chart-outcomes').data[0]"
    names, values = page.evaluate(f"[{ring}.customdata.flat(), {ring}.values]")
    return {name: int(value) for name, value in zip(names, values, strict=True) if value}


def tabled(page) -> dict[str, int]:
    """The same numbers as the table beside the ring says them."""
    rows = page.locator("section[aria-labelledby=outcomes-title] tbody tr")
    texts = [row.inner_text().split() for row in rows.all()]
    counts = {cells[0].lower(): int(cells[1]) for cells in texts if cells[1] != "0"}
    return {name: n for name, n in counts.items() if name != "all"}


def log_in_by_form(page, user) -> None:
    page.goto("/")
    page.get_by_label("Username").fill(user.username)
    page.get_by_label("Password").fill("secret-phrase")
    page.get_by_role("button", name="Log in").click()


def launch_by_clicks(page) -> None:
    page.locator("#nav-sidebar").get_by_role("link", name="Runs").click()
    page.get_by_role("link", name="Launch a run").first.click()
    page.get_by_label("Miscounts words").check()
    page.get_by_role("checkbox", name="Candidate").check()
    page.get_by_label("One judge").check()
    page.get_by_role("button", name="Launch", exact=True).click()
    page.wait_for_url("**/reports/runs/*/")


def override_by_keys(page) -> None:
    """The first option of the scale, why, and save; the cursor is in no field before."""
    page.keyboard.press("1")
    page.keyboard.type(REASON)
    page.keyboard.press("Enter")


def test_from_feedback_to_an_overridden_verdict_and_back(page, log_in, worker):
    """All of it: a test from feedback, its review, launch, a failing result, override, undo.

    Two acts once the test is written, by two people. 5 clicks to a run that ends by itself:
    "Launch a run", issue, model, jury, "Launch". 1 more opens the first failing result. Overriding
    it takes no click: a number, a sentence, Enter. 2 clicks find it again (the card "Overturned",
    its row), and `u` undoes it.
    """
    issue = make_workspace(worker)
    log_in_by_form(page, make_user("annotator"))
    test = write_a_test(page, issue)
    log_in(make_user("maintainer"))
    approve(page, issue)
    test.refresh_from_db()
    issue.refresh_from_db()
    assert (test.state, issue.state) == (TestState.APPROVED, IssueState.APPROVED)

    launch_by_clicks(page)
    address = page.url
    page.evaluate("window.stayed = true")

    page.get_by_text(f"{PASSED} of {TESTS} scored").wait_for(timeout=END_MS)
    assert page.evaluate("window.stayed"), "progress came without a reload"
    assert drawn(page) == tabled(page) == {"passed": PASSED, "failed": FAILED}

    page.locator("#tab-results").click()
    page.locator("#results-grid [data-open]").first.click()
    page.wait_for_url("**/result/**")
    assert page.locator(".rn-outcome").inner_text() == "failed"
    override_by_keys(page)
    page.get_by_role("status").get_by_text("now passes").wait_for()
    assert page.locator(".rn-nav").inner_text().startswith(f"2 of {TESTS}")

    page.goto(address)
    assert drawn(page) == tabled(page) == {"passed": PASSED + 1, "failed": FAILED - 1}
    assert Result.objects.get(is_overridden=True).outcome == "passed"
    assert Result.objects.get(test=test).outcome == "failed"

    page.locator(".eh-card", has_text="Overturned").click()
    page.locator("[data-table=overrides] tbody a").first.click()
    page.wait_for_url("**/result/**")
    page.keyboard.press("u")
    page.get_by_text("Withdrew your verdict").wait_for()

    page.goto(address)
    assert drawn(page) == tabled(page) == {"passed": PASSED, "failed": FAILED}
    assert worker.total == 2 * TESTS
