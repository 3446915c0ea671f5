from random import Random

import pytest

from evalhub.statistics.agreement.kappa import confusion, kappa_from_confusion
from evalhub.statistics.judges.judge_accuracy import JudgeCounts, judge_accuracy, judge_counts


def verdicts(n, *, seed):
    rng = Random(seed)
    people = [rng.random() < 0.7 for _ in range(n)]
    judge = [verdict ^ (rng.random() < 0.2) for verdict in people]
    return judge, people


def test_pairs_are_counted_by_hand():
    judge = [True, True, True, False, False, None, True]
    people = [True, False, True, False, True, True, None]
    assert judge_counts(judge, people) == JudgeCounts(
        true_pass=2, false_pass=1, true_fail=1, false_fail=1
    )


def test_published_value():
    # A. Agresti, An Introduction to Categorical Data Analysis, section 2.1 (mammograms): of those
    # with cancer 0.86 are found, of those without 0.88 are cleared, and 0.01 have it; then 0.07 of
    # those that are called back have it. Of 10,000: 86 found, 14 missed, 1188 false alarms.
    found = judge_accuracy(JudgeCounts(8712, false_pass=14, true_fail=86, false_fail=1188))
    assert round(found.precision, 2) == 0.07
    assert (found.recall, found.sensitivity) == (0.86, 0.88)
    assert found.prevalence == 0.99
    assert found.accuracy == pytest.approx(0.8798)


def test_nothing_compared_is_not_measured():
    assert judge_accuracy(judge_counts([None], [True])) == (0, None, None, None, None, None, None)


def test_judge_that_passes_everything_has_no_precision():
    found = judge_accuracy(JudgeCounts(true_pass=8, false_pass=2, true_fail=0, false_fail=0))
    assert (found.precision, found.recall, found.sensitivity) == (None, 0, 1)


def test_recall_is_none_if_annotators_pass_everything():
    found = judge_accuracy(JudgeCounts(true_pass=8, false_pass=0, true_fail=0, false_fail=2))
    assert (found.precision, found.recall, found.specificity) == (0, None, None)


def test_kappa_comes_from_the_same_counts():
    judge, people = verdicts(60, seed=1)
    counts = judge_counts(judge, people)
    whole = kappa_from_confusion(confusion(judge, people))
    assert kappa_from_confusion(counts.as_pairs()) == whole


def test_count_of_none_gives_kappa_no_level():
    assert kappa_from_confusion(JudgeCounts(9, 0, 0, 0).as_pairs()) is None


def test_counts_equal_scipy(scipy_stats):
    judge, people = verdicts(300, seed=2)
    counts = judge_counts(judge, people)
    table = scipy_stats.contingency.crosstab(judge, people).count
    assert table.tolist() == [
        [counts.true_fail, counts.false_fail],
        [counts.false_pass, counts.true_pass],
    ]


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="got 2, 1"):
        judge_counts([True, False], [True])


def test_negative_count_is_refused():
    with pytest.raises(ValueError, match=r"got \(1, -1, 0, 0\)"):
        judge_accuracy(JudgeCounts(1, -1, 0, 0))
