"""Texts as they are, and a long conversation by keys and by ear, in a real browser."""

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from tests.axe import violations
from tests.browser import overflow_px
from tests.factories import first_result, make_test, make_user
from tests.runs.judged_runs import judged_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ANSWER = (
    "It costs $5 and $7; \\(x = \\frac12\\).\n\n"
    "$$\\begin{aligned}a&=b\\\\c&=d\\end{aligned}$$\n\n"
    "```python\ndef f(x):\n    return 'a' + 1  # why\n```\n\n"
    "שלום עולם\n\nPay \u202eto Eve\u202c now."
)
TURNS = 201
ACTIVE = "document.activeElement"


@pytest.fixture
def enter(page, log_in):
    load_builtin_templates()
    log_in(make_user("annotator"))
    return page


def opened(page, *, turns=1):
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": f"Said {at}."} for at in range(turns)]
    result = first_result(judged_run(make_test(messages=messages), answer=ANSWER))
    page.goto(reverse("admin:runs_result_change", args=[result.pk]))
    return result


def test_formulas_code_direction_and_hidden_signs_are_those_of_the_text(enter):
    opened(enter)
    answer = enter.locator("#answer")

    assert answer.locator("math").count() == 2
    assert "It costs $5 and $7" in answer.inner_text()
    bar = answer.locator("mfrac").bounding_box()
    assert bar["height"] > answer.locator("mfrac mn").first.bounding_box()["height"]
    colours = answer.locator("pre span").evaluate_all(
        "all => new Set(all.map(one => getComputedStyle(one).color)).size"
    )
    assert colours >= 4
    hebrew = answer.locator("p", has_text="שלום")
    around = hebrew.evaluate(
        "p => { const range = document.createRange(); range.selectNodeContents(p);"
        " return p.getBoundingClientRect().right - range.getBoundingClientRect().right; }"
    )
    assert around == pytest.approx(0, abs=1)
    enter.set_viewport_size({"width": 390, "height": 800})
    assert overflow_px(enter) == 0

    # Hidden signs are warned of, and shown in the raw text.
    assert "2 hidden characters" in answer.inner_text()

    enter.keyboard.press("e")

    override = answer.locator("pre bdi").first
    assert override.get_attribute("title") == "right-to-left override"
    label = override.evaluate("sign => getComputedStyle(sign, '::before').content")
    assert label == '"U+202E"'
    assert "formatted" in enter.get_by_role("button", name="Show formatted").inner_text()


def test_200_turns_are_passed_by_keys_and_heard_without_icons(enter):
    result = opened(enter, turns=TURNS)

    enter.keyboard.press("Tab")
    assert enter.evaluate(f"{ACTIVE}.textContent") == "Skip to content"
    enter.keyboard.press("Enter")
    assert enter.evaluate(f"{ACTIVE}.tagName") == "MAIN"
    enter.keyboard.press("g")
    assert enter.evaluate(f"{ACTIVE}.getAttribute('aria-label')") == f"Turn {TURNS + 1}, answer"
    assert enter.locator("#answer").is_visible()

    assert not enter.get_by_role("article", name="Turn 100, assistant").is_visible()
    enter.get_by_text("Show 196 more turns").click()
    assert enter.get_by_role("article", name="Turn 100, assistant").is_visible()
    assert violations(enter) == []
    heard = enter.locator("body").aria_snapshot()

    assert f'heading "Result {result.pk}" [level=1]' in heard
    assert f'heading "Result {result.pk}: ' in heard
    assert 'article "Turn 1, user"' in heard
    assert 'navigation "Breadcrumb"' in heard
    assert "- main:" in heard
    for icon in ("chevron_right", "expand_more", "dock_to_right", "arrow_back", "rate_review"):
        assert icon not in heard
    shortcuts = enter.get_by_role("button", name="Shortcuts", exact=True)
    assert shortcuts.get_attribute("aria-keyshortcuts") == "?"


def test_keys_move_the_focus_through_the_results_of_a_run(enter):
    run = judged_run(make_test("One?"), make_test("Two?"))
    enter.goto(f"{run.get_absolute_url()}?tab=results")

    enter.keyboard.press("j")
    enter.keyboard.press("j")

    current = enter.locator("[aria-current=true]")
    assert current.evaluate(f"row => row.contains({ACTIVE})")
    with enter.expect_navigation(url="**/admin/runs/result/**"):
        enter.keyboard.press("Enter")


def test_a_form_that_adds_something_begins_in_its_first_field(enter):
    enter.goto(reverse("admin:issues_issue_add"))
    enter.wait_for_function(f"{ACTIVE}.name === 'title'")
    assert enter.evaluate(f"getComputedStyle({ACTIVE}).outlineWidth") == "2px"
