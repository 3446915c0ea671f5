"""Comparing runs in a real browser: what scripts add, and how the page looks."""

import pytest

from reports.documents.links import page_url
from runs.models import HumanEvaluation, Run, Suite, VerdictDraft
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_issue, make_test
from tests.reports.judged_runs import judged
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def loaded(page, address):
    """The page once all is computed."""
    page.goto(address)
    page.locator("#report[data-pending='0']").wait_for()
    return page


def looks(page, name):
    """The page is looked at in all sizes and schemes, and is never wider than its window."""
    shoot(page, name)
    for width in HEIGHTS:
        show(page, width=width)
        assert overflow_px(page) <= 0, f"{name} at {width} px"
    show(page)


def verdict_beside_the_other_answer(page, faults):
    """By keys: the draft outlives the page, and saving the session; then it is withdrawn."""
    page.locator(".cm-verdict summary").last.focus()
    assert page.locator("[name=option]:checked").count() == 0
    page.keyboard.press("1")
    page.keyboard.type("Half a")
    page.get_by_text("draft saved").wait_for()
    page.reload()
    page.locator("[data-table=tests] tbody tr").first.get_by_role("link", name="test ").click()
    reason = page.locator("[name=justification]").last
    assert reason.input_value() == "Half a"

    kept = page.context.cookies()
    page.context.clear_cookies()
    reason.focus()
    page.keyboard.press("End")
    page.keyboard.type(" sentence.")
    page.keyboard.press("Enter")
    page.get_by_text("You are logged out").wait_for()
    page.context.add_cookies(kept)
    page.get_by_text("Your verdict: passes (1). Change or withdraw it").wait_for()
    assert "is passed" in page.locator(".cm-answers [role=status]").first.inner_text()
    evaluation = HumanEvaluation.objects.get()
    assert (evaluation.option, evaluation.justification) == ("1", "Half a sentence.")
    assert not VerdictDraft.objects.exists()
    page.keyboard.press("u")
    page.get_by_text("Withdrew your verdict").wait_for()
    assert page.get_by_text("Override the verdict").count() == 2
    faults.clear()  # The browser says itself that it was refused.


@pytest.mark.journey
def test_two_runs_from_choosing_to_both_answers(enter, faults):
    """No run, then one, then two: what flipped, how sure, and the answers side by side."""
    enter.goto(page_url("compare"))
    assert "No runs to compare yet" in enter.locator("main, body").first.inner_text()
    looks(enter, "compare-none")

    issues = [make_issue(title=title, tags=("facts",)) for title in ("Invents", "Miscounts")]
    tests = [make_test(f"Question {n}?", issue=issues[n % 2]) for n in range(8)]
    suite = Suite.objects.create(name="Everyday questions")
    first = judged(*[[1]] * 8, tests=tests, suite=suite, label="March")
    enter.goto(page_url("compare", runs=[first]))
    assert "no earlier run" in enter.locator("#report").inner_text()

    second = judged(*[[0]] * 7, [1], tests=tests, suite=suite, label="April")
    loaded(enter, page_url("compare"))
    assert "lost 7, won 0 of the same 8 tests" in enter.locator(".eh-sentences").first.inner_text()
    rows = enter.locator("[data-table=tests] tbody tr")
    assert rows.count() == 7
    rows.first.get_by_role("link", name="test ").click()
    enter.locator(".cm-answers").wait_for()
    assert enter.locator(".cm-side").count() == 2
    looks(enter, "compare-two")
    verdict_beside_the_other_answer(enter, faults)
    rows.first.get_by_role("link", name="test ").click()
    assert enter.locator(".cm-answers").count() == 0

    enter.get_by_text("Runs compared: change").click()
    enter.get_by_role("button", name="Set as baseline").first.click()
    enter.get_by_text("is now the baseline of").wait_for()
    assert suite.baselines.get() == first

    enter.get_by_label("List", exact=True).select_option("same")
    enter.wait_for_url("**show=same**")
    assert rows.count() == 1
    assert f"runs={first.pk}" in enter.url
    assert f"runs={second.pk}" in enter.url


def test_runs_are_found_while_one_types_and_stand_side_by_side(enter):
    ledger = make_workspace(releases=3)
    loaded(enter, page_url("compare", runs=ledger.runs[:2]))
    enter.get_by_text("Runs compared: change").click()
    enter.get_by_text("Add a run").click()
    offered = enter.locator("[data-cm-offered] li")
    assert offered.count() == 4
    wanted = ledger.runs[4]
    enter.get_by_label("Find runs").press_sequentially(wanted.label)
    enter.wait_for_function("document.querySelectorAll('[data-cm-offered] li').length === 1")
    offered.get_by_role("link").click()

    enter.locator("[data-table=grid]").first.wait_for()
    assert enter.locator("[data-table=totals] tbody tr").count() == 3
    assert Run.objects.count() == 6
    looks(enter, "compare-many")
