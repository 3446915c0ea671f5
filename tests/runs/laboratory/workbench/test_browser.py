"""The workbench in a real browser, with a scripted judge."""

import json

import pytest

from issues.models import JudgeTemplate, TemplateState
from runs.laboratory.workbench.models import BenchRow
from tests.axe import violations
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_user
from tests.provider import prompt, verdict
from tests.runs.laboratory.workbench.rows import answer_in, judge_of_fours, make_bench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

GOOD, BAD = "It is four.", "It is five."


@pytest.fixture
def bench(page, log_in, model_at, provider):
    provider.script = judge_of_fours
    maintainer = make_user("maintainer")
    log_in(maintainer)
    bench = make_bench(maintainer, model_at(name="Ada"), answers=[(GOOD, {}), (BAD, {})])
    page.goto(bench.get_absolute_url())
    return bench


def better_of_fours(request):
    """The answer that says it is four, else the one shown first."""
    return verdict("B" if GOOD in prompt(request).split("Answer B:")[1] else "A", "Read both.")


def status(page, words):
    page.wait_for_selector(f"[data-wb-said]:has-text('{words}')")


def foot(page, words):
    page.wait_for_selector(f"[data-wb-foot]:has-text('{words}')")


def test_only_the_changed_row_is_evaluated_and_all_of_it_by_keys(page, bench, provider):
    page.keyboard.press("Enter")  # to the first row
    page.keyboard.press("2")
    page.keyboard.press("j")
    page.keyboard.press("2")
    page.keyboard.press("R")
    status(page, "2 of 2 judgments. 2 calls")
    foot(page, "agrees 1 of 2")
    assert provider.total == 2

    second = page.locator("[data-wb-row]").nth(1)
    answer = second.locator("[data-wb-field=answer]")
    provider.script = lambda request: (
        json.dumps({"replacement": "four"})
        if "<selected>" in prompt(request)
        else judge_of_fours(request)
    )
    answer.evaluate("(area) => { area.focus(); area.setSelectionRange(6, 10); }")
    page.keyboard.press("Alt+a")
    page.wait_for_selector("[data-ed-action=rephrase]")
    page.keyboard.press("1")
    page.get_by_role("button", name="Accept").wait_for()
    page.keyboard.press("Enter")
    second.locator(".wb-stale").wait_for()
    foot(page, "agrees 1 of 1")
    assert answer.input_value() == GOOD
    page.keyboard.press("Escape")
    page.keyboard.press("R")
    foot(page, "agrees 2 of 2")
    assert provider.total == 4
    assert GOOD in answer_in(provider.requests[-1])
    assert second.locator(".wb-stale").count() == 0

    page.reload()
    assert answer.input_value() == GOOD
    foot(page, "agrees 2 of 2")
    answer.focus()
    page.keyboard.press("Alt+u")
    foot(page, "agrees 1 of 2")
    assert (answer.input_value(), provider.total) == (BAD, 4)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#wb-keys").is_visible()


def test_a_prompt_is_edited_saved_as_a_draft_and_published(page, bench, provider):
    page.get_by_text("Judge prompt and options").click()
    page.fill("[name=text]", "Is this right?\n{{ output }}\n{{ scale }}\nReply with JSON: score.")
    page.locator("[name=text]").blur()
    foot(page, "2 judgments to make")
    page.get_by_role("button", name="Judge all").click()
    status(page, "2 of 2 judgments")
    assert "Is this right?" in provider.requests[0]["messages"][0]["content"]

    page.fill("[name=title]", "Right?")
    page.get_by_role("button", name="Save as template draft").click()
    page.get_by_role("link", name="Publish …").click()
    page.get_by_role("button", name="Publish").click()
    page.wait_for_selector("text=Right? v1 is published.")
    template = JudgeTemplate.objects.get(title="Right?")
    assert (template.state, template.text[:14]) == (TemplateState.PUBLISHED, "Is this right?")


def test_a_suggested_role_is_read_changed_and_used(page, bench, provider):
    provider.script = lambda request: "You are a teacher."
    page.get_by_role("button", name="Suggest a role").click()
    status(page, "Role suggested")
    role = page.locator("[name=role]")
    assert role.input_value() == "You are a teacher."
    role.fill("You are a strict teacher.")
    page.select_option("[name=method]", "self_critique")
    role.blur()
    foot(page, "2 judgments to make")
    replies = {2: verdict(1), 4: verdict("bad", "You miscounted."), 6: verdict(0)}
    provider.script = lambda request: replies[len(request["messages"])]
    page.get_by_role("button", name="Judge all").click()
    status(page, "2 of 2 judgments. 6 calls")
    assert provider.requests[-1]["messages"][0]["content"] == "You are a strict teacher."
    page.reload()
    assert role.input_value() == "You are a strict teacher."


def test_a_criterion_is_added_and_rows_get_its_options(page, bench, provider):
    page.get_by_role("button", name="Add criterion").click()
    page.locator("[name=criteria-0-text]").fill("Says four")
    page.locator("[name=criteria-0-text]").blur()
    options = "[data-key]:not([data-key='']) option:has-text('FULLY_MET')"
    page.wait_for_selector(options, state="attached")
    page.get_by_role("button", name="Add row").click()
    page.wait_for_selector("[data-wb-row] >> nth=2")
    page.keyboard.type("What is 2 + 2?")
    page.keyboard.press("Tab")
    page.keyboard.type(GOOD)
    page.keyboard.press("Escape")
    foot(page, "3 judgments to make")
    assert BenchRow.objects.filter(workbench=bench, answer=GOOD).count() == 2
    bench.refresh_from_db()
    assert [each["text"] for each in bench.criteria] == ["Says four"]
    with page.expect_response(lambda answer: "/settings/" in answer.url):
        page.locator("[data-eh-point] [data-eh-act=delete]").first.click()
    bench.refresh_from_db()
    assert bench.criteria == []


def test_three_answers_are_ranked_pairwise_and_the_page_fits(page, bench, provider):
    page.keyboard.press("R")
    status(page, "2 of 2 judgments. 2 calls")
    foot(page, "position bias not measured")
    provider.script = better_of_fours
    page.locator(".wb-bar summary").first.click()
    page.locator("[data-wb-act=duplicate]").first.click()
    third = page.locator("[data-wb-row]").nth(2).locator("[data-wb-field=answer]")
    third.fill("Four or five.")
    third.blur()
    page.get_by_role("button", name="Compare answers").click()
    status(page, "6 of 6 judgments. 6 calls")
    ranking = page.locator(".wb-pairs tbody th").all_inner_texts()
    assert ranking[0] == "Row 1"
    assert page.locator(".wb-pairs").get_by_text("in 1 of 3 pairs").is_visible()
    page.get_by_label("Ties allowed").uncheck()
    page.locator(".wb-pairs").get_by_text("3 changed since").wait_for()
    page.get_by_label("Ties allowed").check()
    page.locator(".wb-pairs").get_by_text("in 1 of 3 pairs").wait_for()
    page.locator(".wb-pairs summary").click()
    fits(page, "workbench")
    page.get_by_role("link", name="Generate rows …").click()
    page.get_by_role("heading", name="Generate rows for the workbench").wait_for()
    fits(page, "workbench-generate")


def fits(page, name):
    assert not violations(page)
    for width in HEIGHTS:
        for scheme in ("light", "dark"):
            show(page, width=width, scheme=scheme)
            assert overflow_px(page) == 0
    shoot(page, name)
