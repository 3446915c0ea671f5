"""Whatever a file holds, reading it gives a blueprint or named problems, never an exception."""

import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.importers.weval.blueprint.format import KEPT, OF_PROMPTS
from tests.runs.importers.weval.blueprints_in_text import read

WHOLE = (Path(__file__).parent / "blueprints" / "whole.yml").read_text()
HEADER = (
    *("title", "description", "author", "references", "tags", "models", "system", "systems"),
    *("temperature", "temperatures", "evaluationConfig", "point_defs", "tools", "toolUse"),
    *("render_as", "noCache", "prompts", "id", *KEPT),
)
PROMPT = (
    "id",
    "description",
    "system",
    "citation",
    "weight",
    "temperature",
    "evalhub",
    *OF_PROMPTS,
)
POINT = ("point", "text", "fn", "arg", "weight", "citation", "mandatory", "$ref", "$contains")
INNER = ("role", "content", "user", "ai", "llm-coverage", "judges", "model", "approach", "name")
keys = st.sampled_from([*HEADER, *PROMPT, *POINT, *INNER, "$is_json", "$tool_args_match", "other"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
patient = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def is_one_or_the_other(text: str, file: str = "sample.yml") -> bool:
    """Return whether the text is read as a blueprint or has problems, and not both."""
    reading = read(text, file)
    return (reading.blueprint is None) == bool(reading.problems)


@patient
@given(
    st.dictionaries(st.sampled_from(HEADER), values, max_size=5),
    st.lists(st.dictionaries(st.sampled_from(PROMPT), values, max_size=6) | values, max_size=3),
)
def test_values_of_any_kind_in_any_field(header, prompts):
    document = json.dumps({**header, "prompts": prompts})
    if "Infinity" not in document:
        assert is_one_or_the_other(document, "sample.json")
        assert is_one_or_the_other(document)


@patient
@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.text("\n -:{}[]&*!|>'\"#%@`,?$ab0\t"))
def test_a_file_with_a_part_of_it_replaced(start, length, text):
    assert is_one_or_the_other(WHOLE[:start] + text + WHOLE[start + length :])


@patient
@given(st.text())
def test_any_text(text):
    assert is_one_or_the_other(text)
    assert is_one_or_the_other(text, "sample.json")
