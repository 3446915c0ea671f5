"""The launch form and the page of a jury in a real browser: what their scripts add."""

import pytest

from runs.models import DEFAULT_APPROACHES, Suite
from tests.browser import overflow_px, show
from tests.factories import make_jury, make_model, make_test

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.journey
def test_a_suite_that_is_chosen_fills_in_its_defaults(enter):
    model, jury = make_model(name="the model"), make_jury(make_model(), name="the jury")
    defaults = {"models": [model.pk], "temperatures": [0, 0.7], "jury": jury.pk}
    suite = Suite.objects.create(name="nightly", defaults=defaults)
    suite.tests.add(make_test())
    enter.goto("/admin/runs/launch/add/")
    enter.fill("[name=label]", "my own")

    enter.select_option("[name=suite]", value=str(suite.pk))
    enter.get_by_text("Filled in from the suite’s defaults").wait_for()

    assert enter.input_value("[name=temperatures]") == "0, 0.7"
    assert enter.is_checked(f"[name=models][value='{model.pk}']")
    assert enter.is_checked(f"[name=jury][value='{jury.pk}']")
    assert enter.input_value("[name=label]") == "my own"
    enter.fill("[name=temperatures]", "0, 0.7, 1")
    enter.get_by_text("1 test in 3 runs: 3 temperatures").wait_for()
    show(enter, width=390)
    assert overflow_px(enter) == 0


def test_what_a_jury_is_asked_follows_what_is_chosen(enter):
    jury = make_jury(make_model(name="the judge"), approaches=DEFAULT_APPROACHES)
    enter.goto(f"/admin/runs/jury/{jury.pk}/change/")
    total = enter.get_by_role("region", name="Calls per answer").locator("tfoot td").last
    assert total.inner_text() == "10"

    enter.fill("[name=samples]", "3")

    enter.get_by_text("3 samples take 3 calls").wait_for()
    assert total.inner_text() == "30"
    show(enter, width=390)
    assert overflow_px(enter) == 0
