"""The rules of a suite's gate as data."""

import pytest

from runs.suites.gate_policy import (
    GatePolicy,
    PolicyRefused,
    read_policy,
)


def test_without_options_a_worse_run_fails_and_a_blind_spot_is_unknown():
    assert read_policy({}).rules == ["conclusion", "blind_spot_points"]
    assert read_policy({}).in_words() == "it is worse on the whole, or surely lost an issue"
    assert read_policy({"conclusion": False, "min_pass_rate": 0.5}).rules == ["min_pass_rate"]


def test_all_rules_in_words():
    policy = GatePolicy(
        level=0.01,
        max_worsening_points=5,
        max_net_loss_points=2.5,
        failing_severity="high",
        min_pass_rate=0.8,
        max_p90_latency_ms=4000,
        max_mean_cost_usd=0.02,
    )

    assert policy.in_words() == (
        "it is worse on the whole, or surely lost an issue; or it may be worse by more than 5 "
        "points; or it loses more than 2.5 points on balance; or a test of an issue of severity "
        "high or worse fails; or less than 80% of its results pass; or the 90th percentile of "
        "latency exceeds 4,000 ms; or an answer costs more than $0.020 on average"
    )
    assert policy.is_comparing
    assert len(policy.rules) == 8


def test_a_pass_rate_of_all_says_that_it_is_never_reached():
    policy = GatePolicy(conclusion=False, min_pass_rate=1)

    assert policy.in_words() == (
        "less than 100% of its results pass (no number of tests can show that all would)"
    )


def test_a_limit_of_zero_is_a_rule():
    policy = GatePolicy(conclusion=False, max_net_loss_points=0)

    assert policy.rules == ["max_net_loss_points"]
    assert policy.changes() == {"conclusion": False, "max_net_loss_points": 0}


def test_rules_on_the_run_alone_need_no_other_run():
    assert not GatePolicy(conclusion=False, min_pass_rate=0.5).is_comparing


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"max_loss": 3}, "max_loss"),
        ({"min_pass_rate": 80}, r"min_pass_rate: .*less than or equal to 1 \(given: 80\)"),
        ({"level": 0}, "level"),
        ({"failing_severity": "grave"}, "grave"),
        ({"max_mean_cost_usd": float("nan")}, "max_mean_cost_usd"),
        ({"conclusion": False}, "Turn on at least one rule"),
        ([], "dictionary"),
    ],
)
def test_what_is_wrong_is_named(values, words):
    with pytest.raises(PolicyRefused, match=words):
        read_policy(values)
