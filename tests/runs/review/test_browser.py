"""A day of annotators in a real browser, by keyboard alone."""

import re
from contextlib import contextmanager, suppress

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Error

from issues.judge_templates.lifecycle import load_builtin_templates
from runs.models import HumanEvaluation
from runs.review.assignment_actions import reopen
from runs.review.models import Assignment, AssignmentState, Queue, Skip
from runs.review.reservations import take
from tests.axe import violations
from tests.browser import overflow_px, show, watch
from tests.factories import first_result, make_template, make_test, make_user
from tests.reports.judged_runs import judged
from tests.runs.review.rows import expire, filled, make_queue, put, review
from tests.runs.rubric_runs import rubric_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NINE = {"options": [{"label": f"grade {n}", "value": n / 9} for n in range(1, 10)]}
KEYS = {
    "Ctrl Enter": "Control+Enter",
    "←": "ArrowLeft",
    "→": "ArrowRight",
    "↑": "ArrowUp",
    "↓": "ArrowDown",
    "Esc": "Escape",
}
"""Keys that are printed otherwise than the browser calls them."""


def work(queue: Queue) -> str:
    return reverse("admin:review_queue_work", args=[queue.pk])


@pytest.fixture
def ann(log_in):
    load_builtin_templates()
    user = make_user("annotator", username="ann")
    log_in(user)
    return user


@pytest.fixture
def no_mouse(page):
    """From here on the mouse counts as a fault."""
    page.context.add_init_script(
        "for (const name of ['mousedown', 'pointerdown', 'touchstart'])"
        " addEventListener(name, () => console.error(`the mouse was used: ${name}`), true);"
    )


def assignment_on(page):
    return page.locator("[data-assignment]").get_attribute("data-assignment")


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def moves_on(page, before: str):
    """The place that follows; it comes without a page load, with the focus on its heading."""
    page.wait_for_function(
        "before => { const at = document.querySelector('[data-assignment]');"
        " return at && at.dataset.assignment !== before"
        " && document.activeElement.id === 'review-item'; }",
        arg=before,
    )
    return assignment_on(page)


def said_by(user) -> list[tuple[str, str, str]]:
    rows = HumanEvaluation.objects.filter(annotator=user).order_by("pk")
    return list(rows.values_list("kind", "option", "justification"))


@pytest.mark.journey
def test_a_queue_by_keys_alone_with_undo_skip_and_a_crash(page, ann, no_mouse):
    queue = filled(21)
    page.goto("/admin/")
    tab = page.context.new_page()
    tab.goto(work(queue))
    tab.evaluate("window.wasHere = true")
    at = assignment_on(tab)

    for n in range(10):
        if n % 5 == 0:
            press(tab, "2")
            tab.keyboard.type(f"Wrong, and this is sentence {n}.")
            press(tab, "Control+Enter")
        else:
            press(tab, "1", "Enter")
        at = moves_on(tab, at)
    assert tab.evaluate("window.wasHere")
    assert HumanEvaluation.objects.filter(annotator=ann).count() == 10

    # Undo: the last verdict is in the form again, and is changed.
    press(tab, "u")
    undone = moves_on(tab, at)
    assert tab.locator("#review-form [data-place='1']").is_checked()
    press(tab, "2")
    tab.keyboard.type("On second thoughts no.")
    press(tab, "Control+Enter")
    at = moves_on(tab, undone)
    kinds = [kind for kind, _, _ in said_by(ann)]
    assert (kinds.count("evaluation"), kinds.count("withdrawal")) == (11, 1)

    # Skip, with a ready reason.
    press(tab, "s", "3")
    skipped, at = at, moves_on(tab, at)
    assert Skip.objects.get().reason == "It cannot be decided"

    # The tab dies while a reason is typed; another one has it again.
    press(tab, "2")
    tab.keyboard.type("Half a sentence that must not be l")
    tab.get_by_text("draft saved").wait_for()
    died_at = at
    crash(tab)
    tab = page.context.new_page()
    tab.goto(work(queue))
    assert assignment_on(tab) == died_at
    assert tab.input_value("[name=justification]") == "Half a sentence that must not be l"
    assert tab.locator("#review-form [data-place='2']").is_checked()
    press(tab, "Control+Enter")
    at = moves_on(tab, died_at)

    for _ in range(9):
        press(tab, "1", "Enter")
        at = moves_on(tab, at)

    tab.get_by_role("heading", name="No items left for you").wait_for()
    mine = queue.assignments.filter(annotator=ann, state=AssignmentState.SUBMITTED)
    assert mine.count() == 20
    assert queue.assignments.get(state=AssignmentState.OPEN).pk == int(skipped)
    assert tab.get_by_text("20 of 21 reviewed").count() == 1


def crash(page) -> None:
    """The process of the tab dies, without a word to the page."""
    with page.expect_event("crash"), suppress(Error):
        page.goto("chrome://crash")


@contextmanager
def another(page, live_server, faults, user):
    """A second person's browser."""
    context = page.context.browser.new_context(
        base_url=live_server.url, reduced_motion="reduce", viewport={"width": 1280, "height": 800}
    )
    watch(context, live_server.url, faults)
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": live_server.url}]
    )
    yield context.new_page()
    context.close()


