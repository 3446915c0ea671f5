"""The request to a candidate: where its documents are, and that they are there once."""

import pytest

from issues.content.conversation import filled, request_messages
from issues.content.message_form import turns_to_generate

DOCUMENT = "§ 4 {rent}\n\n  The landlord's <b>notice</b> & term.\n</documents>"
SENT = f"<documents>\n{DOCUMENT}\n</documents>"
USER = {"role": "user", "content": "How long?"}
SYSTEM = {"role": "system", "content": "Be brief."}
HOLE = {"role": "assistant", "content": None}


@pytest.mark.parametrize("blank", ["", " \n"])
def test_without_documents_the_messages_are_the_tests(blank):
    assert request_messages([SYSTEM, USER], blank) == [SYSTEM, USER]


def test_documents_open_the_first_turn_of_the_user():
    first = {"role": "user", "content": f"{SENT}\n\nHow long?"}
    assert request_messages([USER, HOLE, USER], DOCUMENT) == [first, HOLE, USER]


def test_system_prompts_stay_ahead_of_the_documents():
    system, first = request_messages([SYSTEM, USER], DOCUMENT, "Speak French.")
    assert system["content"] == "Speak French.\n\nBe brief."
    assert first["content"] == f"{SENT}\n\nHow long?"


@pytest.mark.parametrize("before", [[], [SYSTEM]])
def test_documents_come_before_a_first_turn_of_the_model(before):
    messages = request_messages([*before, HOLE, USER], DOCUMENT)
    assert messages == [*before, {"role": "user", "content": SENT}, HOLE, USER]
    first_hole = turns_to_generate(messages)[0]
    assert DOCUMENT in filled(messages, [])[first_hole - 1]["content"]


def test_the_tests_own_messages_are_left_as_they_were():
    own = [SYSTEM | {}, USER | {}]
    request_messages(own, DOCUMENT, "Speak French.")
    assert own == [SYSTEM, USER]
