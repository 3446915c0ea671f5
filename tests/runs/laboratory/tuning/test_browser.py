"""Improving a judge in a real browser: read by keyboard, teach, reword, try, publish."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState, ItemState
from runs.laboratory.tuning.models import Attempt, Tuning
from tests.axe import violations
from tests.browser import overflow_px, shoot, show
from tests.factories import make_user
from tests.runs.laboratory.tuning.rows import MIXED, scored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def check(page, name):
    """The page can be read by everybody, in any width and scheme."""
    assert violations(page) == [], name
    show(page, width=390)
    assert overflow_px(page) == 0, name
    show(page)
    shoot(page, f"tuning-{name}")


def focused(page):
    return page.evaluate("document.activeElement.id")


def test_a_judge_is_improved(page, log_in):
    scored(MIXED * 3)
    log_in(make_user("maintainer"))
    page.goto(reverse("admin:tuning_tuning_add"))
    page.get_by_label("Judge and template version").select_option(index=1)
    page.get_by_role("button", name="Count answers").click()
    assert "48 answers with a human verdict" in page.get_by_role("status").inner_text()
    assert "csrfmiddlewaretoken" not in page.url
    check(page, "start")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/change/")
    tuning = Tuning.objects.get()

    page.get_by_role("link", name="disagreements").click()
    answers = page.locator("[data-tn-answer]")
    first, second = (answers.nth(n).get_attribute("id") for n in range(2))
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused(page) == second
    page.keyboard.press("k")
    assert focused(page) == first
    page.get_by_role("button", name="Next").click()
    answers.nth(0).get_by_role("button", name="Use as example").click()
    page.wait_for_url(f"**#{first}")
    assert answers.nth(0).get_by_text("example in the draft").is_visible()
    check(page, "development")

    page.get_by_role("link", name="Back to judge tuning").click()
    page.get_by_label("Prompt").fill("Be strict.\n\n" + page.get_by_label("Prompt").input_value())
    page.get_by_role("button", name="Save prompt").click()
    page.get_by_role("link", name="Test this draft").click()
    check(page, "attempt")
    page.get_by_role("button", name="Start (47 calls)").click()
    page.wait_for_url("**/change/")
    assert page.get_by_text("0 of 47 judged").is_visible()
    check(page, "working")

    attempt = Attempt.objects.get()
    for verdict in attempt.judgments.select_related("labelled_example"):
        value = float(verdict.labelled_example.passed)
        attempt.judgments.filter(pk=verdict.pk).update(
            state=ItemState.DONE, value=value, option=str(int(value))
        )
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.DONE)
    page.get_by_text("Significantly better on the held-out split").wait_for()
    check(page, "attempted")

    page.get_by_role("link", name="Publish version").click()
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/change/")
    tuning.refresh_from_db()
    page.goto(tuning.draft.get_absolute_url())
    assert page.get_by_role("heading", name="Figures at publication").is_visible()
    assert overflow_px(page) == 0
    page.get_by_role("link", name="Improve").click()
    page.wait_for_url("**/add/?template=*")
