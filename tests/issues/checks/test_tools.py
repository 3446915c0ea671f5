import json

import pytest

from issues.checks import Material
from tests.issues.checks.outcomes import error_of, problem, score


def spelt(*calls):
    """The text of a model that says which tools it would call."""
    return "\n".join(
        f"TOOL_CALL {json.dumps({'name': name, 'arguments': arguments})}"
        for name, arguments in calls
    )


def called(*names):
    return spelt(*[(name, {}) for name in names])


def provided(name, arguments):
    """A call as a provider gives it: the arguments are JSON text."""
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_calls_that_the_text_spells_out_count():
    text = f"I will add.\n  {called('calculator')}  \nDone."
    assert score("tool_called", text, tool="calculator") == 1
    assert score("tool_called", text, tool="search") == 0
    assert score("tool_called", text, tool="search", negate=True) == 1


@pytest.mark.parametrize(
    "line",
    [
        "TOOL_CALL calculator",
        'TOOL_CALL {"name": "calculator"',
        'TOOL_CALL {"name": 5}',
        'TOOL_CALL ["calculator"]',
        'I say TOOL_CALL {"name": "calculator"}',
        "TOOL_CALL " + "[" * 100_000,
        "",
    ],
)
def test_other_lines_are_text(line):
    assert score("tool_called", line, tool="calculator") == 0


@pytest.mark.parametrize(
    "call",
    [
        provided("add", '{"a": 1}'),
        {"name": "add", "arguments": {"a": 1}},
        {"name": "add", "arguments": '{"a": 1}'},
    ],
)
def test_real_calls_count_in_either_form(call):
    material = Material("", tool_calls=[call])
    assert score("tool_called", material, tool="add") == 1
    assert score("tool_arguments", material, tool="add", where={"a": 1}) == 1


@pytest.mark.parametrize("call", [None, "add", {}, {"function": None}, {"name": None}, []])
def test_what_is_no_call_is_passed_over(call):
    assert score("tool_called", Material("", tool_calls=[call]), tool="add") == 0


def test_real_calls_come_before_those_in_the_text():
    material = Material(called("b"), tool_calls=[provided("a", "{}")])
    assert score("tool_call_order", material, tools=["a", "b"]) == 1
    assert score("tool_call_count", material, least=2, most=2) == 1


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ({}, 1),
        ({"id": "41"}, 1),
        ({"id": 41}, 0),
        ({"options": {"snippet": True}}, 1),
        ({"options": {"snippet": 1}}, 0),
        ({"options": {"k": 2.0}}, 1),
        ({"options": {"more": None}}, 0),
        ({"tags": ["a"]}, 1),
        ({"tags": ["b"]}, 0),
        ({"tags": ["a", "b", "c"]}, 0),
        ({"id": {"a": 1}}, 0),
    ],
)
def test_arguments_are_matched_in_depth_and_in_part(where, value):
    given = {"id": "41", "options": {"snippet": True, "k": 2}, "tags": ["a", "b"]}
    assert score("tool_arguments", spelt(("read", given)), tool="read", where=where) == value


def test_one_call_must_have_all_arguments():
    text = spelt(("add", {"a": 1, "b": 5}), ("add", {"a": 2, "b": 2}), ("sub", {"a": 1, "b": 2}))
    assert score("tool_arguments", text, tool="add", where={"a": 1, "b": 2}) == 0
    assert score("tool_arguments", text, tool="add", where={"a": 2, "b": 2}) == 1


def test_white_space_in_arguments_is_ignored_if_asked():
    text = spelt(("calc", {"expression": "(312 * 49) - 777"}))
    where = {"expression": "(312*49)-777"}
    assert score("tool_arguments", text, tool="calc", where=where) == 0
    assert score("tool_arguments", text, tool="calc", where=where, normalize_whitespace=True) == 1


def test_arguments_that_are_no_object_fit_nothing():
    assert score("tool_arguments", spelt(("add", "text")), tool="add", where={"a": 1}) == 0


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"least": 2, "most": 3}, 1),
        ({"least": 4, "most": 5}, 0),
        ({"least": 1, "most": 1, "tool": "a"}, 0),
        ({"least": 2, "most": 2, "tool": "a"}, 1),
        ({"most": 0, "tool": "c"}, 1),
    ],
)
def test_calls_are_counted(arguments, value):
    assert score("tool_call_count", called("a", "b", "a"), **arguments) == value


@pytest.mark.parametrize(
    ("tools", "value"),
    [(["a", "c"], 1), (["c", "a"], 0), (["b"], 1), (["a", "a"], 0), (["a", "b", "c", "d"], 0)],
)
def test_order_lets_others_come_between(tools, value):
    assert score("tool_call_order", called("a", "b", "c"), tools=tools) == value


def test_arguments_are_checked():
    assert "“tools”" in problem("tool_call_order", tools=[])
    assert "“where”" in problem("tool_arguments", tool="a", where="args.x > 1")
    assert "“tool”" in problem("tool_called", tool="")
    assert "less than" in error_of("tool_call_count", called("a"), least=2, most=1)
