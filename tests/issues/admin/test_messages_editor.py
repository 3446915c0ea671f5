"""The editor of a conversation, in a real browser."""

import pytest

from issues.models import Test
from tests.factories import make_test, make_user
from tests.issues.pages import url

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def editor(page, log_in):
    """The page of a new test whose sibling is ready, with one question typed."""
    sibling = make_test()
    log_in(make_user("annotator"))
    page.goto(url("test_add") + f"?issue={sibling.issue_id}")
    page.fill("[name=system_prompt]", "Be kind.")
    page.fill("[name=prompt]", "Hello?")
    return page


def save(page):
    with page.expect_navigation():
        page.click("[name=_save]")
    return Test.objects.latest("pk").messages


def test_one_question_needs_no_turns(editor):
    assert not editor.is_visible("text=Add turn")
    assert save(editor) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello?"},
    ]


def test_a_conversation_goes_on_from_the_question(editor):
    editor.check("[name=kind][value=turns]")
    editor.click("text=Add turn")
    editor.click("text=Add turn")
    editor.get_by_label("Text of turn 4").fill("And now?")

    assert save(editor) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hello?"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "And now?"},
    ]


def test_a_raw_prompt_is_one_text(editor):
    editor.check("[name=kind][value=raw]")
    assert editor.is_visible("[name=system_prompt]"), "a text that would be refused is not hidden"
    editor.fill("[name=system_prompt]", "")
    editor.check("[name=kind][value=turns]")
    editor.check("[name=kind][value=raw]")
    assert not editor.is_visible("[name=system_prompt]")
    assert not editor.is_visible("text=Add turn")
    editor.fill("[name=prompt]", "<|user|>\nHello?")

    assert save(editor) == [{"role": "raw_prompt", "content": "<|user|>\nHello?"}]


def test_turns_are_moved_removed_and_given_another_role(editor):
    editor.check("[name=kind][value=turns]")
    editor.click("text=Add turn")
    editor.get_by_label("Generate this turn").nth(2).uncheck()
    editor.get_by_label("Text of turn 3").fill("Hello!")
    editor.get_by_label("Remove turn 1").click()
    editor.get_by_label("Move turn 2 up").click()
    editor.get_by_label("Role of turn 1").select_option("system")

    assert save(editor) == [
        {"role": "system", "content": "Hello!"},
        {"role": "user", "content": "Hello?"},
    ]


def test_what_the_editor_does_not_know_survives_it(page, log_in):
    call = {"id": "1", "function": {"name": "add", "arguments": "{}"}}
    turns = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "4", "tool_call_id": "1"},
        {"role": "user", "content": "So?"},
    ]
    test = make_test(messages=turns)
    log_in(make_user("annotator"))
    page.goto(url("test_change", test.pk))

    page.get_by_label("Text of turn 4").fill("So what is it?")
    save(page)

    test.refresh_from_db()
    assert test.messages == [*turns[:3], {"role": "user", "content": "So what is it?"}]
