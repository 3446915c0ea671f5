import pytest

from evalhub.statistics.krippendorff import Band
from reports.judge_reliability.judges.concerns_rule import (
    JuryRecord,
    Reason,
    Record,
    Trust,
    concerns_about,
    concerns_about_jury,
    trust_in,
)


def told(**fields):
    return [
        reason.text for reason in concerns_about(Record(**{"asked": 100, "failed": 0, **fields}))
    ]


def panel(alpha, band, *, made=50, expected=50):
    record = JuryRecord(alpha, band, units=50, made=made, expected=expected)
    return [reason.text for reason in concerns_about_jury(record)]


def test_judge_of_which_nothing_bad_is_known_is_not_doubted():
    assert told(kappa=0.8, checked=50, informative=True, peers=(0.9, 0.9)) == []


def test_judge_that_fails_too_often_is_named_with_its_numbers():
    assert told(failed=11) == ["11 of 100 verdicts failed (11%); more than 10% is too many."]
    assert told(failed=10) == []


def test_two_failures_of_few_verdicts_are_chance():
    assert told(asked=5, failed=2) == []


def test_judge_that_surely_agrees_too_little_with_people_is_doubted():
    record = Record(100, 0, kappa=0.41, kappa_bounds=(0.2, 0.6), checked=60, informative=True)
    (reason,) = concerns_about(record)
    assert reason.is_grave
    assert "kappa 0.41 (0.2 to 0.6) on 60 answers drawn at random" in reason.text


@pytest.mark.parametrize("bounds", [(0.1, 0.8), None])
def test_a_low_kappa_that_may_be_chance_is_a_reason_for_caution(bounds):
    record = Record(100, 0, kappa=0.41, kappa_bounds=bounds, checked=60, informative=True)
    assert trust_in(concerns_about(record)) is Trust.CAREFUL


def test_few_answers_of_people_prove_nothing():
    assert told(kappa=0.1, kappa_bounds=(0, 0.2), checked=19, informative=False, rarer=9) == []


def test_judge_no_better_than_a_coin_is_told_so():
    (reason,) = told(kappa=-0.2, checked=60, informative=False, rarer=5)
    assert "no better than a coin" in reason


def test_one_wrong_verdict_on_a_rare_kind_does_not_make_a_coin():
    assert told(checked=60, informative=False, rarer=4) == []


def test_judge_alone_against_two_that_agree_is_named():
    (reason,) = told(peers=(0.3, 0.85))
    assert "kappa 0.3 at most" in reason
    assert "others reach 0.85" in reason


@pytest.mark.parametrize("peers", [(0.3, 0.5), (0.7, 0.9), None])
def test_where_all_disagree_nobody_stands_alone(peers):
    assert told(peers=peers) == []


def test_judge_run_own_answers_is_grave_and_being_scripted_is_not():
    reasons = concerns_about(Record(asked=5, failed=0, own_answers=2, is_scripted=True))
    assert [reason.is_grave for reason in reasons] == [True, False]
    assert "in 2 judge runs" in reasons[0].text


def test_panel_below_tentative_agrees_too_little():
    (reason,) = panel(0.5, Band.UNRELIABLE)
    assert reason == "Its judges agree too little: alpha 0.5 over 50 criteria, below 0.667."


def test_tentative_panel_is_a_reason_for_caution():
    reasons = concerns_about_jury(JuryRecord(0.7, Band.TENTATIVE, 50, 50, 50))
    assert trust_in(reasons) is Trust.CAREFUL


@pytest.mark.parametrize("band", [Band.RELIABLE, Band.NO_VARIATION, Band.TOO_LITTLE_DATA])
def test_panel_without_a_low_alpha_is_not_doubted(band):
    assert panel(None, band) == []


def test_panel_that_was_hardly_heard_is_doubted():
    assert panel(0.9, Band.RELIABLE, made=39) == [
        "Only 39 of 50 comparisons between its judges could be made."
    ]
    assert panel(0.9, Band.RELIABLE, made=40) == []


def test_one_grave_reason_is_enough():
    assert trust_in([Reason("a", is_grave=False), Reason("b")]) is Trust.DOUBTED


def test_no_reason_is_no_doubt_only_where_something_is_known():
    assert trust_in([]) is Trust.NO_DOUBT
    assert trust_in([], is_known=False) is Trust.UNKNOWN
