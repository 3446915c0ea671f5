from random import Random
from time import process_time

import pytest

from evalhub.statistics.judge_accuracy import JudgeCounts, judge_accuracy
from evalhub.statistics.judge_intervals import JudgeIntervals, judge_intervals
from evalhub.statistics.kappa import kappa_from_confusion
from evalhub.statistics.wilson import wilson_interval
from tests.evalhub.statistics.bootstrap_of import bootstrap_of


def clusters(n, *, size=5, seed=1):
    rng = Random(seed)
    kinds = [[rng.choices(range(4), (60, 8, 25, 7))[0] for _ in range(size)] for _ in range(n)]
    return [JudgeCounts(*(mine.count(kind) for kind in range(4))) for mine in kinds]


def added(matrices):
    return JudgeCounts(*map(sum, zip(*matrices, strict=True)))


STATISTICS = {
    "accuracy": lambda rows: judge_accuracy(added(rows)).accuracy,
    "precision": lambda rows: judge_accuracy(added(rows)).precision,
    "recall": lambda rows: judge_accuracy(added(rows)).recall,
    "sensitivity": lambda rows: judge_accuracy(added(rows)).sensitivity,
    "kappa": lambda rows: kappa_from_confusion(added(rows).as_pairs()),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_it_is_the_interval_that_the_general_bootstrap_finds(name):
    rows = clusters(30)
    found = getattr(judge_intervals(rows, seed=4, resamples=400), name)
    expected = bootstrap_of(STATISTICS[name], rows, range(30), seed=4, resamples=400)
    assert found == pytest.approx(expected, abs=1e-9)


def test_accuracy_of_single_answers_is_as_wide_as_wilsons():
    rows = [JudgeCounts(1, 0, 0, 0)] * 160 + [JudgeCounts(0, 1, 0, 0)] * 40
    found = judge_intervals(rows, seed=1).accuracy
    assert found == pytest.approx(wilson_interval(160, 200), abs=0.01)


def test_one_issue_tells_nothing_of_the_spread():
    assert judge_intervals([JudgeCounts(5, 2, 3, 1)], seed=1) == JudgeIntervals()


def test_figure_that_is_always_the_same_has_no_interval():
    found = judge_intervals([JudgeCounts(4, 0, 3, 0), JudgeCounts(2, 0, 5, 0)], seed=1)
    assert found == JudgeIntervals()


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
