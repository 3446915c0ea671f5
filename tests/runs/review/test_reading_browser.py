"""The screens on which answers are read: the verdict stays in sight, and a reason is no command."""

import string
from urllib.parse import parse_qs

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from runs.laboratory.pairwise.models import PairEvaluation
from runs.models import HumanEvaluation
from runs.review.models import Skip
from runs.review.queue_items import add_runs
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.axe import violations
from tests.browser import HEIGHTS, overflow_px, show
from tests.factories import make_test, make_user
from tests.runs.judged_runs import judged_run
from tests.runs.laboratory.pairwise.rows import answered_runs
from tests.runs.review.rows import filled, make_queue

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TYPED = string.ascii_letters + string.digits
LIST = "?_changelist_filters=is_disputed__exact%3D1%26run__id__exact%3D"
STATE = """() => JSON.stringify([
    location.href, window.wasHere, document.activeElement.outerHTML.slice(0, 80),
    document.querySelector('[data-assignment]')?.dataset.assignment,
    [...document.querySelectorAll('main input:checked, main textarea')].map((each) => each.value),
    [...document.querySelectorAll('main :is(details, dialog)')].map((each) => each.open),
    [...document.querySelectorAll('[data-raw]')].map((each) => each.hidden),
    document.querySelectorAll('[aria-busy], [data-sent]').length,
])"""


def act(page, *keys):
    """Press keys, of which the last saves, and wait until the page has gone on."""
    before = page.evaluate(STATE)
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_function(
        f"before => ({STATE})() !== before && !document.querySelector('[data-verdict][data-open]')",
        arg=before,
    )


def review(page, log_in):
    log_in(make_user("annotator"))
    queue = filled(3, blind="none")
    page.goto(reverse("admin:review_queue_work", args=[queue.pk]))
    act(page, "p", "Enter")
    return "f"


def override(page, log_in):
    """With a verdict of the reader's own, which `u` would withdraw."""
    reader = make_user("annotator")
    log_in(reader)
    results = judged_run(*[make_test(f"{n}?") for n in range(3)], votes=(0, 0, 1)).results
    result = results.order_by("pk")[1]
    evaluate(result, HumanVerdict("0", "So."), by=reader)
    page.goto(reverse("admin:runs_result_change", args=[result.pk]))
    return "p"


def dispute(page, log_in):
    log_in(make_user("adjudicator"))
    run = judged_run(*[make_test(f"{n}?") for n in range(3)])
    results = run.results.order_by("pk")
    for result in results:
        for option in "10":
            evaluate(result, HumanVerdict(option, "So."), by=make_user("annotator"))
    page.goto(reverse("admin:runs_result_change", args=[results[1].pk]) + f"{LIST}{run.pk}")
    page.get_by_text("2 of 3", exact=True).wait_for()
    return "f"


def pair(page, log_in):
    log_in(make_user("annotator"))
    runs = answered_runs("The first text.", "The second text.", tests=3)
    asked = "&".join(f"runs={run.pk}" for run in runs)
    page.goto(f"{reverse('reports:compare_next_pair')}?{asked}")
    act(page, "a", "Enter")
    page.get_by_role("button", name="Undo last").wait_for()
    return "b"


def pair_of_a_queue(page, log_in):
    log_in(make_user("annotator"))
    queue = make_queue(scope="pairs", random_share=1.0)
    add_runs(queue, *answered_runs("The first text.", "The second text.", tests=3))
    page.goto(reverse("admin:review_queue_work", args=[queue.pk]))
    act(page, "a", "Enter")
    return "b"


SCREENS = [review, override, dispute, pair, pair_of_a_queue]


def verdicts():
    """All that was ever recorded: the reasons of verdicts and choices, and of skips."""
    rows = HumanEvaluation, PairEvaluation
    reasons = [row.justification for model in rows for row in model.objects.order_by("pk")]
    return [*reasons, *Skip.objects.values_list("reason", flat=True)]


@pytest.mark.parametrize("screen", SCREENS)
def test_typed_reason_records_nothing_that_was_not_meant(page, log_in, screen):
    load_builtin_templates()
    key = screen(page, log_in)
    acts, before = [], verdicts()
    page.on("request", lambda one: acts.extend([act_of(one)] if one.method == "POST" else []))
    form, reason = "[data-verdict][data-open]", page.locator("[data-point=''] textarea")

    def does_nothing(where):
        page.evaluate("window.wasHere = true")
        state = page.evaluate(STATE)
        for letter in string.ascii_letters:
            page.keyboard.press(letter)
            assert page.evaluate(STATE) == state, f"{letter} {where}"

    page.keyboard.press(key)
    assert page.evaluate("document.activeElement.matches(\"[data-point=''] textarea\")")
    chosen = page.locator(f"{form} :checked").first.get_attribute("data-place")
    page.keyboard.type(TYPED)
    assert reason.input_value() == TYPED
    if screen is not pair:  # which keeps no drafts
        page.locator(form).get_by_text("draft saved").wait_for()
    page.keyboard.press("Escape")
    does_nothing("beside the reason")
    page.locator("h1").click()
    does_nothing("anywhere on the page")
    if screen is not pair:
        page.reload()
        page.locator(form).wait_for()
        does_nothing("with a kept draft")
    for digit in string.digits:
        page.keyboard.press("Escape")
        page.keyboard.press(digit)
    assert set(acts) <= {"draft", "renew"}
    assert verdicts() == before

    page.locator(f"[data-point=''] [data-place='{chosen}']").check(force=True)
    reason.fill("")
    reason.focus()
    page.keyboard.press("1")  # in an empty reason a digit changes the verdict
    page.keyboard.press("2")
    page.keyboard.press(chosen)
    if not page.locator(form).count():  # it was the last digit, which took it back
        page.keyboard.press(chosen)
    page.keyboard.type(TYPED)
    act(page, "Enter")
    assert verdicts()[len(before) :] == [TYPED] or verdicts().count(TYPED) == 1
    assert len(verdicts()) == len(before) + 1


def act_of(request):
    return parse_qs(request.post_data or "").get("act", ["save"])[-1]


@pytest.mark.parametrize("screen", SCREENS)
def test_verdict_stays_in_sight(page, log_in, screen):
    load_builtin_templates()
    key = screen(page, log_in)
    assert violations(page) == []
    evidence = page.locator(".rd-evidence > *").last
    for at_hand in (page.locator(".rd-verdict .rn-choice").first, page.locator("[data-save]")):
        evidence.scroll_into_view_if_needed()
        assert is_in_sight(page, at_hand)

    show(page, width=390, scheme="dark")
    assert overflow_px(page) <= 0
    page.evaluate("scrollTo(0, 0)")
    assert is_in_sight(page, page.locator(".rd-verdict .rn-choice").last)
    page.keyboard.press(key)
    evidence.scroll_into_view_if_needed()
    assert is_in_sight(page, page.locator("[data-save]"))


def is_in_sight(page, locator):
    box = locator.bounding_box()
    height = HEIGHTS[page.viewport_size["width"]]
    return box["y"] >= 0 and box["y"] + box["height"] <= height
