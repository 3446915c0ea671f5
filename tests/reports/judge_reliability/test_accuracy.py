import pytest

from reports.judge_reliability.accuracy_rule import Checked, Sample, Tally, corrected, measured


def rows(party="jury", **kinds):
    """Answers to as many issues, by what the party and people said; pp: both passed it."""
    verdicts = [kind for kind, n in kinds.items() for _ in range(n)]
    passed = {"p": True, "f": False, "n": None}
    return [
        Checked(party, n, 1, n, passed[kind[0]], passed[kind[1]], passed[kind[1]])
        for n, kind in enumerate(verdicts)
    ]


def test_a_party_is_measured_against_people():
    (found,) = measured(rows(pp=6, pf=1, ff=2, fp=1), Sample.ALL)
    assert tuple(found.counts) == (6, 1, 2, 1)
    assert (found.accuracy.accuracy, found.n, found.issues) == (0.8, 10, 10)
    assert found.accuracy.precision == found.accuracy.recall == pytest.approx(2 / 3)
    # Observed 0.8; both pass 7 of 10: chance 0.49 + 0.09.
    assert found.kappa == pytest.approx((0.8 - 0.58) / 0.42)
    assert found.intervals.accuracy is not None


def test_what_one_side_did_not_say_is_not_compared():
    (found,) = measured(rows(pp=3, np=4, pn=5), Sample.ALL)
    assert found.n == 3


def test_answers_that_people_chose_are_not_in_the_random_sample():
    chosen = [row._replace(drawn=None) for row in rows(pf=5)]
    assert measured(chosen, Sample.DRAWN) == []
    assert measured(chosen, Sample.ALL)[0].n == 5


def test_parties_are_measured_apart():
    found = measured([*rows("a", pp=3), *rows("b", pf=2, ff=2)], Sample.ALL)
    assert [(one.party, one.n) for one in found] == [("a", 3), ("b", 4)]


@pytest.mark.parametrize(("failed", "is_lopsided"), [(1, True), (2, False)])
def test_a_rare_human_verdict_makes_a_sample_lopsided(failed, is_lopsided):
    assert measured(rows(pp=20 - failed, ff=failed), Sample.ALL)[0].is_lopsided is is_lopsided


def test_a_pass_rate_is_corrected_for_the_known_error():
    # se 0.9, sp 0.8: (0.7 + 0.8 - 1) / (0.9 + 0.8 - 1) = 0.5 / 0.7.
    tallies = [Tally(issue, 7, 3) for issue in range(9)] + [Tally(9, 6, 4), Tally(10, 8, 2)]
    found = corrected(tallies, rows(pp=9, fp=1, pf=2, ff=8))
    assert found.share == pytest.approx(5 / 7)
    assert found.low < found.share < found.high
    assert (found.n, found.why_not) == (20, "")


@pytest.mark.parametrize(
    ("checked", "why"),
    [
        ([], "No answer of this jury was drawn at random"),
        (rows(pp=4, fp=1), "Humans failed none of the 5 answers"),
        (rows(ff=4, pf=1), "Humans passed none of the 5 answers"),
        (rows(pp=1, fp=1, pf=1, ff=1), "no better than chance"),
    ],
)
def test_a_rate_that_cannot_be_corrected_has_a_reason(checked, why):
    found = corrected([Tally(1, 7, 3), Tally(2, 5, 5)], checked)
    assert found.share is None
    assert why in found.why_not


def test_a_run_in_which_nothing_was_scored_has_no_rate():
    found = corrected([], rows(pp=3, ff=3))
    assert found.share is None
    assert "scored no result" in found.why_not


def test_answers_that_people_chose_correct_nothing():
    chosen = [row._replace(drawn=None) for row in rows(pp=9, fp=1, pf=2, ff=8)]
    assert corrected([Tally(1, 7, 3), Tally(2, 5, 5)], chosen).share is None
