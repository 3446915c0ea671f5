from random import Random
from time import process_time

import pytest

from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.judges.judge_intervals import JudgeIntervals, judge_intervals
from evalhub.statistics.rates.rate_interval import Method, rate_interval
from evalhub.statistics.rates.wilson import wilson_interval
from evalhub.statistics.resampling import expanded
from tests.evalhub.statistics.bootstrap_of import bootstrap_of


def clusters(n, *, size=5, seed=1):
    rng = Random(seed)
    kinds = [[rng.choices(range(4), (60, 8, 25, 7))[0] for _ in range(size)] for _ in range(n)]
    return [JudgeCounts(*(mine.count(kind) for kind in range(4))) for mine in kinds]


def added(matrices):
    return JudgeCounts(*map(sum, zip(*matrices, strict=True)))


def _kappa(rows):
    return kappa_from_confusion(added(rows).as_pairs())


def test_kappas_is_the_interval_that_the_general_bootstrap_finds():
    rows = clusters(30)
    found = judge_intervals(rows, seed=4, resamples=400).kappa
    expected = bootstrap_of(
        _kappa, rows, range(30), seed=4, resamples=400, level=expanded(0.95, 30)
    )
    assert found == pytest.approx(expected, abs=1e-9)


def test_shares_have_the_interval_of_pass_rates():
    # Of 6 issues, each with 10 answers that the judge passed or failed as (tp, fp, tf, ff).
    rows = [JudgeCounts(4, 1, 4, 1), JudgeCounts(5, 0, 3, 2), JudgeCounts(2, 3, 5, 0)] * 2
    found = judge_intervals(rows, seed=1)
    assert found.accuracy == rate_interval([(8, 10), (8, 10), (7, 10)] * 2)
    assert found.precision == rate_interval([(4, 5), (3, 5), (5, 5)] * 2)
    assert found.recall == rate_interval([(4, 5), (3, 3), (5, 8)] * 2)
    assert found.sensitivity == rate_interval([(4, 5), (5, 7), (2, 2)] * 2)
    assert {share.method for share in found[:4]} == {Method.BY_ISSUE}


def test_accuracy_of_single_answers_is_as_wide_as_wilsons():
    rows = [JudgeCounts(1, 0, 0, 0)] * 160 + [JudgeCounts(0, 1, 0, 0)] * 40
    found = judge_intervals(rows, seed=1).accuracy
    assert found.interval == pytest.approx(wilson_interval(160, 200), abs=0.01)


@pytest.mark.parametrize(("issues", "method"), [(4, Method.BY_TEST), (5, Method.BY_ISSUE)])
def test_below_five_issues_shares_are_by_test(issues, method):
    assert judge_intervals(clusters(issues, size=20), seed=1).accuracy.method is method


@pytest.mark.parametrize(("issues", "has_kappa"), [(1, False), (9, False), (10, True)])
def test_below_ten_issues_kappa_has_no_interval(issues, has_kappa):
    found = judge_intervals(clusters(issues, size=20), seed=1)
    assert (found.kappa is not None) is has_kappa


def test_judge_without_errors_is_not_certain_to_have_none():
    found = judge_intervals([JudgeCounts(4, 0, 3, 0), JudgeCounts(2, 0, 5, 0)] * 3, seed=1)
    assert found.accuracy.interval.low < 0.95
    assert found.kappa is None


def test_nothing_measured_has_no_interval():
    assert judge_intervals([], seed=1) == JudgeIntervals()


def test_judge_that_failed_nothing_has_no_interval_of_precision():
    found = judge_intervals([JudgeCounts(4, 1, 0, 0), JudgeCounts(2, 3, 0, 0)] * 5, seed=1)
    assert found.precision is None
    assert found.accuracy is not None


def test_issues_without_an_answer_do_not_count():
    rows = clusters(9)
    assert judge_intervals([*rows, JudgeCounts(0, 0, 0, 0)], seed=2) == judge_intervals(
        rows, seed=2
    )


def test_thousands_of_issues_take_no_time():
    rows = clusters(1000)
    start = process_time()
    judge_intervals(rows, seed=1)
    assert process_time() - start < 1


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="resamples >= 1"):
        judge_intervals(clusters(3), seed=1, resamples=0)
