"""Which tests are sent where not all fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.analyst.key import Key, Model
from reports.summaries.analyst.prompt import OMITTED, cut
from reports.summaries.draft import Section, fitting, reply_tokens, room, worst_first
from reports.summaries.source_query import RankedTest


def section(n):
    return Section("P_1", 1, "x" * n)


def test_the_worst_of_each_issue_come_first():
    standings = [
        RankedTest(1, 1, 0.1),
        RankedTest(2, 1, 0.2),
        RankedTest(3, 2, 0.9),
        RankedTest(4, 2, 1.0),
        RankedTest(5, 3, None),
        RankedTest(6, 3, 0.5),
    ]
    # First each issue's worst (0.1, 0.5, 0.9), then each one's second (0.2, 1.0), then unscored.
    assert worst_first(standings) == [1, 6, 3, 2, 4, 5]


@given(st.lists(st.integers(1, 30), unique=True), st.randoms())
def test_the_order_does_not_depend_on_how_rows_come(tests, random):
    standings = [RankedTest(test, test % 3, (test % 5) / 4) for test in tests]
    shuffled = list(standings)
    random.shuffle(shuffled)
    assert worst_first(shuffled) == worst_first(standings)
    assert sorted(worst_first(standings)) == sorted(tests)


def test_a_long_text_loses_its_middle():
    assert cut("abcdefgh", 4) == f"abc{OMITTED}h"
    assert cut("abcd", 4) == "abcd"
    assert cut("abcdefgh", None) == "abcdefgh"


@pytest.mark.parametrize(("lengths", "taken"), [([3, 3, 3], 3), ([3, 8, 3], 2), ([20, 3], 1)])
def test_what_fits_is_taken_in_turn(lengths, taken):
    assert len(list(fitting([section(n) for n in lengths], 10))) == taken


def test_the_search_ends_after_some_that_are_too_long():
    sections = [section(20)] * 3 + [section(1)]
    assert list(fitting(sections, 10, patience=3)) == []


@given(st.integers(1000, 200_000), st.integers(0, 40))
def test_request_and_reply_fit_into_the_context(context, models):
    key = Key({}, {f"MD_{n}": Model("m", n) for n in range(models)})
    reply = reply_tokens(context, key)
    assert 0 < reply <= context // 3
    assert room(context, reply, fixed=0) <= (context - reply) * 3
