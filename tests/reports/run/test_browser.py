"""The reports in a real browser: what scripts add to pages that read well without them."""

import pytest

from evalhub.models import BatchState
from issues.models import Issue, Tag, TagKind
from runs.models import Result, Run
from tests.browser import show
from tests.factories import make_issue, make_jury, make_model, make_run, make_test
from tests.reports.judged_runs import answer, fail, finish, judge

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def judged(*votes):
    names = ("Invents sources", "Miscounts letters", "Ignores the format asked for")
    issues = [make_issue(title=name, tags=("facts", name.split()[0])) for name in names]
    prompts = [f"Question number {number}?" for number in range(len(votes))]
    tests = [make_test(prompt, issue=issues[n % 3]) for n, prompt in enumerate(prompts)]
    run = make_run(*tests, jury=make_jury(*(make_model() for _ in votes[0])), label="the check")
    answer(run, latency_ms=1200, cost_usd="0.002")
    judge(run, votes)
    return run


def done(*votes):
    run = judged(*votes)
    finish(run)
    run.refresh_from_db()
    return run


def test_a_domain_opens_to_its_results(enter):
    Tag.objects.create(name="facts", kind=TagKind.DOMAIN)
    run = done([0, 1], [1, 1], [1, 0.5])
    enter.goto(f"{run.get_absolute_url()}?by_judge=1&tab=tags")
    enter.locator("#domains").get_by_role("button", name="Results of facts", exact=True).click()
    inside = enter.locator(".eh-inside [data-row]")
    inside.first.wait_for()

    assert inside.count() == 3
    heads = enter.locator(".eh-inside thead th").all_inner_texts()
    assert len(heads) == 7
    assert inside.first.locator(".eh-vote").count() == 2


@pytest.mark.journey
def test_a_selection_by_keys_becomes_an_issue_and_is_undone(enter):
    run = done([0, 1], [0, 0], [1, 0])
    enter.goto(f"{run.get_absolute_url()}?tab=results#results")
    file = enter.get_by_role("button", name="File as…")
    assert file.is_disabled()
    for key in "jxjx":
        enter.keyboard.press(key)
    enter.get_by_text("2 selected").wait_for()

    file.click()
    title = enter.get_by_label("Title")
    assert title.input_value().startswith("Question number")
    title.fill("Cannot count")
    enter.get_by_role("button", name="Create issue").click()
    enter.get_by_text("New issue “Cannot count”. 2 new tests.").wait_for()
    assert Issue.objects.get(title="Cannot count").tests.count() == 2

    enter.get_by_role("button", name="Undo", exact=True).click()
    enter.get_by_text("Undone: what you filed is removed.").wait_for()
    assert enter.url.endswith(f"{run.get_absolute_url()}?tab=results#results")
    assert not Issue.objects.filter(title="Cannot count").exists()


def many():
    run = done(*([[1, 1], [0, 1], [0, 0], [1, None], [None, None]] * 4))
    fail(run, run.results.first())
    return run


def test_a_click_on_the_ring_filters_the_grid(enter):
    run = done([1], [1], [0])
    enter.goto(run.get_absolute_url())
    failed = enter.locator("#chart-outcomes text.slicetext", has_text="33%")
    failed.wait_for()
    failed.scroll_into_view_if_needed()
    box = failed.bounding_box()
    enter.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    enter.wait_for_url("**outcome=failed**")

    assert enter.locator("#results-grid [data-row]").count() == 1
    assert enter.locator("select[name=outcome]").input_value() == "failed"


def test_charts_are_drawn_with_their_tables_follow_the_theme_and_are_printed(enter):
    enter.goto(f"{many().get_absolute_url()}?tab=all")
    charts = enter.locator(".eh-chart")

    assert charts.count() == 3
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        assert chart.get_attribute("aria-label")
        panel = chart.locator("xpath=ancestor::section")
        assert panel.locator("table").count() == 1

    slice_colour = "getComputedStyle(document.querySelector('#chart-outcomes .slice path')).fill"
    enter.locator("#chart-outcomes .slice").first.wait_for()
    light = enter.evaluate(slice_colour)
    show(enter, scheme="dark")
    enter.wait_for_function(f"{slice_colour} !== '{light}'")
    show(enter)

    enter.emulate_media(media="print")
    assert not enter.locator("#nav-sidebar").is_visible()
    assert not enter.get_by_role("button", name="Print").is_visible()
    assert enter.get_by_role("heading", name="on the check").is_visible()


def test_keys_find_and_open_results_and_an_issue_opens_to_its_own(enter):
    run = done([0], [1], [1], [0])
    enter.goto(run.get_absolute_url())
    enter.locator("#tab-issues").click()
    enter.locator("#issues").get_by_role("button", name="Results of Invents sources").click()
    inside = enter.locator(".eh-inside [data-row]")
    inside.first.wait_for()
    assert inside.count() == 2
    enter.locator("#issues").get_by_role("button", name="Results of Invents sources").click()
    enter.locator(".eh-inside").wait_for(state="detached")

    enter.locator("#tab-results").click()
    enter.locator("#results-grid [data-row]").first.wait_for()
    enter.keyboard.press("/")
    enter.keyboard.type("jk")
    assert enter.locator("#results-search").input_value() == "jk"
    assert enter.locator("[aria-current=true][data-row]").count() == 0

    enter.goto(f"{run.get_absolute_url()}?tab=results")
    enter.keyboard.press("j")
    enter.keyboard.press("j")
    enter.keyboard.press("k")
    first = enter.locator("[aria-current=true] [data-open]").get_attribute("href")
    enter.keyboard.press("Enter")
    enter.wait_for_url("**/result/**")
    assert enter.url.endswith(first)
    assert f"run={run.pk}" in enter.url


def test_figures_follow_a_live_run_without_a_reload(enter):
    run = judged([1], [1], [0])
    Result.objects.filter(run=run).update(state="pending", passed=None, is_judged=False)
    enter.goto(run.get_absolute_url())
    enter.evaluate("window.stayed = true")
    assert enter.locator("[data-count=answered]").inner_text() == "0"

    Result.objects.filter(run=run).update(state="done", passed=True, is_judged=True)
    enter.wait_for_function("document.querySelector('[data-count=answered]').innerText === '3'")
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)
    enter.get_by_text("3 of 3 scored results passed").wait_for()
    enter.get_by_text("The first run of its model and settings").wait_for()

    assert enter.evaluate("window.stayed") is True


def test_a_run_is_cancelled_only_when_it_is_meant(enter):
    run = judged([1], [0])
    enter.goto(run.get_absolute_url())
    enter.get_by_role("button", name="Cancel…").click()
    enter.get_by_role("button", name="Keep running").click()
    run.refresh_from_db()
    assert run.state == BatchState.LIVE

    enter.get_by_role("button", name="Cancel…").click()
    enter.get_by_role("button", name="Cancel run").click()
    enter.get_by_text("Cancelled").first.wait_for()
    run.refresh_from_db()
    assert run.state == BatchState.CANCELLED
