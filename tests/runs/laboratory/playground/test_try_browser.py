"""“Try it” on the form of a test, in a real browser, with a scripted model and judge."""

import re

import pytest

from evalhub.models import Call, Exposure
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import Test as Sample
from tests.axe import violations
from tests.browser import HEIGHTS, overflow_px, show
from tests.factories import make_issue, make_jury, make_template, make_test, make_user
from tests.issues.pages import url
from tests.provider import SERVER_ERROR, Reply, prompt, verdict

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WRONG = "Books carry nineteen percent."
RIGHT = "Books carry seven percent."


class Script:
    """A model that answers wrongly, drafts rightly, and judges by the word seven."""

    def __init__(self):
        self.instead = None

    def __call__(self, request):
        text = prompt(request)
        if '"score"' in text:
            block = text.split("[BEGIN OUTPUT", 1)[-1].split("[END OUTPUT", 1)[0]
            return verdict(int("seven" in block), "Compared with the law.")
        if self.instead:
            return self.instead
        return Reply(RIGHT if text.startswith("Write the reference") else WRONG)


@pytest.fixture
def script(provider):
    provider.script = Script()
    return provider.script


@pytest.fixture
def editor(page, log_in, model_at, script):
    load_builtin_templates()
    issue, template = make_issue(), make_template(title="Correct?")
    make_test("VAT on maps?", issue=issue, template=template, reference=RIGHT, flagged_answer=WRONG)
    make_jury(model_at(name="Ada"), name="Two eyes")
    log_in(make_user("annotator"))
    page.goto(f"{url('test_add')}?issue={issue.pk}")
    page.fill("[name=prompt]", "VAT on books?")
    see_pane(page)
    return page


def see_pane(page):
    """Come to the pane, whose form is asked for then."""
    page.locator("[data-try]").scroll_into_view_if_needed()
    page.locator("[data-try-form]").wait_for()


def status(page, words):
    page.wait_for_selector(f"[data-try-said]:has-text('{words}')")


def test_a_test_is_tried_while_it_is_written(editor, script):
    editor.get_by_role("button", name="Ask", exact=True).click()
    status(editor, "The reply is complete. 1 call")
    assert editor.locator("[data-try-reply] pre").inner_text() == WRONG
    editor.get_by_role("button", name="Use as flagged answer").click()
    assert editor.locator("[name=flagged_answer]").input_value() == WRONG

    editor.get_by_role("button", name="Draft a reference").click()
    status(editor, "counts as written by a model")
    by = editor.locator("[name=reference_by]")
    assert editor.locator("[name=reference]").input_value() == RIGHT
    assert by.input_value() == "model"

    editor.check("[name=try-answers][value=siblings]")
    editor.get_by_role("button", name="Judge", exact=True).click()
    status(editor, "As expected: 4 of 4 flagged or reference answers scored.")
    judged = editor.locator("[data-try-judged] article")
    assert judged.count() == 5
    assert "fails" in judged.first.inner_text()
    assert "Compared with the law." in judged.first.inner_text()
    assert "VAT on maps?" in judged.nth(3).inner_text()

    with editor.expect_navigation():
        editor.click("[name=_save]")
    test = Sample.objects.latest("pk")
    assert (test.flagged_answer, test.reference, test.reference_by) == (WRONG, RIGHT, "model")
    editor.goto(url("test_change", test.pk))
    note = editor.get_by_text("Written by a model, and nobody has taken it yet")
    assert note.is_visible()
    assert editor.locator("[data-try-form]").count() == 0
    assert editor.get_by_text("reference by a model").is_visible()
    editor.locator("[name=reference]").press("End")
    editor.keyboard.type(" Always.")
    assert (by.input_value(), note.is_visible()) == ("human", False)


def test_the_pane_is_reached_by_keys_before_it_was_seen(page, log_in, model_at):
    model_at(name="Ada")
    log_in(make_user("annotator"))
    page.goto(url("test_add"))
    place = page.locator("[data-try] [role=status]")
    place.focus()
    page.locator("[data-try-form]").wait_for()
    page.wait_for_function("document.activeElement.name === 'try-model'")
    assert violations(page) == []