def test_two_at_once_are_never_given_the_same_item(page, ann, live_server, faults):
    queue = filled(12)
    bob = make_user("annotator", username="bob")
    with another(page, live_server, faults, bob) as other:
        seen: dict[str, list[str]] = {"ann": [], "bob": []}
        page.goto(work(queue))
        other.goto(work(queue))
        for n in range(6):
            for name, tab in (("ann", page), ("bob", other)):
                seen[name].append(assignment_on(tab))
            assert not set(seen["ann"]) & set(seen["bob"])
            press(page, "1", "Enter")
            if n % 2:  # every other time the one waits for the other
                moves_on(page, seen["ann"][-1])
            press(other, "1", "Enter")
            moves_on(page, seen["ann"][-1])
            moves_on(other, seen["bob"][-1])

    rows = queue.assignments.values_list("annotator__username", "pk")
    assert {(name, str(pk)) for name, pk in rows} == {
        (name, pk) for name, pks in seen.items() for pk in pks
    }
    assert HumanEvaluation.objects.count() == 12


def test_a_blind_item_hides_the_judges_and_tells_them_after(page, ann, no_mouse):
    run = judged([1.0, 1.0, 0.0], [1.0, 1.0, 0.0])
    queue = make_queue(blind="all")
    put(queue, *run.results.order_by("pk"))
    page.goto(work(queue))
    at = assignment_on(page)
    before = page.content()
    names = [judge["name"] for judge in run.judge_runs.get().jury["judges"]]
    assert [word for word in [*names, "2 of 3 pass", run.model_name] if word in before] == []

    press(page, "2", "Enter")
    moves_on(page, at)

    assert (
        "Your verdict: fails (0). Judges: 2 of 3 pass."
        in page.locator("[data-notified]").inner_text()
    )
    assert "2 of 3 pass" in page.locator("#review-status").text_content()


def test_a_rubric_is_judged_by_keys_and_leads_from_criterion_to_criterion(page, ann, no_mouse):
    points = [{"text": "Is polite."}, {"text": "Is short."}, {"text": "Is true."}]
    run = rubric_run(points, {point["text"]: [1] for point in points})
    queue = make_queue(scope="criteria")
    put(queue, first_result(run))
    page.goto(work(queue))

    press(page, "1", "1")  # the first, and by itself on to the second
    press(page, "5")
    page.keyboard.type("It is made up.")
    press(page, "Escape", "ArrowUp", "ArrowUp", "ArrowDown", "Control+Enter")
    page.get_by_role("heading", name="Queue complete").wait_for()

    assert said_by(ann) == [
        ("evaluation", "FULLY_MET", ""),
        ("evaluation", "FULLY_MET", ""),
        ("evaluation", "UNMET", "It is made up."),
    ]


@pytest.mark.journey
def test_reason_typed_after_a_verdict_is_no_command(page, ann, no_mouse):
    queue = filled(3, blind="all")
    page.goto(work(queue))
    at = assignment_on(page)
    press(page, "1", "Enter")
    at = moves_on(page, at)

    press(page, "1", "2")  # in the empty reason a digit chooses again
    page.keyboard.type("unclear, not 2.")
    press(page, "Enter")
    at = moves_on(page, at)
    press(page, "2", "Escape")
    page.keyboard.type("skunjade")
    assert assignment_on(page) == at
    assert not page.locator("#review-skip[open]").count()
    press(page, "2")  # taken back
    assert page.locator("#review-form :checked").count() == 0
    press(page, "2", "Enter")
    page.get_by_role("heading", name="Queue complete").wait_for()

    assert [verdict[1:] for verdict in said_by(ann)] == [
        ("1", ""),
        ("0", "unclear, not 2."),
        ("0", ""),
    ]


def test_problem_is_shown_at_its_field(page, ann, no_mouse):
    queue = filled(2)
    page.goto(work(queue))
    at = assignment_on(page)

    press(page, "2", "Escape", "Enter")

    page.get_by_text("Enter a reason for overriding the judges.").wait_for()
    assert page.evaluate("document.activeElement.name") == "justification"
    page.keyboard.type("It is wrong.")
    press(page, "Control+Enter")
    moves_on(page, at)


def test_input_survives_a_server_outage_and_a_logout(page, ann, faults):
    queue = filled(3)
    page.goto(work(queue))
    at = assignment_on(page)
    page.context.set_offline(True)
    press(page, "2")
    page.keyboard.type("Said while offline.")
    page.get_by_text("Cannot reach the server").wait_for()
    press(page, "Control+Enter")
    page.context.set_offline(False)
    at = moves_on(page, at)
    assert ("evaluation", "0", "Said while offline.") in said_by(ann)
    faults.clear()  # the browser says itself that it is offline

    kept = page.context.cookies()
    page.context.clear_cookies()
    press(page, "2")
    page.keyboard.type("Said while logged out.")
    press(page, "Control+Enter")
    page.get_by_text("You are logged out").wait_for()
    assert page.input_value("[name=justification]") == "Said while logged out."
    page.context.add_cookies(kept)
    moves_on(page, at)
    assert ("evaluation", "0", "Said while logged out.") in said_by(ann)
    faults.clear()


