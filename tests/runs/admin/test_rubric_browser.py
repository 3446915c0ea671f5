"""The rubric of a result by keyboard, in a real browser."""

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from runs.models import HumanEvaluation
from tests.browser import overflow_px
from tests.factories import first_result, make_user
from tests.runs.rubric_runs import rubric_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

POLITE, SHORT = "Is polite.", "Is short."


@pytest.fixture
def result():
    load_builtin_templates()
    votes = {POLITE: [1, 1, 0], SHORT: [1, 1, 1]}
    return first_result(rubric_run([{"text": POLITE}, {"text": SHORT}], votes))


@pytest.fixture
def enter(page, log_in, result):
    log_in(make_user("annotator"))
    page.goto(reverse("admin:runs_result_change", args=[result.pk]))
    return page


def said():
    rows = HumanEvaluation.objects.order_by("pk")
    return list(rows.values_list("kind", "criterion__text", "option"))


def test_a_criterion_is_judged_and_undone_by_keys_alone(enter, result):
    enter.keyboard.press("c")
    enter.keyboard.press("c")
    enter.keyboard.press("5")
    enter.keyboard.type("It goes on and on.")
    with enter.expect_navigation():
        enter.keyboard.press("Enter")
    assert said() == [("evaluation", SHORT, "UNMET")]
    assert enter.locator(f"#criterion-{key_of(result, SHORT)} details[open]").count() >= 1

    enter.keyboard.press("C")
    with enter.expect_navigation():
        enter.keyboard.press("u")
    assert said()[-1] == ("withdrawal", SHORT, "")


def key_of(result, text):
    return result.revision.criteria.get(text=text).key


def test_outside_of_the_rubric_the_keys_are_for_the_whole(enter):
    enter.keyboard.press("c")
    enter.keyboard.press("Escape")
    enter.keyboard.press("2")
    enter.keyboard.type("All in all no.")
    with enter.expect_navigation():
        enter.keyboard.press("Enter")

    assert said() == [("evaluation", "", "0")]


def test_the_rubric_fits_a_telephone_with_all_opened(enter):
    enter.set_viewport_size({"width": 390, "height": 844})
    enter.click("text=Open all")

    assert enter.locator("[data-criterion]:not([open])").count() == 0
    assert overflow_px(enter) == 0
