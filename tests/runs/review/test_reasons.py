import pytest

from runs.review.reasons import REASONS, Facts, as_json, reason_descriptions, reasons_of, severity


def description(**facts):
    return [reason.description for reason in reasons_of(Facts(**facts))]


def test_unremarkable_answer_has_no_reasons():
    assert reasons_of(Facts(passing=3, expected=3, answered=3, agreement=1.0, passed=True)) == ()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"is_disputed": True}, "Annotators disagree on it"),
        ({"passing": 2, "failing": 1}, "Two judges pass it, one fails it"),
        ({"passing": 1, "failing": 12}, "One judge passes it, 12 fail it"),
        ({"split": 2}, "Judges are split on two criteria"),
        ({"expected": 3, "answered": 2}, "One of three judgments is missing"),
        ({"expected": 9, "answered": 7}, "Two of nine judgments are missing"),
        ({"expected": 2, "is_unscored": True}, "No judge gave a verdict"),
        ({"is_unscored": True}, "Not judged"),
        ({"is_unscored": True, "expected": 2, "answered": 2}, "Unscored"),
        ({"agreement": 0.666}, "Low judge agreement (alpha 0.67)"),
        ({"agreement": -0.2}, "Low judge agreement (alpha -0.2)"),
        (
            {"passed": False, "passed_before": True, "before": "r4"},
            "Failed now, passed in r4 (one answer each, not tested)",
        ),
        (
            {"passed": True, "passed_before": False, "before": "r4"},
            "Passed now, failed in r4 (one answer each, not tested)",
        ),
        ({"weight": 2.0}, "Test weight 2"),
    ],
)
def test_reason_description(facts, words):
    assert description(**facts) == [words]


@pytest.mark.parametrize(
    "facts",
    [
        {"agreement": 0.667},
        {"agreement": None},
        {"passed": None, "passed_before": True, "before": "r4"},
        {"passed": True, "passed_before": None, "before": "r4"},
        {"passed": True, "passed_before": True, "before": "r4"},
        {"weight": 1.9},
        {"passing": 3},
        {"failing": 3},
    ],
)
def test_facts_without_a_reason(facts):
    assert description(**facts) == []


def test_most_severe_reason_comes_first():
    facts = Facts(weight=3, agreement=0.1, expected=3, answered=2, passing=1, failing=1)

    reasons = reasons_of(facts)

    keys = ["judges_disagree", "judge_failed", "low_agreement", "high_weight"]
    assert [reason.key for reason in reasons] == keys
    assert severity(reasons) == list(REASONS).index("judges_disagree")


def test_random_item_has_its_reasons_and_random_the_least_severe():
    reasons = as_json(reasons_of(Facts(weight=3)))

    assert reason_descriptions(reasons, is_random=True) == ["Test weight 3", "Random sample"]
    assert severity(()) == len(REASONS) - 1
