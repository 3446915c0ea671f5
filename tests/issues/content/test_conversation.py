"""The messages of a test, and the turns in it that are to be generated."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as some

from evalhub.llm.completion import AnswerTurn
from issues.content.conversation import check_messages, filled
from issues.content.message_form import turns_to_generate

SYSTEM = {"role": "system", "content": "Be brief."}
ASK = {"role": "user", "content": "How many?"}
SAID = {"role": "assistant", "content": "Four."}
HOLE = {"role": "assistant", "content": None}
TOOL = {"role": "tool", "content": "4", "tool_call_id": "c1"}
ONE = AnswerTurn(text="One.")
CALLS = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]}


@pytest.mark.parametrize(
    ("messages", "holes"),
    [
        ([ASK], [1]),
        ([SYSTEM, ASK], [2]),
        ([ASK, SAID, ASK], [3]),
        ([ASK, HOLE, ASK], [1, 3]),
        ([ASK, HOLE], [1]),
        ([ASK, HOLE, ASK, HOLE], [1, 3]),
        ([ASK, CALLS, TOOL], [3]),
        ([ASK, SAID], []),
    ],
)
def test_model_is_asked_at_each_hole_and_at_an_open_end(messages, holes):
    assert turns_to_generate(messages) == holes


def test_conversation_ends_before_the_first_turn_that_is_missing():
    assert filled([ASK, HOLE, ASK], []) == [ASK]
    assert filled([ASK, HOLE, ASK], [ONE]) == [ASK, {**SAID, "content": "One."}, ASK]


def test_all_turns_filled_give_the_whole_conversation():
    assert filled([ASK, HOLE, ASK], [ONE, AnswerTurn(text="Two.")])[-1] == {
        **SAID,
        "content": "Two.",
    }


def test_filling_changes_nothing_of_the_test():
    messages = [dict(ASK), dict(HOLE)]
    filled(messages, [ONE])
    assert messages == [ASK, HOLE]


@given(some.lists(some.sampled_from([SYSTEM, ASK, SAID, HOLE, TOOL, CALLS]), min_size=1))
def test_what_is_asked_next_ends_where_the_next_turn_belongs(messages):
    holes = turns_to_generate(messages)
    for known in range(len(holes)):
        assert len(filled(messages, [ONE] * known)) == holes[known]


@pytest.mark.parametrize("messages", [None, [], {}, "Hi", 7])
def test_something_must_be_asked(messages):
    with pytest.raises(ValidationError, match="at least one message"):
        check_messages(messages)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("Hi", "expected an object"),
        ({"role": "robot", "content": "Hi"}, '"robot" is not one of'),
        ({"content": "Hi"}, "role null"),
        ({"role": "user", "content": "  "}, "needs some text"),
        ({"role": "user", "content": None}, "needs some text"),
        ({"role": "user", "content": ["Hi"]}, "part 1: expected a part of type text or image"),
    ],
)
def test_wrong_message_is_named_by_its_place(message, problem):
    with pytest.raises(ValidationError) as error:
        check_messages([ASK, message])
    (told,) = error.value.messages
    assert told.startswith("Message 2: ")
    assert problem in told


def test_all_wrong_messages_are_named_at_once():
    with pytest.raises(ValidationError) as error:
        check_messages([{"role": "x"}, ASK, {"role": "y"}])
    assert len(error.value.messages) == 2


def test_finished_conversation_leaves_nothing_to_answer():
    with pytest.raises(ValidationError, match="left to answer"):
        check_messages([ASK, SAID])


@pytest.mark.parametrize("calls", ["x", 5, {}, ["x"], [{"function": "f"}]], ids=str)
def test_tool_calls_of_another_form_are_refused(calls):
    with pytest.raises(ValidationError, match="Message 2: tool_calls must be a list"):
        check_messages([ASK, {**CALLS, "tool_calls": calls}, TOOL])
