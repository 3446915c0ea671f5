"""The rules of the gate one by one, and the decision made of their lines."""

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.changes.conclusion import Outcome, Pair, conclude
from reports.compare.rule import Tally
from reports.gate.change_rules import Change, change_lines, net_loss_rule
from reports.gate.exit_codes import ExitCode
from reports.gate.precondition_rules import (
    Matching,
    ScoredResults,
    comparable_rule,
    done_rule,
    scored_rule,
)
from reports.gate.rule import CONDITIONS, TITLES, GateLine, Remedy, Verdict, decide, skipped
from reports.gate.single_run_rules import (
    PassRate,
    SevereTest,
    cost_rule,
    latency_rule,
    pass_rate_rule,
    severity_rule,
)
from runs.figures.rate import rate_of_issues
from runs.suites.gate_policy import GatePolicy
from tests.evalhub.statistics.planted_changes import SAME, spread

HOLDS, FAILS, UNKNOWN = Verdict.HOLDS, Verdict.DOES_NOT_HOLD, Verdict.CANNOT_TELL


# The decision ------------------------------------------------------------------------------------


def code_of(**verdicts):
    return decide([GateLine(rule, verdict, rule) for rule, verdict in verdicts.items()]).code


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"scored": HOLDS, "min_pass_rate": HOLDS}, ExitCode.HOLDS),
        ({"scored": HOLDS, "min_pass_rate": FAILS}, ExitCode.DOES_NOT_HOLD),
        ({"scored": HOLDS, "min_pass_rate": UNKNOWN}, ExitCode.CANNOT_TELL),
        ({"min_pass_rate": UNKNOWN, "max_net_loss_points": FAILS}, ExitCode.DOES_NOT_HOLD),
        ({"scored": UNKNOWN, "min_pass_rate": FAILS}, ExitCode.CANNOT_TELL),
        ({"comparable": UNKNOWN, "min_pass_rate": FAILS}, ExitCode.CANNOT_TELL),
    ],
)
def test_conditions_come_first_then_what_does_not_hold_then_what_is_unknown(verdicts, expected):
    assert code_of(**verdicts) == expected


lines = st.dictionaries(st.sampled_from(list(TITLES)), st.sampled_from(Verdict), min_size=1)


@given(lines)
def test_the_exit_code_is_0_only_if_every_rule_holds(verdicts):
    assert (code_of(**verdicts) == ExitCode.HOLDS) == (set(verdicts.values()) == {HOLDS})


@given(lines)
def test_the_exit_code_is_1_only_if_all_conditions_hold(verdicts):
    if code_of(**verdicts) == ExitCode.DOES_NOT_HOLD:
        assert all(v == HOLDS for rule, v in verdicts.items() if rule in CONDITIONS)


def test_the_reason_names_every_rule_that_decides():
    wrong = {"min_pass_rate": "Too low.", "max_mean_cost_usd": "Too dear."}
    lines = [GateLine(rule, FAILS, sentence) for rule, sentence in wrong.items()]
    assert decide([GateLine("scored", HOLDS, "Enough."), *lines]).reason == "Too low. Too dear."
    assert skipped("min_pass_rate").verdict == UNKNOWN


# Conditions --------------------------------------------------------------------------------------


def scored(scored=10, **others):
    counts = {"errors": 0, "unscored": 0, "pending": 0} | others
    return scored_rule("scored", ScoredResults(run=7, name="April", scored=scored, **counts))


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (scored(19, errors=1), HOLDS),
        (scored(18, errors=1), UNKNOWN),
        (scored(18, unscored=1), UNKNOWN),
        (scored(18, pending=1), UNKNOWN),
        (scored(0), UNKNOWN),
    ],
)
def test_95_percent_have_to_be_scored(found, verdict):
    # 19 of 20 are 95 %, 18 of 19 are 94.7 %.
    assert found.verdict == verdict


