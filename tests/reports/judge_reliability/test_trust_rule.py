import pytest

from evalhub.statistics.alpha_bands import Band
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from reports.judge_reliability.trust_rule import (
    MIN_CHECKED,
    Concern,
    JudgeRecord,
    JuryRecord,
    Trust,
    accuracy_low,
    concerns_about,
    concerns_about_jury,
    fails_often,
    is_accurate,
    trust_in,
)


def texts_about(**fields):
    return [
        reason.text
        for reason in concerns_about(JudgeRecord(**{"asked": 100, "failed": 0, **fields}))
    ]


def texts_about_jury(alpha, band, *, made=50, expected=50):
    record = JuryRecord(alpha, band, 50, Interval(0.4, 0.6), made=made, expected=expected)
    return [reason.text for reason in concerns_about_jury(record)]


def test_judge_without_bad_figures_raises_no_concern():
    assert texts_about(kappa=0.8, checked=50, informative=True, peers=(0.9, 0.9)) == []


def test_judge_that_fails_too_often_is_named_with_its_numbers():
    assert texts_about(failed=11) == ["11 of 100 judgments failed (11%)."]
    assert texts_about(failed=10) == ["10 of 100 judgments failed (10%)."]
    assert texts_about(failed=9) == []


def test_two_failures_of_few_verdicts_are_chance():
    assert texts_about(asked=5, failed=2) == []


def test_kappa_significantly_too_low_is_a_serious_concern():
    record = JudgeRecord(
        100, 0, kappa=0.41, kappa_interval=Interval(0.2, 0.6), checked=60, informative=True
    )
    (reason,) = concerns_about(record)
    assert reason.is_serious
    assert "kappa 0.41 (0.2 to 0.6) on 60 answers drawn at random" in reason.text


@pytest.mark.parametrize("bounds", [Interval(0.1, 0.8), None])
def test_a_low_kappa_that_may_be_chance_is_a_reason_for_caution(bounds):
    record = JudgeRecord(100, 0, kappa=0.41, kappa_interval=bounds, checked=60, informative=True)
    assert trust_in(concerns_about(record)) is Trust.CAUTION


def test_few_human_evaluations_prove_nothing():
    assert (
        texts_about(
            kappa=0.1, kappa_interval=Interval(0, 0.2), checked=19, informative=False, rarer=9
        )
        == []
    )


def test_judge_no_better_than_chance_is_named():
    (reason,) = texts_about(kappa=-0.2, checked=60, informative=False, rarer=5)
    assert "no better than chance" in reason


def test_few_of_the_rarer_outcome_do_not_show_chance():
    assert texts_about(checked=60, informative=False, rarer=4) == []


def test_judge_alone_against_two_that_agree_is_named():
    (reason,) = texts_about(peers=(0.3, 0.85))
    assert "kappa 0.3 at most" in reason
    assert "others reach 0.85" in reason


@pytest.mark.parametrize("peers", [(0.3, 0.5), (0.7, 0.9), None])
def test_where_all_disagree_no_judge_is_an_outlier(peers):
    assert texts_about(peers=peers) == []


def test_self_evaluation_is_serious_and_being_scripted_is_not():
    reasons = concerns_about(JudgeRecord(asked=5, failed=0, own_answers=2, is_scripted=True))
    assert [reason.is_serious for reason in reasons] == [True, False]
    assert "in 2 judge runs" in reasons[0].text


def test_jury_below_tentative_disagrees_too_often():
    (reason,) = texts_about_jury(0.5, Band.UNRELIABLE)
    assert (
        reason == "Its judges disagree too often: alpha 0.5 (0.4 to 0.6) over 50 criteria, "
        "significantly below 0.667."
    )


def test_tentative_jury_calls_for_caution():
    reasons = concerns_about_jury(JuryRecord(0.7, Band.TENTATIVE, 50, Interval(0.68, 0.72), 50, 50))
    assert trust_in(reasons) is Trust.CAUTION


@pytest.mark.parametrize("band", [Band.RELIABLE, Band.NO_VARIATION, Band.NOT_ENOUGH_DATA])
def test_jury_without_a_low_alpha_raises_no_concern(band):
    assert texts_about_jury(None, band) == []


def test_jury_with_few_compared_pairs_is_unreliable():
    assert texts_about_jury(0.9, Band.RELIABLE, made=39) == [
        "Only 39 of 50 expected judge pairs could be compared."
    ]
    assert texts_about_jury(0.9, Band.RELIABLE, made=40) == []


def test_one_serious_concern_is_enough():
    assert trust_in([Concern("a", is_serious=False), Concern("b")]) is Trust.UNRELIABLE


def test_trust_without_concerns_depends_on_what_was_measured():
    assert trust_in([]) is Trust.NO_CONCERNS
    assert trust_in([], is_known=False) is Trust.UNKNOWN
    assert trust_in([], is_accurate=True) is Trust.RELIABLE
    assert trust_in([Concern("a", is_serious=False)], is_accurate=True) is Trust.CAUTION


@pytest.mark.parametrize(
    ("failed", "asked", "expected"),
    [
        (4, 5, True),
        (2, 5, False),  # too few to tell
        (3, 100, False),  # less than a tenth
        (3, 30, True),  # exactly a tenth
        (30, 100, True),  # even where its peers fail as often
        (5, 5, True),  # even without peers
        (0, 0, False),
    ],
)
def test_judge_fails_often_from_three_failures_and_a_tenth_on(failed, asked, expected):
    assert fails_often(asked, failed) is expected


def test_accuracy_not_shown_to_be_90_percent_calls_for_caution():
    record = JudgeRecord(checked=60, right=50, kappa=0.7, informative=True, rarer=20)
    (concern,) = concerns_about(record)
    assert not concern.is_serious
    assert "right on 50 of 60" in concern.text


def test_accurate_judge_no_better_than_chance_is_not_reliable():
    # Always "pass" where humans fail 10 of 200: right 95% of the time, and blind to every failure.
    record = JudgeRecord(checked=200, right=190, informative=False, rarer=10)
    assert record.is_accurate
    assert trust_in(concerns_about(record), is_accurate=True) is Trust.UNRELIABLE


@pytest.mark.parametrize(("n", "expected"), [(34, False), (35, True)])
def test_judge_that_never_errs_is_accurate_from_35_answers_on(n, expected):
    # Wilson's lower bound of n/n is n / (n + z²): 34 / 37.84 = 0.8985, 35 / 38.84 = 0.9011.
    assert is_accurate(n, n) is expected


@pytest.mark.parametrize(("n", "expected"), [(MIN_CHECKED - 1, None), (MIN_CHECKED, False)])
def test_accuracy_needs_enough_answers(n, expected):
    assert is_accurate(n, n) is expected


def test_accuracy_is_unknown_without_answers():
    assert accuracy_low(0, 0) is None
    assert is_accurate(0, 0) is None


def test_the_lower_of_the_two_bounds_counts():
    assert accuracy_low(95, 100, Interval(0.7, 1.0)) == 0.7
    assert accuracy_low(95, 100, Interval(0.99, 1.0)) == wilson_interval(95, 100).low
    assert is_accurate(100, 100, Interval(0.8, 1.0)) is False
