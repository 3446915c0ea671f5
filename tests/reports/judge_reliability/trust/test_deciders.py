"""Deciders by group of answers: the rule at its edges."""

import pytest

from reports.judge_reliability.accuracy_rule import Checked, Sample
from reports.judge_reliability.trust.deciders import (
    EVERYTHING,
    Decider,
    entries_of,
    entry_of,
    more_needed,
)


def rows(party, verdicts, *, drawn=True, start=0):
    """Verdicts of a party and of humans, each on an answer of its own issue: "pp" is two passes."""
    return [
        Checked(
            party,
            result=start + n,
            run=1,
            issue=start + n,
            judged=said == "p",
            humans=people == "p",
            drawn=(people == "p") if drawn else None,
        )
        for n, (said, people) in enumerate(verdicts)
    ]


def right(n, wrong=0):
    """Return n right verdicts, half of them "pass", and then wrong ones."""
    return ["pp" if k % 2 else "ff" for k in range(n)] + ["pf"] * wrong


# Missing answers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((0, 0), 20),  # nothing known: as many as are enough
        ((10, 10), 25),  # never wrong: 35 are needed
        ((35, 35), 0),
        ((8, 10), 10),  # it will never be trusted: 20 are enough to say so
        ((9, 10), 10),  # exactly at the line never passes it either
        ((19, 20), 119),  # z² · 0.09 / 0.05² = 138.3: 139 in all
        ((15, 30), 0),
    ],
)
def test_how_many_more_are_needed(given, expected):
    assert more_needed(*given) == expected


@pytest.mark.parametrize(("n", "rate"), [(139, 0.95), (35, 1.0)])
def test_as_many_as_are_needed_are_enough_and_one_less_is_not(n, rate):
    def low(m):
        p, z2 = rate, 1.959963984540054**2
        centre = (p + z2 / (2 * m)) / (1 + z2 / m)
        return centre - (z2**0.5) / (1 + z2 / m) * (p * (1 - p) / m + z2 / (4 * m * m)) ** 0.5

    assert low(n) >= 0.9 > low(n - 1)


# One group ----------------------------------------------------------------------------------------


def test_an_accurate_judge_decides_alone():
    entry = entry_of("law", rows("judge-1", right(40)))
    assert (entry.decider, entry.parties, entry.left_to_annotators) == (
        Decider.ONE,
        ("judge-1",),
        0.0,
    )


def test_the_judge_with_the_highest_bound_is_named():
    given = [*rows("judge-1", right(40)), *rows("judge-2", right(60))]
    assert entry_of("law", given).parties == ("judge-2",)


def test_answers_selected_by_annotators_decide_nothing():
    entry = entry_of("law", rows("judge-1", right(100), drawn=False))
    assert (entry.decider, entry.drawn, entry.more) == (Decider.UNKNOWN, 0, 20)
    (line,) = entry.lines
    assert (line.sample, line.found.n) == (Sample.ALL, 100)


def test_too_few_answers_say_how_many_more_are_needed():
    entry = entry_of("law", rows("judge-1", right(10)))
    assert (entry.decider, entry.parties, entry.more) == (Decider.UNKNOWN, ("judge-1",), 25)


def test_a_judge_that_errs_too_often_leaves_the_decision_to_a_human():
    entry = entry_of("law", rows("judge-1", right(30, wrong=10)))
    assert (entry.decider, entry.left_to_annotators, entry.more) == (Decider.HUMAN, 1.0, 0)


def test_high_accuracy_on_few_answers_needs_more():
    entry = entry_of("law", rows("judge-1", right(24, wrong=1)))
    # 24 of 25 is 0.96: z² · 0.09 / 0.06² = 96.04, so 97 in all.
    assert (entry.decider, entry.more) == (Decider.HUMAN, 72)


def two(agreed, differ, wrong=0):
    """Two judges: right where they agree but for `wrong`; elsewhere each errs in turn."""
    truth = right(agreed, wrong)
    first = ["fp" if k % 2 else "pp" for k in range(differ)]
    second = ["pp" if k % 2 else "fp" for k in range(differ)]
    return [*rows("judge-1", [*truth, *first]), *rows("judge-2", [*truth, *second])]


def test_two_accurate_judges_that_agree_are_named_with_the_rest():
    entry = entry_of("law", two(40, 20))
    assert (entry.decider, entry.parties) == (Decider.TWO, ("judge-1", "judge-2"))
    assert entry.left_to_annotators == pytest.approx(20 / 60)
    assert (entry.pairs[0].both, entry.pairs[0].agreed, entry.pairs[0].right) == (60, 40, 40)


@pytest.mark.parametrize(("differ", "expected"), [(40, Decider.TWO), (41, Decider.HUMAN)])
def test_two_must_agree_on_at_least_half(differ, expected):
    assert entry_of("law", two(40, differ)).decider is expected


def test_two_that_agree_on_what_is_wrong_are_not_trusted():
    assert entry_of("law", two(40, 20, wrong=4)).decider is Decider.HUMAN


def test_the_pair_that_leaves_least_to_humans_is_named():
    given = two(40, 20)
    third = [row._replace(party="judge-3") for row in given if row.party == "judge-1"]
    # The third says what the first says: they agree on all, and are right on 50 of 60.
    assert entry_of("law", [*given, *third]).parties == ("judge-1", "judge-2")


def test_a_jury_is_no_part_of_a_pair():
    given = [row._replace(party="jury-x") if row.party == "judge-2" else row for row in two(40, 20)]
    assert entry_of("law", given).pairs == ()


def test_one_issue_that_is_always_wrong_counts_as_one():
    """Twenty wrong answers of one issue spread the bound by issue further than Wilson's."""
    given = rows("judge-1", right(300, wrong=12))
    clustered = [row._replace(issue=-1) if row.judged != row.humans else row for row in given]
    assert entry_of("law", given).decider is Decider.ONE
    entry = entry_of("law", clustered)
    assert entry.lines[0].low < entry_of("law", given).lines[0].low


# All groups ---------------------------------------------------------------------------------------


def test_an_answer_counts_in_each_of_its_groups_and_in_all():
    given = rows("judge-1", right(3))
    entries = entries_of(given, {0: ["law", "tax"], 1: ["law"], 2: []})
    assert [(entry.group, entry.drawn) for entry in entries] == [
        (EVERYTHING, 3),
        ("law", 2),
        ("tax", 1),
    ]


def test_nothing_measured_gives_no_groups():
    assert entries_of([], {}) == []
