"""Weval's functions as our checks: each of the 43, their aliases, and the way back."""

from typing import Any

import pytest

from runs.importers.weval.blueprint.functions import (
    Call,
    WrongArgument,
    read_function,
    write_function,
)

TEXTS = ["a", "b"]
IGNORE, NEGATE = {"ignore_case": True}, {"negate": True}
FUNCTIONS: list[tuple[str, Any, str, dict[str, Any]]] = [
    ("contains", "x", "contains", {"text": "x"}),
    ("icontains", "x", "contains", {"text": "x", **IGNORE}),
    ("contains_any_of", TEXTS, "contains_any", {"texts": TEXTS}),
    ("icontains_any_of", TEXTS, "contains_any", {"texts": TEXTS, **IGNORE}),
    ("contains_all_of", TEXTS, "contains_all", {"texts": TEXTS}),
    ("icontains_all_of", TEXTS, "contains_all", {"texts": TEXTS, **IGNORE}),
    ("contains_at_least_n_of", [1, TEXTS], "contains_at_least", {"texts": TEXTS, "least": 1}),
    (
        "icontains_at_least_n_of",
        [1, TEXTS],
        "contains_at_least",
        {"texts": TEXTS, "least": 1, **IGNORE},
    ),
    ("matches", "^x$", "matches", {"pattern": "^x$"}),
    ("imatches", "^x$", "matches", {"pattern": "^x$", **IGNORE}),
    ("matches_all_of", TEXTS, "matches_all", {"patterns": TEXTS}),
    ("imatch_all_of", TEXTS, "matches_all", {"patterns": TEXTS, **IGNORE}),
    ("matches_at_least_n_of", [2, TEXTS], "matches_at_least", {"patterns": TEXTS, "least": 2}),
    (
        "imatch_at_least_n_of",
        [2, TEXTS],
        "matches_at_least",
        {"patterns": TEXTS, "least": 2, **IGNORE},
    ),
    ("starts_with", "x", "starts_with", {"text": "x"}),
    ("istarts_with", "x", "starts_with", {"text": "x", **IGNORE}),
    ("ends_with", "x", "ends_with", {"text": "x"}),
    ("iends_with", "x", "ends_with", {"text": "x", **IGNORE}),
    ("contains_word", "x", "contains_word", {"text": "x"}),
    ("icontains_word", "x", "contains_word", {"text": "x", **IGNORE}),
    ("word_count_between", [5, 15], "word_count", {"least": 5, "most": 15}),
    ("is_json", None, "is_json", {}),
    ("js", "r.length > 3", "js", {"source": "r.length > 3"}),
    ("call", {"service": "s"}, "call", {"source": {"service": "s"}}),
    ("factcheck", "claim", "factcheck", {"source": "claim"}),
    ("tool_called", "search", "tool_called", {"tool": "search"}),
    (
        "tool_args_match",
        {"name": "search", "where": {"q": "x"}, "normalizeWhitespace": True},
        "tool_arguments",
        {"tool": "search", "where": {"q": "x"}, "normalize_whitespace": True},
    ),
    ("tool_call_count_between", [1, 2], "tool_call_count", {"least": 1, "most": 2}),
    ("tool_call_order", TEXTS, "tool_call_order", {"tools": TEXTS}),
]
NEGATED = "contains contains_any_of contains_all_of matches starts_with ends_with contains_word"
FUNCTIONS += [
    (f"not_{name}", argument, check, {**arguments, **NEGATE})
    for name, argument, check, arguments in FUNCTIONS
    if name.removeprefix("i") in NEGATED.split()
]


def test_all_functions_are_here():
    assert len({name for name, *_ in FUNCTIONS}) == 43


@pytest.mark.parametrize(("name", "argument", "check", "arguments"), FUNCTIONS)
def test_each_function_is_one_of_our_checks_and_written_as_it_was(name, argument, check, arguments):
    assert read_function(name, argument) == Call(check, arguments)
    assert write_function(Call(check, arguments)) == (name, argument)


@pytest.mark.parametrize(
    ("alias", "name", "argument"),
    [
        ("contain", "contains", "x"),
        ("icontain", "icontains", "x"),
        ("contain_any_of", "contains_any_of", TEXTS),
        ("match", "matches", "x"),
        ("imatch", "imatches", "x"),
        ("match_all_of", "matches_all_of", TEXTS),
        ("imatches_all_of", "imatch_all_of", TEXTS),
        ("not_match", "not_matches", "x"),
        ("not_icontain_word", "not_icontains_word", "x"),
        ("expr", "js", "r"),
        ("external", "call", {"url": "u"}),
    ],
)
def test_an_alias_means_what_its_function_means(alias, name, argument):
    assert read_function(alias, argument) == read_function(name, argument)


@pytest.mark.parametrize(
    ("name", "argument", "arguments"),
    [
        ("contains", "", {"text": ""}),
        ("contains_at_least_n_of", [0, []], {"texts": [], "least": 0}),
        ("word_count_between", [0, 0], {"least": 0, "most": 0}),
        ("tool_call_count_between", [0, 0, "search"], {"least": 0, "most": 0, "tool": "search"}),
    ],
)
def test_an_argument_that_is_nothing_or_zero_is_kept(name, argument, arguments):
    assert read_function(name, argument).arguments == arguments


@pytest.mark.parametrize("name", ["not_is_json", "contains_none_of", "is-json", "", "start_with"])
def test_what_is_no_function_is_none(name):
    assert read_function(name, "x") is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("contains", True),
        ("matches_all_of", [1]),
        ("matches_at_least_n_of", ["2", TEXTS]),
        ("word_count_between", [True, 3]),
        ("tool_args_match", {"where": {}}),
        ("tool_args_match", {"name": "a", "where": [1]}),
        ("tool_args_match", {"name": "a", "when": {}}),
        ("evalhub", {"check": 5}),
    ],
)
def test_an_argument_of_another_kind_is_refused(name, argument):
    with pytest.raises(WrongArgument, match="expected"):
        read_function(name, argument)


def test_a_condition_in_javascript_is_kept_as_one_that_cannot_run():
    argument = {"name": "search", "where": "args.q.length > 3"}
    call = read_function("tool_args_match", argument)
    assert call.check == "js"
    assert write_function(call) == ("tool_args_match", argument)


@pytest.mark.parametrize(
    "call",
    [
        Call("json_schema", {"schema": {"type": "object"}}),
        Call("is_json", {"negate": True}),
        Call("contains", {"text": "x", "ignore_case": False}),
        Call("word_count", {"least": 3}),
        Call("tool_arguments", {"tool": "a", "where": {}, "negate": True}),
    ],
)
def test_a_check_that_weval_lacks_is_written_so_that_it_reads_back(call):
    name, argument = write_function(call)
    assert name == "evalhub"
    assert read_function(name, argument) == call
