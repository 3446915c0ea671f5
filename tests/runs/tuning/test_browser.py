"""Improving a judge in a real browser: read by keyboard, teach, reword, try, publish."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState, ItemState
from runs.tuning.models import Attempt, Tuning
from tests.axe import violations
from tests.browser import overflow_px, shoot, show
from tests.factories import make_user
from tests.runs.tuning.rows import MIXED, scored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def check(page, name):
    """The page can be read by everybody, in any width and scheme."""
    for scheme in ("light", "dark"):
        show(page, scheme=scheme)
        assert violations(page) == [], (name, scheme)
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
    page.get_by_label("Judge and version in use").select_option(index=1)
    page.get_by_role("button", name="Say how many there are").click()
    assert "48 verdicts of people" in page.get_by_role("status").inner_text()
    check(page, "begin")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/change/")
    tuning = Tuning.objects.get()

    page.get_by_role("link", name="Read where they differ").click()
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
    assert answers.nth(0).get_by_text("an example of the draft").is_visible()
    check(page, "development")

    page.get_by_role("link", name="Back to the rehearsal").click()
    page.get_by_label("Wording").fill("Be strict.\n\n" + page.get_by_label("Wording").input_value())
    page.get_by_role("button", name="Save the wording").click()
    page.get_by_role("link", name="Judge both halves again").click()
    check(page, "try")
    page.get_by_role("button", name="Ask 47 times").click()
    page.wait_for_url("**/change/")
    assert page.get_by_text("0 of 47 asked").is_visible()
    check(page, "working")

    attempt = Attempt.objects.get()
    for verdict in attempt.verdicts.select_related("labelled_example"):
        value = float(verdict.labelled_example.passed)
        attempt.verdicts.filter(pk=verdict.pk).update(
            state=ItemState.DONE, value=value, option=str(int(value))
        )
    Attempt.objects.filter(pk=attempt.pk).update(state=BatchState.DONE)
    page.get_by_text("Better on the held-out half: certain").wait_for()
    check(page, "attempted")

    page.get_by_role("link", name="Publish the new version").click()
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/change/")
    tuning.refresh_from_db()
    page.goto(tuning.draft.get_absolute_url())
    assert page.get_by_role("heading", name="When it was published").is_visible()
    assert overflow_px(page) == 0
    page.get_by_role("link", name="Improve").click()
    page.wait_for_url("**/add/?template=*")
