"""Resolving disputes by keyboard, and using a correction as reference answer."""

import pytest
from django.urls import reverse

from runs.models import HumanEvaluation, Result
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.axe import violations
from tests.factories import make_test, make_user
from tests.runs.judged_runs import judged_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def results():
    """Three answers on which two people differ."""
    run = judged_run(*[make_test(f"Question {n}?") for n in range(3)])
    people = [make_user("annotator", username=name) for name in ("anna", "bela")]
    for result in run.results.order_by("pk"):
        for person, option in zip(people, "10", strict=True):
            evaluate(result, HumanVerdict(option, f"{person} thinks so."), by=person)
    return list(run.results.order_by("pk"))


def waiting():
    return Result.objects.filter(is_disputed=True).count()


def test_three_disputes_are_settled_and_one_taken_back_by_keys(page, log_in, results):
    log_in(make_user("adjudicator"))
    page.goto("/admin/review/dispute/")
    assert violations(page) == []
    page.get_by_role("link", name="Resolve disputes").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")

    for n, left in enumerate((2, 1, 0)):
        page.get_by_text(f"{n + 1} of 3", exact=True).wait_for()
        assert page.get_by_label("Final decision").first.is_checked()
        page.keyboard.press("1")
        page.keyboard.type("The guidelines say so.")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert waiting() == left

    with page.expect_navigation():
        page.keyboard.press("u")
    assert waiting() == 1
    kinds = HumanEvaluation.objects.order_by("pk").values_list("kind", flat=True)
    assert list(kinds)[6:] == ["adjudication"] * 3 + ["withdrawal"]


def test_an_annotator_corrects_and_a_maintainer_promotes(page, log_in, results):
    result = results[0]
    log_in(make_user("maintainer"))
    page.goto(reverse("admin:runs_result_change", args=[result.pk]))
    page.get_by_text("Write a correction").click()
    page.get_by_role("textbox", name="Corrected answer").fill("Four, <b>certainly</b>.")
    page.get_by_role("button", name="Save correction").click()
    page.get_by_role("link", name="Use as reference answer …").click()
    page.get_by_role("link", name="Use as reference answer …").click()
    assert violations(page) == []
    page.get_by_role("button", name="Use as reference answer").click()
    page.get_by_text("The correction is now the reference answer.").wait_for()

    result.test.refresh_from_db()
    assert result.test.reference == "Four, <b>certainly</b>."
