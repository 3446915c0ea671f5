"""The way from a benchmark to a validated judge in a real browser."""

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from runs.laboratory.trials.models import Trial, Validation
from tests.axe import violations
from tests.browser import overflow_px, show
from tests.factories import make_model, make_user
from tests.runs.laboratory.trials.sample_benchmark import judged_by, make_benchmark, right

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def check(page, name):
    """The page can be read by everybody, in any width and scheme."""
    assert violations(page) == [], name
    show(page, width=390)
    assert overflow_px(page) == 0, name
    show(page)


def test_a_judge_is_tried_found_fit_and_marked(page, log_in):
    load_builtin_templates()
    benchmark = make_benchmark(topics=3, ideas=6, clusters=1, name="Sorting")
    make_model(name="Sound", is_scripted=True)
    log_in(make_user("maintainer"))

    page.goto(benchmark.get_absolute_url())
    page.get_by_role("link", name="Try judges").click()
    page.get_by_label("Models", exact=True).select_option(label="Sound")
    page.get_by_label("Judge templates").select_option(index=0)
    page.get_by_role("button", name="Estimate").click()
    check(page, "start")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/change/")
    trial = Trial.objects.get()
    judged_by(trial, right)
    page.goto(trial.get_absolute_url())
    check(page, "trial")

    page.get_by_role("link", name="Which judge is fit?").click()
    page.locator("#fitness").wait_for()
    assert "Sound is fit for " in page.locator(".eh-sentences").inner_text()
    assert page.get_by_text("scripted endpoint, not a model").first.is_visible()
    for chart in page.locator(".eh-chart").all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
    check(page, "report")
    page.get_by_label("Judge and task").select_option(label="Sound for similarity of two texts")
    page.get_by_role("button", name="Mark as validated").click()
    page.get_by_role("button", name="Withdraw mark").wait_for()
    assert Validation.objects.get().task == "similarity"

    claim = benchmark.claims.first()
    page.locator("#claims").get_by_role("link", name=f"Claim {claim.pk}", exact=True).click()
    page.wait_for_url(f"**{reverse('reports:claim', args=[claim.pk])}")
    check(page, "claim")
