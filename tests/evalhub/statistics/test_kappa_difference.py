from random import Random

import pytest

from evalhub.statistics.agreement.kappa import kappa_from_confusion
from evalhub.statistics.agreement.kappa_difference import KappaDifference, kappa_difference
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from evalhub.statistics.resampling import expanded
from tests.evalhub.statistics.bootstrap_of import bootstrap_of


def matrices(n, *, size=6, seed=1):
    """Of two judges on the same answers: people pass 60 %, the second judge is right more often."""
    rng = Random(seed)
    found = []
    for _ in range(n):
        people = [rng.random() < 0.6 for _ in range(size)]
        pair = [[p if rng.random() < right else not p for p in people] for right in (0.7, 0.9)]
        found.append(tuple(_counts(said, people) for said in pair))
    return found


def _counts(judge, people):
    pairs = list(zip(judge, people, strict=True))
    order = [(True, True), (True, False), (False, False), (False, True)]
    return JudgeCounts(*(pairs.count(cell) for cell in order))


def _difference(rows):
    kappa = [
        kappa_from_confusion(JudgeCounts(*map(sum, zip(*side, strict=True))).as_pairs())
        for side in zip(*rows, strict=True)
    ]
    return None if None in kappa else kappa[1] - kappa[0]


def test_difference_of_known_kappas():
    # People pass 5 of 10. First: 4 of 5 right on either side, kappa 0.6; second: all right, 1.
    first, second = JudgeCounts(4, 1, 4, 1), JudgeCounts(5, 0, 5, 0)
    assert kappa_difference([(first, second)], seed=1).value == pytest.approx(0.4)


def test_interval_is_the_one_that_the_general_bootstrap_finds():
    rows = matrices(25)
    found = kappa_difference(rows, seed=4, resamples=400)
    expected = bootstrap_of(
        _difference, rows, range(25), seed=4, resamples=400, level=expanded(0.95, 25)
    )
    assert found.value == pytest.approx(_difference(rows))
    assert found.interval == pytest.approx(expected, abs=1e-9)


def test_judges_that_say_the_same_differ_by_nothing_and_have_no_interval():
    rows = [(first, first) for first, _ in matrices(10)]
    assert kappa_difference(rows, seed=1) == KappaDifference(0.0)


@pytest.mark.parametrize(("issues", "has_interval"), [(1, False), (9, False), (10, True)])
def test_fewer_than_ten_issues_have_no_interval(issues, has_interval):
    found = kappa_difference(matrices(issues, size=40), seed=1)
    assert found.value is not None
    assert (found.interval is not None) is has_interval


def test_undefined_kappa_makes_no_difference():
    all_pass = JudgeCounts(5, 0, 0, 0)
    assert kappa_difference([(all_pass, all_pass)] * 3, seed=1) == KappaDifference(None)
    assert kappa_difference([], seed=1) == KappaDifference(None)


def test_matrices_over_other_answers_are_refused():
    with pytest.raises(ValueError, match="the same answers"):
        kappa_difference([(JudgeCounts(1, 0, 0, 0), JudgeCounts(1, 1, 0, 0))], seed=1)