def test_a_pane_that_cannot_be_read_says_so_and_is_read_again(page, log_in, model_at, faults):
    model_at(name="Ada")
    log_in(make_user("annotator"))
    page.route("**/try/pane/", lambda route: route.abort())
    page.goto(url("test_add"))
    page.locator("[data-try]").scroll_into_view_if_needed()
    failure = page.get_by_role("alert").filter(has_text="The models could not be loaded.")
    failure.wait_for()
    page.unroute("**/try/pane/")
    faults.clear()
    failure.get_by_role("button", name="Try again").click()
    page.locator("[data-try-form]").wait_for()
    assert failure.is_hidden()


def test_a_draft_of_a_model_is_taken_where_it_is_marked(page, log_in):
    log_in(make_user("annotator"))
    test = make_test(reference=RIGHT, reference_by="model")
    page.goto(url("test_change", test.pk))
    page.get_by_role("button", name="Take as mine").click()
    assert page.get_by_text("The reference counts as yours now").is_visible()
    with page.expect_navigation():
        page.click("[name=_save]")
    test.refresh_from_db()
    assert test.reference_by == "human"


def test_a_reply_is_stopped_by_escape_and_asked_again(editor, script):
    script.instead = Reply("Books carry nineteen", pause_s=0.05, hang_after=2)
    ask = editor.locator("[data-try-act=ask]")
    ask.focus()
    editor.keyboard.press("Enter")
    editor.wait_for_selector("[data-try-reply] pre:has-text('Books carry')")
    editor.keyboard.press("Escape")
    status(editor, "Stopped.")
    assert ask.evaluate("button => button === document.activeElement")
    for _ in range(100):
        if Call.objects.filter(error_kind="cancelled").exists():
            break
        editor.wait_for_timeout(100)
    assert Call.objects.filter(error_kind="cancelled").exists()

    script.instead = None
    editor.get_by_role("button", name="Try again").click()
    status(editor, "The reply is complete.")
    assert editor.locator("[data-try-reply] pre").inner_text() == WRONG


def test_a_change_of_the_form_is_undone_but_no_edit_is_lost(editor, script):
    editor.fill("[name=reference]", "Mine.")
    editor.locator("[data-try-act=draft]").click()
    status(editor, "counts as written by a model")
    editor.get_by_role("button", name="Undo").first.click()
    reference, by = editor.locator("[name=reference]"), editor.locator("[name=reference_by]")
    assert (reference.input_value(), by.input_value()) == ("Mine.", "human")

    editor.locator("[data-try-act=draft]").click()
    status(editor, "counts as written by a model")
    reference.press("End")
    editor.keyboard.type(" Edited.")
    editor.get_by_role("button", name="Undo").first.click()
    status(editor, "The field was edited since")
    assert (reference.input_value(), by.input_value()) == (f"{RIGHT} Edited.", "human")


def test_a_sealed_test_is_sent_outside_only_after_a_yes(editor, settings, provider):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    sealed = make_test(sealed=True)
    editor.goto(url("test_change", sealed.pk))
    see_pane(editor)
    editor.locator("[data-try-act=ask]").click()
    status(editor, "is sealed and would be sent to 127.0.0.1")
    assert provider.total == 0
    editor.get_by_role("button", name="Send it and log the exposure").click()
    status(editor, "The reply is complete.")
    assert Exposure.objects.get().test == sealed.pk


def test_failures_are_sentences_and_lose_nothing(editor, script, faults, monkeypatch):
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)
    script.instead = SERVER_ERROR
    ask = editor.locator("[data-try-act=ask]")
    ask.click()
    status(editor, "had an error")
    editor.context.clear_cookies()
    ask.click()
    status(editor, "You are logged out")
    editor.context.set_offline(True)
    ask.click()
    status(editor, "The server could not be reached. Nothing typed is lost")
    assert editor.locator("[name=prompt]").input_value() == "VAT on books?"
    faults.clear()


def test_a_browser_without_streams_shows_the_whole_reply(editor):
    editor.evaluate("Object.defineProperty(Response.prototype, 'body', { get: () => null })")
    editor.locator("[data-try-act=ask]").click()
    status(editor, "The reply is complete.")
    assert editor.locator("[data-try-reply] pre").inner_text() == WRONG


def test_the_pane_fits_and_is_accessible(editor):
    editor.locator("[data-try-act=ask]").click()
    status(editor, "The reply is complete.")
    editor.get_by_role("button", name="Judge", exact=True).click()
    editor.wait_for_selector("[data-try-judged] article")
    assert not [v for v in violations(editor) if re.search("try-", str(v))]
    for width in HEIGHTS:
        show(editor, width=width, scheme="dark")
        assert overflow_px(editor) == 0