def test_failed_results_are_retried():
    found = scored(6, errors=4)

    assert found.sentence == (
        "April: 6 of 10 results are scored (60%); the gate needs 95%: 4 ended in an error. "
        "Retry 4 failed on the page of run 7."
    )
    assert found.remedy.path == "/api/v1/runs/7/retry_errors/"
    assert (found.value, found.n) == (0.6, 10)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"pending": 4}, "Wait for"),
        ({"unscored": 4}, "Re-judge run 7"),
        ({"errors": 1, "unscored": 3, "retried": 2}, "1 ended in an error and 3 unscored"),
        ({"errors": 1, "unscored": 3, "retried": 2}, "Retry 3 failed"),
    ],
)
def test_what_is_missing_says_what_to_do(others, words):
    assert words in scored(6, **others).sentence


def test_a_run_at_work_has_no_final_figures():
    assert done_rule("April", "judging", is_running=True, n=3).verdict == UNKNOWN
    assert "resume it" in done_rule("April", "paused", is_running=False, n=3).sentence


@pytest.mark.parametrize(
    ("matched", "total", "verdict"),
    [(20, 20, HOLDS), (19, 20, HOLDS), (18, 20, UNKNOWN), (0, 20, UNKNOWN), (0, 0, UNKNOWN)],
)
def test_runs_of_other_tests_are_not_comparable(matched, total, verdict):
    assert comparable_rule(Matching("March", matched, total)).verdict == verdict


def test_another_jury_offers_to_re_judge():
    remedy = Remedy("Re-judge it.", "/api/v1/runs/7/rejudge/", (("like", 6),))
    found = comparable_rule(Matching("March", 20, 20, "Different juries.", remedy))

    assert (found.verdict, found.remedy) == (UNKNOWN, remedy)
    assert found.sentence == "Not comparable with March. Different juries. Re-judge it."
    alone = comparable_rule(Matching(""))
    assert alone.verdict == UNKNOWN
    assert "no run to compare with" in alone.sentence


# The change --------------------------------------------------------------------------------------


def change(layout=(), edited=(), missing=0):
    """The change of a layout (`planted_changes`); of `missing` more tests the answers failed."""
    changes, issues = spread(list(layout))
    old = [0.0 if one > 0 else 1.0 for one in changes]
    pairs = [
        Pair(issue, Outcome.whole(was), Outcome.whole(was + one))
        for one, issue, was in zip(changes, issues, old, strict=True)
    ]
    pairs += [Pair(99, Outcome.whole(1.0), Outcome(None)) for _ in range(missing)]
    tally = Tally(
        changes.count(-1), changes.count(1), changes.count(0), fmean(changes) if changes else None
    )
    return Change(tally, conclude(pairs), ("March", "April"), {}, edited)


def exit_of(found, **policy):
    return decide(change_lines(found, GatePolicy(**policy))).code


def test_nothing_compared_is_unknown():
    assert exit_of(change()) == ExitCode.CANNOT_TELL


def test_an_allowance_needs_the_whole_interval_within_it():
    assert exit_of(change([SAME] * 20), max_worsening_points=5) == 0
    assert exit_of(change([(9, 0, 1)] * 20), max_worsening_points=5, conclusion=False) == 1


def test_what_is_missing_cannot_let_a_loss_through():
    few = change([(0, 0, 10)] * 10, missing=30)

    assert exit_of(few) == ExitCode.CANNOT_TELL
    said = change_lines(few, GatePolicy())[0].sentence
    assert "missing behind 30 tests of April, which could hide a loss" in said


def test_an_edited_test_that_fails_now_must_be_looked_at():
    found = change([SAME] * 20, edited=["test 4 (Dates)"])

    assert exit_of(found) == ExitCode.CANNOT_TELL
    assert "test 4 (Dates)" in change_lines(found, GatePolicy())[-1].sentence


def test_a_gate_that_holds_repeats_what_is_known():
    reason = decide(change_lines(change([(2, 0, 38)]), GatePolicy())).reason

    assert "Cannot tell: lost 2, won 0 of the same 40 tests." in reason
    assert "A loss of more than 16.5 points is excluded." in reason


def test_what_is_missing_may_be_a_net_loss():
    found = change([SAME] * 10, missing=5)
    assert exit_of(found, conclusion=False, max_net_loss_points=4) == ExitCode.CANNOT_TELL
    assert exit_of(found, conclusion=False, max_net_loss_points=5) == ExitCode.HOLDS


