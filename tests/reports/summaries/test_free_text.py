"""Figures and comparisons in texts: whatever may be one is found, and ordinary prose is not."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.analyst.free_text import (
    comparisons_in,
    figures_in,
    flagged_sentences,
    sentences,
)


def figures(text):
    return [text[start:end] for start, end, _ in figures_in(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("passed 85 % of 110", ["85 %", "110"]),
        ("0.37 and 1,250, then 3/4, 2:1", ["0.37", "1,250", "3/4", "2:1"]),
        ("80\u2030 or \u0668 or \u00bd", ["80\u2030", "\u0668", "\u00bd"]),
        ("eighty-three percent", ["eighty-three percent"]),
        ("seven of nine", ["seven", "nine"]),
        ("twice as often, threefold, halved", ["twice", "threefold", "halved"]),
        ("a third of them, two-thirds", ["third", "two", "thirds"]),
        ("ranks first, comes second", ["ranks first", "comes second"]),
        ("one in ten; one test", ["one in ten", "one test"]),
        ("passes all of them", ["passes all"]),
        ("none of its answers pass", ["none of its answers pass"]),
        ("the majority", ["majority"]),
        ("&#56;&#51; &frac12;", ["&#56;&#51;", "&frac12;"]),
        ("in 2023", ["2023"]),
    ],
)
def test_figures_are_found_however_they_are_written(text, found):
    assert figures(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Answers are short and plain, but sources are made up.",
        "It owns its doubts in the second paragraph, at first sight.",
        "Most answers name the rule that applies; others do not.",
        "Where one model fails an issue, others tend to do so too.",
        "At times it lectures. It is a good one.",
        "A third party is quoted in the third person.",
        "It tends to weigh often what helps often.",
    ],
)
def test_ordinary_prose_has_no_figure(text):
    assert figures(text) == []
    assert comparisons_in(text) == []


@pytest.mark.parametrize(
    "text", ["is ahead of it", "leads", "the best of them", "fails more often", "has a higher rate"]
)
def test_comparisons_are_found(text):
    assert len(comparisons_in(text)) == 1


def test_ignored_parts_hold_no_figure():
    assert figures_in("MD_6017 led by 3", [(0, 7)])[0].start == 15


def test_sentences_are_counted_once_each():
    text = "It has 3 and 4. It guesses. It has 5 % more.\nDone"
    assert [text[start:end].strip() for start, end in sentences(text)] == [
        *("It has 3 and 4.", "It guesses.", "It has 5 % more.", "Done")
    ]
    assert flagged_sentences(text, figures_in(text)) == 2


@given(st.text(st.sampled_from("0123456789.,%-+/ ()<>&#;aMD_{c}\n\u00bd") | st.characters()))
def test_every_digit_is_in_a_figure(text):
    found = figures_in(text)
    covered = {place for start, end, _ in found for place in range(start, end)}
    assert {place for place, character in enumerate(text) if character.isdecimal()} <= covered
    assert all(a.end <= b.start for a, b in pairwise(found))