def test_lost_item_shows_a_warning_and_keeps_the_input(page, ann):
    queue = filled(2)
    page.goto(work(queue))
    assignment = Assignment.objects.get(pk=assignment_on(page))
    expire(assignment)
    take(queue, by=make_user("annotator"))

    press(page, "n")
    page.keyboard.type("Typed too late.")

    page.get_by_text("Your reservation expired").wait_for()
    assert page.input_value("[name=note]") == "Typed too late."
    page.get_by_role("button", name="Next item").press("Enter")
    moves_on(page, str(assignment.pk))


def test_everybody_can_read_and_work_the_page(page, ann):
    points = [{"text": "Is polite."}, {"text": "Is short."}]
    queue = make_queue(blind="none", instructions="Look closely.")
    run = rubric_run(points, {"Is polite.": [1], "Is short.": [0]})
    put(queue, first_result(run), *judged([1.0, 0.0]).results.all())
    page.goto(work(queue))
    press(page, "d", "s", "Escape", "c", "5")
    assert violations(page) == []

    press(page, "Escape", "?")
    assert violations(page) == []
    press(page, "?")
    for scheme in ("light", "dark"):
        show(page, width=390, scheme=scheme)
        assert overflow_px(page) == 0, scheme


# The keys that are printed -----------------------------------------------------------------------

SNAPSHOT = """() => JSON.stringify([
    document.querySelector('[data-assignment]')?.dataset,
    [...document.querySelectorAll('#review input:checked')].map((each) => each.name + each.value),
    [...document.querySelectorAll('#review details')].map((each) => each.open),
    [...document.querySelectorAll('#review [data-raw]')].map((each) => each.hidden),
    document.getElementById('keys').open,
    document.activeElement.id + document.activeElement.name + document.activeElement.dataset.point,
    document.querySelector('[data-notified]')?.innerText,
])"""

FIRST = {
    "Enter": ("1",),
    "Ctrl Enter": ("1",),
    "j": ("k",),
    "→": ("k",),
    "Esc": ("n",),
    "C": ("c", "c"),
    "↓": ("c",),
    "↑": ("c", "c"),
}
"""What is pressed before a key, so that there is something for it to do."""


def test_every_key_that_is_printed_does_something(page, ann):
    template = make_template(scale=NINE)
    points = [{"text": "Is polite."}, {"text": "Is short."}]
    tests = [make_test(template=template, criteria=points) for _ in range(2)]
    votes = {"Is polite.": [1], "Is short.": [1]}
    queue = make_queue(scope="either")
    put(queue, *rubric_run(points, votes, tests=tests).results.order_by("pk"))
    page.goto(work(queue))
    at = assignment_on(page)
    press(page, "1", "Enter")
    second = moves_on(page, at)
    printed = set(page.locator("#review kbd").all_text_contents())
    assert printed >= {"1", "9", "Enter", "u", "s", "?", "e", "d", "n", "c", "C", "k", "j"}

    for key in sorted(printed):
        page.goto(f"{work(queue)}?assignment={second}")
        press(page, *FIRST.get(key, ()))
        page.wait_for_timeout(500 if FIRST.get(key) == ("k",) else 20)
        before = page.evaluate(SNAPSHOT)
        press(page, KEYS.get(key, key))
        page.wait_for_function(f"before => ({SNAPSHOT})() !== before", arg=before)
        restore(queue, second)


def test_every_key_that_is_handled_is_printed():
    scripts = settings.BASE_DIR / "evalhub/static/evalhub"
    blocks = [
        (scripts / name).read_text().partition(f"const {table} = {{")[2].partition("};")[0]
        for name, table in (("verdict.js", "common"), ("review.js", "commands"))
    ]
    handled = re.findall(r'^ +"?(\w+)"?[:,] ?', "".join(blocks), re.MULTILINE)
    names = {"ArrowUp": "↑", "ArrowDown": "↓", "Escape": "Esc"}
    dialog = (settings.BASE_DIR / "templates/runs/reading/keys.html").read_text()
    printed = set(re.findall(r"<kbd[^>]*>(.+?)</kbd>", dialog))

    assert len(handled) > 10
    assert {names.get(key, key) for key in handled} <= printed


def restore(queue: Queue, second: str) -> None:
    """The first item is done, the second is at hand, and nothing is typed."""
    assignment = Assignment.objects.get(pk=second)
    if assignment.state == AssignmentState.SUBMITTED:
        reopen(assignment, by=assignment.annotator)
    Assignment.objects.filter(pk=second).update(draft={})
    first = queue.assignments.exclude(pk=second).get()
    if first.state == AssignmentState.RESERVED:
        review(first, "grade 9", "Again.")
    reviewer = assignment.annotator or first.annotator  # undo gave back what was left untouched
    assert reviewer is not None
    take(queue, by=reviewer)