@pytest.mark.parametrize(("limit", "code"), [(10, 0), (9.9, 1)])
def test_a_net_loss_is_a_count_on_these_tests(limit, code):
    # 2 of 20 tests are 10 points.
    found = change([(3, 0, 0), (0, 1, 0), (0, 0, 16)])
    assert exit_of(found, conclusion=False, max_net_loss_points=limit) == code
    line = net_loss_rule(found, limit)
    assert (line.value, line.n) == (pytest.approx(10), 20)


# The run alone -----------------------------------------------------------------------------------


def severe(*counts):
    """One test for each: its answers, those that pass at least, and at most."""
    return [SevereTest(f"test {n} (Sums)", *one) for n, one in enumerate(counts, 1)]


@pytest.mark.parametrize(
    ("tests", "verdict"),
    [
        (severe((1, 1, 1), (5, 3, 3)), HOLDS),
        (severe(), UNKNOWN),
        (severe((1, 1, 1), (1, 0, 1)), UNKNOWN),
        (severe((5, 3, 4)), HOLDS),
        (severe((2, 1, 1)), FAILS),
        (severe((1, 0, 1), (1, 0, 0)), FAILS),
    ],
)
def test_no_severe_test_may_fail_and_one_that_lacks_judgments_may(tests, verdict):
    assert severity_rule(tests, "high").verdict == verdict


def test_failing_tests_are_named():
    found = severity_rule(severe((1, 0, 0), (1, 1, 1), (2, 1, 1)), "critical")

    assert found.sentence == (
        "2 of 3 tests of issues of severity critical fail: test 1 (Sums), test 3 (Sums)."
    )


def rate(passed, n, missing=0):
    """Of a run whose tests have an issue each; of so many more answers nothing is known."""

    def of(one, total):
        issues = [(1, 1)] * one + [(0, 1)] * (total - one)
        return rate_of_issues(issues, answers=1)

    whole = n + missing
    return PassRate(of(passed, n), of(passed, whole), of(passed + missing, whole))


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (rate(90, 100), HOLDS),
        (rate(82, 100), UNKNOWN),
        (rate(90, 100, missing=5), UNKNOWN),
        (rate(71, 100), FAILS),
        (rate(71, 100, missing=5), UNKNOWN),
        (rate(0, 0), UNKNOWN),
    ],
)
def test_a_pass_rate_has_to_reach_the_limit_whatever_is_missing(found, verdict):
    assert pass_rate_rule(found, 0.8).verdict == verdict


@pytest.mark.parametrize(
    ("latencies", "answers", "verdict"),
    [
        ([100] * 90 + [900] * 10, 100, HOLDS),
        ([100] * 89 + [900] * 11, 100, FAILS),
        ([100] * 18, 20, UNKNOWN),
        ([], 0, UNKNOWN),
    ],
)
def test_nine_answers_in_ten_have_to_be_quick(latencies, answers, verdict):
    assert latency_rule(latencies, answers, 100).verdict == verdict


@pytest.mark.parametrize(
    ("costs", "answers", "verdict"),
    [([0.01, 0.03], 2, HOLDS), ([0.01, 0.04], 2, FAILS), ([0.01], 2, UNKNOWN)],
)
def test_answers_may_cost_so_much_on_average(costs, answers, verdict):
    assert cost_rule(costs, answers, 0.02).verdict == verdict


def test_a_mean_cost_has_its_interval():
    # Mean 2, s = 1, n = 3: 2 ± 4.303 · 1 / √3 = 2 ± 2.484; costs are not negative.
    assert cost_rule([1.0, 2.0, 3.0], 3, 5).interval == pytest.approx((0, 4.484), abs=0.001)


ANY = [
    scored(6, errors=4),
    comparable_rule(Matching("March", 18, 20)),
    *change_lines(change([(5, 1, 14)]), GatePolicy(max_net_loss_points=10)),
    severity_rule(severe((1, 1, 1)), "high"),
    pass_rate_rule(rate(82, 100), 0.8),
    latency_rule([100] * 40, 40, 100),
    cost_rule([0.01, 0.03], 2, 0.02),
]


@pytest.mark.parametrize("line", ANY, ids=lambda line: line.rule)
def test_every_line_has_n_its_limit_and_a_method(line):
    assert line.limit is not None
    assert all((line.n, line.method, line.title))
