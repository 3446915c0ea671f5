import pytest

from evalhub.statistics.agreement.alpha_bands import Band
from evalhub.statistics.interval import Interval
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from reports.judge_reliability.concerns_rule import (
    Concern,
    JudgeRecord,
    JuryRecord,
    Trust,
    concerns_about,
    concerns_about_jury,
    fails_often,
    trust_in,
    trust_of,
)
from reports.judge_reliability.trust_rule import Evidence, Proof, decide


def shown(passes, fails, issues=40):
    """What is shown of a judge that is right on these shares of each issue's 10 + 10 answers."""
    counts = JudgeCounts(passes, 10 - fails, fails, 10 - passes)
    return decide({"": Evidence.of([counts] * issues)})[""]


def texts_about(**fields):
    return [
        reason.text
        for reason in concerns_about(JudgeRecord(**{"asked": 100, "failed": 0, **fields}))
    ]


def texts_about_jury(alpha, band, *, made=50, expected=50):
    record = JuryRecord(alpha, band, 50, Interval(0.4, 0.6), made=made, expected=expected)
    return [reason.text for reason in concerns_about_jury(record)]


@pytest.mark.parametrize(
    "record",
    [
        {"humans": shown(10, 10), "peers": (0.9, 0.9)},
        {"humans": shown(10, 10), "peers": (0.3, 0.9)},  # humans outrank peers
        {"failed": 9},
        {"asked": 5, "failed": 2},  # may be chance
        # Where all disagree no judge is an outlier.
        *({"peers": peers} for peers in ((0.3, 0.5), (0.7, 0.9), None)),
    ],
)
def test_judge_without_bad_figures_raises_no_concern(record):
    assert texts_about(**record) == []


def test_judge_that_fails_too_often_is_named_with_its_numbers():
    for n in (10, 11):
        assert texts_about(failed=n) == [f"{n} of 100 judgments failed ({n}%)."]


@pytest.mark.parametrize(
    ("record", "trust"),
    [
        (JudgeRecord(asked=100, humans=shown(10, 10)), Trust.TRUSTED),
        (JudgeRecord(asked=100, humans=shown(9, 8)), Trust.CAUTION),
        (JudgeRecord(asked=100, humans=shown(10, 10, issues=4)), Trust.UNKNOWN),
        # One that judges itself is not trusted whatever humans say.
        (JudgeRecord(own_answers=1, humans=shown(10, 10)), Trust.UNRELIABLE),
    ],
)
def test_a_judge_is_trusted_that_humans_have_shown_to_be_right(record, trust):
    assert trust_of(record) is trust
    assert shown(9, 8).proof is Proof.OPEN


def test_few_human_evaluations_prove_nothing():
    assert texts_about(humans=shown(0, 0, issues=4)) == []


def test_a_judge_that_always_passes_is_unreliable():
    record = JudgeRecord(asked=100, humans=shown(10, 0))
    (concern,) = concerns_about(record)

    assert trust_of(record) is Trust.UNRELIABLE
    assert "specificity is significantly below 80%" in concern.text
    assert "specificity 0% (0 of 400 human fails of 40 issues" in concern.text
    assert "Wilson by issue, Holm" in concern.text


def test_judge_alone_against_two_that_agree_is_named():
    (reason,) = texts_about(peers=(0.3, 0.85))
    assert "kappa 0.3 at most" in reason
    assert "others reach 0.85" in reason


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


def test_jury_with_few_compared_pairs_is_unreliable_and_without_a_low_alpha_raises_no_concern():
    few = ["Only 39 of 50 expected judge pairs could be compared."]
    assert texts_about_jury(0.9, Band.RELIABLE, made=39) == few
    assert texts_about_jury(0.9, Band.RELIABLE, made=40) == []
    for band in (Band.RELIABLE, Band.NO_VARIATION, Band.NOT_ENOUGH_DATA):
        assert texts_about_jury(None, band) == [], band


def test_trust_without_a_serious_concern_depends_on_what_was_measured():
    small = Concern("a", is_serious=False)
    assert trust_in([small, Concern("b")]) is Trust.UNRELIABLE
    assert trust_in([]) is Trust.NO_CONCERNS
    assert trust_in([], is_known=False) is Trust.UNKNOWN
    assert trust_in([], is_shown=True) is Trust.TRUSTED
    assert trust_in([small], is_shown=True) is Trust.CAUTION


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
