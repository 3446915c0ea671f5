import numpy as np
import pytest
from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

from evalhub.statistics.agreement.alt_test import alt_test


def drawn(rng, answers, *, passes=0.7, right=0.85):
    """Return what is true, and readings by three readers."""
    true = rng.random(answers) < passes
    read = [
        {who: float(one if rng.random() < right else not one) for who in range(3)} for one in true
    ]
    return true, read


def test_p_of_each_reader_is_that_of_a_paired_t_test():
    rng = np.random.default_rng(3)
    true, read = drawn(rng, 80)
    judged = [float(one if rng.random() < 0.9 else not one) for one in true]
    found = alt_test(judged, read, allowance=0.15)

    assert found is not None
    assert found.is_enough
    for reader in range(3):
        differences = []
        for verdict, verdicts in zip(judged, read, strict=True):
            others = [one for who, one in verdicts.items() if who != reader]
            by_judge = np.mean([one == verdict for one in others])
            by_reader = np.mean([one == verdicts[reader] for one in others])
            differences.append((by_reader >= by_judge) * 1.0 - (by_judge >= by_reader))
        expected = ttest_1samp(differences, 0.15, alternative="less").pvalue
        assert found.p[reader] == pytest.approx(expected, abs=1e-9)


def test_where_most_answers_pass_a_judge_that_passes_everything_does_well():
    _, read = drawn(np.random.default_rng(5), 100, passes=0.95, right=0.95)
    found = alt_test([1.0] * 100, read, allowance=0.2)

    assert found is not None
    assert found.beaten == 1
    assert found.advantage > 0.9


def test_a_judge_that_is_always_wrong_beats_nobody():
    true, read = drawn(np.random.default_rng(6), 100, right=1.0)
    found = alt_test((~true).astype(float).tolist(), read)

    assert found is not None
    assert (found.beaten, found.advantage) == (0, 0)
    assert set(found.p.values()) == {1.0}


def test_few_readers_or_answers_are_too_few():
    true, read = drawn(np.random.default_rng(7), 49)
    found = alt_test(true.astype(float).tolist(), read)
    two = alt_test(true.astype(float).tolist(), [{0: one[0], 1: one[1]} for one in read])

    assert found is not None
    assert two is not None
    assert not found.is_enough
    assert not two.is_enough
    assert alt_test([1.0, 0.0], [{1: 1.0}, {2: 0.0}]) is None
    assert alt_test([], []) is None
