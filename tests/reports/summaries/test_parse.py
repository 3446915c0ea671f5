"""What is read of an analyst's reply, and that everything can be read."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.analyst.claims import Claim
from reports.summaries.analyst.dimensions import KEYS
from reports.summaries.analyst.replies import (
    BROKEN,
    MAX_LINES,
    MAX_TOPICS,
    NO_JSON,
    Graded,
    grade_in,
    parse,
    topics_in,
)
from tests.reports.summaries.keys import WORKED, as_markdown

CLAIM = {
    "id": "c1",
    "model": "MD_6002",
    "group": "G_1",
    "measure": "pass_rate",
    "value": 72.5,
    "other_model": None,
    "other_group": None,
}
WHOLE = {
    "findings": [{"text": '<ref maker="MK_5002" /> led', "claims": [CLAIM]}],
    "strengths": [{"text": "a", "claims": []}],
    "weaknesses": ["b"],
    "patterns": {"text": "c"},
    "topics": ["coding", "made up"],
    "grades": [
        {"model": "MK_5002/MD_6002", "dimension": "adherence", "reasoning": "good", "score": 8},
        {"model": "MD_6002", "dimension": "bogus", "score": 3},
        {"model": "MD_8888", "dimension": "clarity", "score": 3},
        {"dimension": "clarity", "score": 3},
        "none",
    ],
}


def parsed(**parts):
    return parse(json.dumps(parts), WORKED)


def grade(score, **fields):
    entry = {"model": "MD_6002", "dimension": "clarity", "score": score}
    return parsed(grades=[entry | fields])


def test_a_whole_reply_is_read():
    found = parse(json.dumps(WHOLE), WORKED)
    assert [as_markdown(one.text) for one in found.texts["findings"]] == ["OpenAI led"]
    assert found.statements[0].claims == (Claim("c1", "MD_6002", "G_1", "pass_rate", 72.5),)
    assert [one.text for one in found.statements[1:]] == ["a", "b", "c"]
    assert found.grades == (Graded("MD_6002", "adherence", 8, "good"),)
    assert found.topics == ("coding", "made-up")
    assert len(found.problems) == 4


@pytest.mark.parametrize("reply", ["plain text", "[1, 2]", '{"score": 8}', "{", "{}"])
def test_anything_but_the_form_asked_for_says_nothing(reply):
    found = parse(reply, WORKED)
    assert (found.is_usable, found.problems) == (False, (NO_JSON,))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        *((72.5, 72.5), ("72.5 %", 72.5), ("1,250", 1250), ("\u22123 points", -3), (None, None)),
        *((value, None) for value in ("many", True, [1], "nan", "inf")),
    ],
)
def test_the_value_of_a_claim_is_read_however_it_is_written(value, read):
    (one,) = parsed(findings=[{"text": "x", "claims": [CLAIM | {"value": value}]}]).statements
    assert one.claims[0].value == read


def test_claims_may_be_listed_by_id():
    (one,) = parsed(
        findings=[{"text": "{c2}", "claims": {"{C2}": CLAIM | {"id": "c2"}}}]
    ).statements
    assert [claim.id for claim in one.claims] == ["c2"]


@pytest.mark.parametrize(
    ("score", "read"),
    [
        *((8, 8), (7.5, 7.5), ("8/10", 8), ("6 out of 10", 6), ("7,5", 7.5)),
        *((none, None) for none in (None, "N/A", "null", "n/a")),
    ],
)
def test_a_grade_is_read(score, read):
    assert grade(score, reasoning="x").grades == (Graded("MD_6002", "clarity", read, "x"),)


@pytest.mark.parametrize(
    "score", ["15/10", 0, 11, -3, 85, "4/5", "80/100", "good", "", True, [8], {"a": 8}]
)
def test_anything_else_is_no_grade(score):
    found = grade(score)
    assert found.grades == ()
    assert len(found.problems) == 1


def test_problems_of_a_grade_are_listed():
    assert grade_in("15/10") == (None, "15 is no grade from 1 to 10.")
    assert grade_in("4/5")[1] == "4/5 is not on the scale of 1 to 10."
    assert "names no model" in grade(3, model="").problems[0]
    assert "MD_8888" in grade(3, model="MD_8888").problems[0]
    assert "MK_5000" in grade(3, model="MK_5000/MD_6002").problems[0]


@pytest.mark.parametrize(
    ("written", "meant"), [("Helpful", "helpfulness"), ("CLARITY ", "clarity"), ("cre", "")]
)
def test_a_dimension_is_known_by_its_beginning(written, meant):
    read = grade(3, dimension=written).grades
    assert [one.dimension for one in read] == ([meant] if meant else [])


def test_the_last_grade_of_a_dimension_counts():
    entry = {"model": "MD_6002", "dimension": "Adherence"}
    (read,) = parsed(grades=[entry | {"score": 8}, entry | {"score": 2}]).grades
    assert read.grade == 2


LED = '{"findings": [{"text": "led", "claims": []}]}'


@pytest.mark.parametrize(
    "reply",
    [
        f"```json\n{LED}\n```",
        f"Sure! {LED} Done.",
        f'<think>{{"findings": ["no"]}}</think>{LED}',
        '{"findings": ["led", "led"]}',
        '{"findings": "led"}',
    ],
)
def test_findings_are_read_however_json_is_wrapped(reply):
    assert [one.text for one in parse(reply, WORKED).statements] == ["led"]


@pytest.mark.parametrize("cut", ['{"findings": ["led"', "{'findings': ['led'],}"])
def test_broken_json_is_read_as_far_as_it_goes_and_noted(cut):
    found = parse(cut, WORKED)
    assert [one.text for one in found.statements] == ["led"]
    assert found.problems == (BROKEN,)


def test_topics_are_merged_and_normalised():
    assert topics_in(["Human Rights", "human_rights, AI/ML & Data", "_internal", "* a"]) == (
        "human-rights",
        "aiml--data",
        "internal",
        "a",
    )
    assert len(topics_in([f"topic {n}" for n in range(20)])) == MAX_TOPICS


def test_a_reply_without_end_is_bounded():
    found = parsed(patterns=[f"{n}" for n in range(500)])
    assert len(found.statements) == MAX_LINES


FRAGMENTS = st.sampled_from(
    [
        *("{", "}", "[", "]", ":", ",", '"', '"findings"', '"grades"', '"claims"', '"text"'),
        *('"model": "MD_6002"', '"dimension": "clarity"', '"score": 8', "null", "<think>", "\n"),
        *("1e999", "٣", "9" * 400, "\x00", "\ud800", "\\"),
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=8)).map("".join))
def test_parsing_is_total_and_grades_lie_on_the_scale(reply):
    for read in parse(reply, WORKED).grades:
        assert read.model in WORKED.models
        assert read.dimension in KEYS
        assert read.grade is None or 1 <= read.grade <= 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*CLAIM, *WHOLE, "text", "claims", "dimension", "score"]), inner
        )
    ),
)


@given(st.dictionaries(st.sampled_from([*WHOLE]), JSON))
def test_any_json_can_be_read(value):
    found = parse(json.dumps(value), WORKED)

    assert (NO_JSON in found.problems) == (not value)
    assert BROKEN not in found.problems
    assert all(one.text.strip() for one in found.statements)
