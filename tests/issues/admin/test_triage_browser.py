"""A session of triage by keyboard alone: each act once, an undo, and a second person."""

import pytest

from issues.models import Feedback, FeedbackState, Issue, Test
from issues.triage.actions import set_state
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import make_feedback

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COMPLAINTS = (
    "The currency sum was rounded much too early.",
    "It rounds currency amounts before adding them up.",
    "Nothing but spam in this one.",
    "The capital of Australia is not Sydney.",
    "A second time: the capital of Australia is not Sydney.",
    "It answers in English when I write in German.",
    "The recipe forgets to scale the salt.",
    "It made up a paper that does not exist.",
    "It miscounts the letters of a word.",
    "Left and right are swapped in the directions.",
    "It refuses a harmless question on medicines.",
    "This is for a second person.",
)


def plant():
    """Twelve pieces of feedback, the first of them on top, and an issue with a test."""
    issue = make_issue(title="Rounds currency amounts too early", tags=("Money",))
    make_test(issue=issue, guidelines="Every cent counts.")
    rows = [make_feedback(comment=text, prompt="**Why?**") for text in reversed(COMPLAINTS)]
    return issue, list(reversed(rows))


def at(page, row):
    """Wait until this one is shown."""
    page.locator("[data-heading]", has_text=f"Feedback {row.pk}").wait_for()


def state(row):
    row.refresh_from_db()
    return row.state


@pytest.mark.journey
def test_a_session_by_keyboard_alone(page, log_in, faults):
    ann, ben = make_user("annotator", username="ann"), make_user("annotator", username="ben")
    issue, rows = plant()
    log_in(ann)
    page.goto("/admin/issues/feedback/inbox/")
    at(page, rows[0])
    loads = []
    page.on("load", lambda _: loads.append(page.url))
    press = page.keyboard.press

    press("?")
    page.locator("#keys").wait_for()
    press("?")
    press("j")
    at(page, rows[1])
    press("ArrowLeft")
    at(page, rows[0])
    press("e")
    assert page.locator("pre[data-raw]").first.is_visible()

    press("t")
    press("1")  # the currency issue
    at(page, rows[1])
    press("n")
    press("1")
    at(page, rows[2])
    press("r")
    page.keyboard.type("jam, x and a are letters here")
    press("Control+Enter")
    at(page, rows[3])
    press("a")
    at(page, rows[4])
    press("m")
    press("1")
    at(page, rows[5])
    press("i")
    at(page, rows[6])
    press("n")
    press("n")
    at(page, rows[7])
    press("/")
    page.keyboard.type("currency")
    page.get_by_text("1 issues found.").wait_for()
    press("Enter")
    press("1")
    at(page, rows[8])
    press("u")
    at(page, rows[7])
    press("x")
    at(page, rows[8])
    press("j")
    at(page, rows[9])
    press("k")
    at(page, rows[8])
    press("x")
    at(page, rows[9])

    set_state([Feedback.objects.get(pk=rows[9].pk)], FeedbackState.ACCEPTED, by=ben)
    press("x")
    page.get_by_text("ben changed this").wait_for()
    assert state(rows[9]) == "accepted"

    assert [state(row) for row in rows[:9]] == [
        *("accepted", "accepted", "dismissed", "accepted", "duplicate"),
        *("accepted", "accepted", "dismissed", "dismissed"),
    ]
    assert rows[0].issue == rows[1].issue == issue
    assert rows[2].note == "jam, x and a are letters here"
    assert rows[4].duplicate_of == rows[3]
    assert Issue.objects.filter(title=COMPLAINTS[5]).exists()
    assert Test.objects.get(issue__title=COMPLAINTS[6]).messages[0]["content"] == "**Why?**"
    assert Test.objects.get(issue=issue, origin="feedback").guidelines == "Every cent counts."
    assert rows[7].issue is None
    assert loads == []


def test_nothing_is_lost_offline_or_logged_out(page, log_in, faults):
    log_in(make_user("annotator"))
    _, rows = plant()
    page.goto("/admin/issues/feedback/inbox/")
    at(page, rows[0])
    press = page.keyboard.press

    page.context.set_offline(True)
    press("x")
    page.get_by_text("Cannot reach the server").wait_for()
    page.context.set_offline(False)
    at(page, rows[1])

    kept = page.context.cookies()
    page.context.clear_cookies()
    press("r")
    page.keyboard.type("Said while logged out.")
    press("Control+Enter")
    trouble = page.locator("#inbox-trouble")
    trouble.get_by_text("You are logged out").wait_for()
    with page.context.expect_page() as opened:
        trouble.get_by_role("link", name="Log in in another tab").click()
    opened.value.get_by_role("button", name="Log in").wait_for()
    opened.value.close()
    assert page.input_value("[data-note]") == "Said while logged out."
    page.context.add_cookies(kept)
    at(page, rows[2])

    assert (state(rows[0]), state(rows[1])) == ("dismissed", "dismissed")
    assert rows[1].note == "Said while logged out."
    assert trouble.is_hidden()
    faults.clear()  # the browser says itself that it is offline


def test_what_is_alike_is_told_while_one_types(page, log_in):
    log_in(make_user("annotator"))
    issue, _ = plant()
    page.goto("/admin/issues/feedback/add/")
    page.get_by_label("Comment").fill("Currency amounts are rounded too early.")

    page.get_by_role("button", name=f"Evidence of the issue {issue.title}").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/issues/feedback/")

    assert Feedback.objects.get(comment="Currency amounts are rounded too early.").issue == issue


def test_without_a_script_the_next_one_is_a_page(page, log_in, live_server):
    log_in(make_user("annotator"))
    _, rows = plant()
    context = page.context.browser.new_context(java_script_enabled=False, base_url=live_server.url)
    context.add_cookies(page.context.cookies())
    plain = context.new_page()
    plain.goto("/admin/issues/feedback/inbox/")

    plain.get_by_role("button", name="Dismiss").click()

    assert plain.get_by_role("heading", name=f"Feedback {rows[1].pk}").is_visible()
    assert state(rows[0]) == "dismissed"
    context.close()
