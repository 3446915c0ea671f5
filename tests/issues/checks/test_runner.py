import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhub.values.storable import UNSTORABLE
from issues.checks import CHECKS, Material, problems_of, run, text_of
from issues.checks.time_limit import Deadline

NAMES = {
    *("contains", "contains_any", "contains_all", "contains_at_least", "contains_word"),
    *("starts_with", "ends_with", "equals"),
    *("matches", "matches_all", "matches_at_least", "captures"),
    *("word_count", "number_equals", "text_ratio"),
    *("is_json", "json_schema", "json_path_equals", "contains_code_block"),
    *("tool_called", "tool_arguments", "tool_call_count", "tool_call_order"),
    *("language", "latency_at_most", "cost_at_most"),
    *("js", "call", "factcheck"),
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
ARGUMENT_NAMES = sorted(
    {name for check in CHECKS.values() for name in check.arguments["properties"]}
)
SNIPPETS = st.sampled_from(
    ["a", "the lease", r"\d+", "(a+)+$", "$.a", "en", "python", "[", "{", ""]
)
ARGUMENTS = st.dictionaries(st.sampled_from(ARGUMENT_NAMES), JSON | SNIPPETS, max_size=4)
TEXTS = st.text(max_size=200) | st.sampled_from(
    ['{"a": 1}', "```json\n[1]\n```", 'TOOL_CALL {"name": "add", "arguments": {}}', "a" * 500 + "b"]
)

GOOD: dict[str, dict[str, Any]] = {
    "contains": {"text": "a"},
    "contains_any": {"texts": ["a", "b"]},
    "contains_all": {"texts": ["a", "b"]},
    "contains_at_least": {"texts": ["a", "b", "c"], "least": 2},
    "contains_word": {"text": "a"},
    "starts_with": {"text": "a"},
    "ends_with": {"text": "a"},
    "equals": {"text": "a"},
    "matches": {"pattern": r"\w\d"},
    "matches_all": {"patterns": ["a", r"\d"]},
    "matches_at_least": {"patterns": ["a", r"\d"], "least": 2},
    "captures": {"pattern": "a(.)", "text": "b"},
    "word_count": {"least": 2, "most": 4},
    "number_equals": {"value": 1, "tolerance": 3},
    "text_ratio": {"text": "abc", "least": 0.5},
    "is_json": {},
    "json_schema": {"schema": {"type": "object"}},
    "json_path_equals": {"path": "$.a", "value": 1},
    "contains_code_block": {"language": "json"},
    "tool_called": {"tool": "add"},
    "tool_arguments": {"tool": "add", "where": {"a": 1}},
    "tool_call_count": {"least": 1, "most": 2},
    "tool_call_order": {"tools": ["add"]},
    "language": {"language": "en"},
    "latency_at_most": {"ms": 5},
    "cost_at_most": {"usd": 5},
    "js": {"source": "1"},
    "call": {"source": {"url": "x"}},
    "factcheck": {"source": "x"},
}


def test_all_checks_are_there():
    assert set(CHECKS) == NAMES == set(GOOD)


@pytest.mark.parametrize("check", CHECKS.values(), ids=lambda check: check.name)
def test_a_form_can_be_built_of_every_check(check):
    assert check.title
    assert check.family
    assert check.description.endswith(".")
    schema = json.loads(json.dumps(check.arguments))
    assert list(schema["properties"])[-1] == "negate"
    assert all(field["title"] for field in schema["properties"].values())
    assert schema["description"] == check.description
    assert "$defs" not in schema


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(NAMES)) | st.text(max_size=10), ARGUMENTS, TEXTS)
def test_run_gives_a_value_or_says_why_not(name, arguments, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Deadline.__init__, "__defaults__", (0.1,))  # some patterns never end
        outcome = run(name, arguments, Material(text))
    problems = problems_of(name, arguments)
    assert (outcome.value is None) == bool(outcome.error)
    assert outcome.value is None or (0 <= outcome.value <= 1 and not problems)


@pytest.mark.parametrize("name", [None, 5, [], {}, "", "contain", "__class__"])
@pytest.mark.parametrize("arguments", [None, [], "text", 5, {5: 1}, {"text": object()}])
def test_run_takes_anything(name, arguments):
    assert run(name, arguments, Material("text")).value is None
    assert run("contains", arguments, Material("text")).value is None
    assert problems_of(name, arguments)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(GOOD)), TEXTS)
def test_good_arguments_break_on_no_text(name, text):
    outcome = run(name, GOOD[name], Material(text, latency_ms=1, cost_usd=0.1))
    assert "broke" not in outcome.error
    assert outcome.value is not None or name in {
        "language",
        "number_equals",
        "js",
        "call",
        "factcheck",
    }


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(GOOD)), TEXTS)
def test_negating_twice_changes_nothing(name, text):
    material = Material(text, latency_ms=1, cost_usd=0.1)
    plain = run(name, GOOD[name], material)
    negated = run(name, {**GOOD[name], "negate": True}, material)
    assert negated.error == plain.error
    assert plain.value is None or 1 - negated.value == pytest.approx(plain.value)


def test_problems_name_the_value_and_the_place():
    assert problems_of("contains", {"txt": "a"}) == [
        "“text” is missing.",
        "“txt” is unknown. Use negate, ignore_case, exact, text.",
    ]
    assert problems_of("contains_any", {"texts": ["a", 5]}) == [
        "“texts.1” is 5: input should be a valid string."
    ]
    assert problems_of("contain", {}) == ["Unknown check: “contain”."]
    assert problems_of("word_count", {"least": "many", "most": 3}) == [
        '“least” is "many": input should be a valid integer.'
    ]


def test_negation_is_said():
    outcome = run("contains", {"text": "a", "negate": True}, Material("a"))
    assert outcome.value == 0
    assert outcome.explanation == "Contains “a”. Inverted."


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800"])
def test_what_is_said_can_be_stored(escape):
    spelt = f'TOOL_CALL {{"name": "{escape}", "arguments": {{}}}}'
    for name, arguments, text in [
        ("tool_called", {"tool": "add"}, spelt),
        ("json_path_equals", {"path": "$[0]", "value": 1}, f'["{escape}"]'),
        ("json_schema", {"schema": {"items": {"type": "null"}}}, f'["{escape}"]'),
        ("contains", {"text": json.loads(f'"{escape}"')}, "text"),
        ("contains", {"text": [json.loads(f'"{escape}"')]}, "text"),
    ]:
        outcome = run(name, arguments, Material(text))
        assert not UNSTORABLE.search(outcome.explanation + outcome.error)


def test_turns_are_joined_by_a_blank_line():
    assert text_of(["One.", "Two."]) == "One.\n\nTwo."


def test_importing_the_checks_loads_nothing_heavy():
    heavy = {"django", "jsonpath", "jsonschema", "litellm", "numpy", "py3langid", "rapidfuzz"}
    code = f"import sys, issues.checks; print({heavy!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
