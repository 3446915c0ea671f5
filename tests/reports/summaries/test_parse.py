"""What is read of an analyst's reply, and that everything can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.dimensions import KEYS
from reports.summaries.parse import (
    MAX_LINES,
    MAX_TOPICS,
    Graded,
    Parsed,
    grade_in,
    parse,
    topics_in,
)
from tests.reports.summaries.keys import WORKED, as_markdown

WHOLE = (
    '<key_finding><ref maker="MK_5002" /> led</key_finding><strength>a</strength>'
    "<weakness>b</weakness><pattern>c</pattern><topic>coding</topic><topic>made up</topic>"
    '<grade maker="MK_5002" model="MD_6002" dimension="adherence">\nREASONING: good\nSCORE: 8/10\n'
    '</grade><grade maker="MK_5002" model="MD_6002" dimension="bogus">SCORE: 3</grade>'
    '<grade maker="MK_9999" model="MD_8888" dimension="clarity">SCORE: 3</grade>'
    '<grade maker="MK_5002" dimension="clarity">SCORE: 3</grade>'
)


def grade(content, attributes='maker="MK_5002" model="MD_6002" dimension="clarity"'):
    return parse(f"<grade {attributes}>{content}</grade>", WORKED)


def test_worked_case_of_the_methodology():
    parsed = parse(WHOLE, WORKED)
    assert [as_markdown(text) for text in parsed.findings] == ["OpenAI led"]
    assert (parsed.strengths, parsed.weaknesses, parsed.patterns) == (("a",), ("b",), ("c",))
    assert parsed.grades == (Graded("MD_6002", "adherence", 8, "good"),)
    assert parsed.topics == ("coding", "made-up")


def test_text_without_tags_says_nothing():
    parsed = parse("plain text without tags", WORKED)
    assert parsed == Parsed()
    assert not parsed.is_usable


@pytest.mark.parametrize(
    ("content", "score", "reasoning"),
    [
        ("REASONING: fine.\nSCORE: 8/10", 8, "fine."),
        ("REASONING: x\nSCORE: 7.5/10", 7.5, "x"),
        ("SCORE: 1", 1, ""),
        ("**REASONING:** a\nb\n**SCORE:** **9**/10", 9, "a\nb"),
        ("Reasoning: it said score: 2, but\nScore: 6 out of 10", 6, "it said score: 2, but"),
        ("8/10", 8, ""),
        ("SCORE: 7,5", 7.5, ""),
    ],
)
def test_a_grade_is_read(content, score, reasoning):
    assert grade(content).grades == (Graded("MD_6002", "clarity", score, reasoning),)


@pytest.mark.parametrize("content", ["SCORE: N/A", "REASONING: none\nSCORE: n/a", "SCORE: null"])
def test_no_grade_can_be_given(content):
    (read,) = grade(content).grades
    assert read.grade is None


@pytest.mark.parametrize("content", ["15/10", "0", "11", "-3", "85", "4/5", "80/100", "good", ""])
def test_anything_else_is_no_grade(content):
    parsed = grade(f"SCORE: {content}")
    assert parsed.grades == ()
    assert len(parsed.problems) == 1


def test_problems_of_a_grade_are_listed():
    assert grade_in("15/10") == (None, "15 is no grade from 1 to 10.")
    assert grade_in("4/5")[1] == "4/5 is not on the scale of 1 to 10."
    assert "names no model" in grade("SCORE: 3", 'dimension="clarity"').problems[0]
    assert "MD_8888" in grade("SCORE: 3", 'model="MD_8888" dimension="tone"').problems[0]
    wrong_developer = 'maker="MK_5000" model="MD_6002" dimension="tone"'
    assert "MK_5000" in grade("SCORE: 3", wrong_developer).problems[0]


@pytest.mark.parametrize(
    ("written", "meant"), [("Helpful", "helpfulness"), ("CLARITY ", "clarity"), ("cre", "")]
)
def test_a_dimension_is_known_by_its_beginning(written, meant):
    read = grade("SCORE: 3", f'model="MD_6002" dimension="{written}"').grades
    assert [one.dimension for one in read] == ([meant] if meant else [])


def test_the_last_grade_of_a_dimension_counts():
    both = WHOLE + '<grade model="MD_6002" dimension="Adherence">SCORE: 2</grade>'
    (read,) = parse(both, WORKED).grades
    assert read.grade == 2


@pytest.mark.parametrize(
    "reply",
    [
        "```xml\n<key_finding>led</key_finding>\n```",
        "<KEY_FINDING>led",
        "&lt;key_finding&gt;led&lt;/key_finding&gt;",
        "<key_findings><key_finding>led</key_finding></key_findings>",
        "< key_finding >led</ key_finding><strength/>",
        "<think><key_finding>no</key_finding></think><key_finding>led</key_finding>",
        "Sure!\n<key_finding>led<weakness></weakness>",
        "<key_finding>led</key_finding><key_finding>led</key_finding>",
    ],
)
def test_findings_are_read_however_tags_are_written(reply):
    assert parse(reply, WORKED).findings == ("led",)


def test_topics_are_merged_and_normalised():
    assert topics_in(["Human Rights", "human_rights, AI/ML & Data", "_internal", "* a"]) == (
        "human-rights",
        "aiml--data",
        "internal",
        "a",
    )
    assert len(topics_in([f"topic {n}" for n in range(20)])) == MAX_TOPICS


def test_a_reply_without_end_is_bounded():
    parsed = parse("".join(f"<pattern>{n}</pattern>" for n in range(500)), WORKED)
    assert len(parsed.patterns) == MAX_LINES


FRAGMENTS = st.sampled_from(
    [
        *("<grade", ">", "</grade>", "<key_finding>", "</key_finding>", "SCORE:", "8/10", "N/A"),
        *('model="MD_6002"', 'dimension="clarity"', "<topic>", "&lt;", "<think>", "\n", "/", '"'),
        *("1e999", "٣", "9" * 400, "REASONING:", "<pattern/>", "\x00", "\ud800"),
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=8)).map("".join))
def test_parsing_is_total_and_grades_lie_on_the_scale(reply):
    for read in parse(reply, WORKED).grades:
        assert read.model in WORKED.models
        assert read.dimension in KEYS
        assert read.grade is None or 1 <= read.grade <= 10
