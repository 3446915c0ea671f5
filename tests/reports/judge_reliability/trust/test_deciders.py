import pytest

from reports.judge_reliability.accuracy_rule import Checked, Sample
from reports.judge_reliability.concerns_rule import Trust
from reports.judge_reliability.trust.decider_rule import EVERYTHING, Decider, entries_of
from reports.judge_reliability.trust_rule import Proof


def entry_of(group, given, **fields):
    """The entry of one group that has all of these answers."""
    (entry,) = entries_of(given, {row.result: [group] for row in given}, **fields)
    return entry


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


# One group ----------------------------------------------------------------------------------------


def test_an_accurate_judge_decides_alone():
    entry = entry_of("law", rows("judge-1", right(80)))
    assert (entry.decider, entry.parties, entry.left_to_annotators) == (
        Decider.ONE,
        ("judge-1",),
        0.0,
    )


def test_the_judge_with_the_highest_bound_is_named():
    given = [*rows("judge-1", right(80)), *rows("judge-2", right(120))]
    assert entry_of("law", given).parties == ("judge-2",)


def test_answers_selected_by_annotators_decide_nothing():
    entry = entry_of("law", rows("judge-1", right(100), drawn=False))
    assert (entry.decider, entry.drawn) == (Decider.UNKNOWN, 0)
    (line,) = entry.lines
    assert (line.sample, line.found.n, line.trust) == (Sample.ALL, 100, Trust.UNKNOWN)
    assert line.human_proof.missing == (10, 10)


def test_selected_answers_do_not_count_beside_random_ones():
    given = [*rows("judge-1", right(10)), *rows("judge-1", right(90), drawn=False, start=10)]
    entry = entry_of("law", given)
    assert (entry.decider, entry.drawn) == (Decider.UNKNOWN, 10)
    assert entry.best.human_proof.missing == (5, 5)


def test_a_judge_that_always_passes_decides_nothing():
    # Right on 97 of 100: humans fail 12 of 400.
    entry = entry_of("law", rows("judge-1", ["pp"] * 388 + ["pf"] * 12))
    assert (entry.decider, entry.lines[0].trust) == (Decider.HUMAN, Trust.UNRELIABLE)


def test_two_that_always_pass_do_not_decide_together():
    given = ["pp"] * 388 + ["pf"] * 12
    entry = entry_of("law", [*rows("judge-1", given), *rows("judge-2", given)])
    assert entry.decider is Decider.HUMAN
    assert entry.pairs[0].human_proof.proof is Proof.BELOW


def test_too_few_answers_say_how_many_more_are_needed():
    entry = entry_of("law", rows("judge-1", right(12)))
    assert (entry.decider, entry.parties) == (Decider.UNKNOWN, ("judge-1",))
    assert entry.best.human_proof.missing == (4, 4)


def test_a_judge_that_errs_too_often_leaves_the_decision_to_a_human():
    entry = entry_of("law", rows("judge-1", right(30, wrong=30)))
    assert (entry.decider, entry.left_to_annotators) == (Decider.HUMAN, 1.0)
    assert entry.best.human_proof.missing[1] is None


def test_high_rates_on_few_answers_need_more():
    entry = entry_of("law", rows("judge-1", right(24)))
    assert entry.decider is Decider.HUMAN
    assert entry.best.human_proof.proof is Proof.OPEN
    assert all(more > 0 for more in entry.best.human_proof.missing)


def test_a_judge_with_a_serious_concern_does_not_decide():
    given = [*rows("judge-1", right(80)), *rows("judge-2", right(60))]
    entry = entry_of("law", given, concerns={"judge-1": "It judged its own answers."})
    assert (entry.decider, entry.parties) == (Decider.ONE, ("judge-2",))
    assert entry.line_of("judge-1").trust is Trust.UNRELIABLE


def two(agreed, differ, wrong=0):
    """Two judges: right where they agree but for `wrong`; elsewhere each errs in turn."""
    truth = right(agreed, wrong)
    first = ["fp" if k % 2 else "pp" for k in range(differ)]
    second = ["pp" if k % 2 else "fp" for k in range(differ)]
    return [*rows("judge-1", [*truth, *first]), *rows("judge-2", [*truth, *second])]


def test_two_judges_that_are_right_where_they_agree_decide_together():
    entry = entry_of("law", two(80, 40))
    assert (entry.decider, entry.parties) == (Decider.TWO, ("judge-1", "judge-2"))
    assert entry.left_to_annotators == pytest.approx(40 / 120)
    assert (entry.pairs[0].both, entry.pairs[0].agreed) == (120, 80)


@pytest.mark.parametrize(("differ", "expected"), [(80, Decider.TWO), (81, Decider.HUMAN)])
def test_two_must_agree_on_at_least_half(differ, expected):
    assert entry_of("law", two(80, differ)).decider is expected


def test_two_that_agree_on_what_is_wrong_are_not_trusted():
    assert entry_of("law", two(80, 40, wrong=12)).decider is Decider.HUMAN


def test_the_pair_that_leaves_least_to_humans_is_named():
    given = two(80, 40)
    third = [row._replace(party="judge-3") for row in given if row.party == "judge-1"]
    # The third says what the first says: they agree on all, and are right on 100 of 120.
    assert entry_of("law", [*given, *third]).parties == ("judge-1", "judge-2")


def test_a_jury_is_no_part_of_a_pair():
    given = [row._replace(party="jury-x") if row.party == "judge-2" else row for row in two(80, 40)]
    assert entry_of("law", given).pairs == ()


def test_forty_of_forty_in_one_issue_are_not_enough():
    given = [row._replace(issue=1) for row in rows("judge-1", right(80))]
    entry = entry_of("law", given)
    assert entry.decider is Decider.UNKNOWN
    assert "from 4 more issues" in entry.best.human_proof.needed


# All groups ---------------------------------------------------------------------------------------


def test_an_answer_counts_in_each_of_its_groups_and_in_all():
    given = rows("judge-1", right(3))
    groups = {0: [EVERYTHING, "law", "tax"], 1: [EVERYTHING, "law"], 2: [EVERYTHING]}
    entries = entries_of(given, groups)
    assert [(entry.group, entry.drawn) for entry in entries] == [
        (EVERYTHING, 3),
        ("law", 2),
        ("tax", 1),
    ]


def test_all_groups_are_decided_together():
    given = rows("judge-1", right(40))
    one = entries_of(given, {row.result: ["law"] for row in given})
    many = entries_of(given, {row.result: [f"tag {n}" for n in range(60)] for row in given})
    assert one[0].lines[0].human_proof.asked == 1
    assert many[0].lines[0].human_proof.asked == 60
    assert one[0].decider is Decider.ONE
    assert {entry.decider for entry in many} == {Decider.HUMAN}


def test_nothing_measured_gives_no_groups():
    assert entries_of([], {}) == []
