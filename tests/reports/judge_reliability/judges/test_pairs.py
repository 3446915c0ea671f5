import pytest

from reports.judge_reliability.judges.pairs_rule import (
    GivenScore,
    Pair,
    beside_peers,
    correlations,
    pairs_in,
    sums_of,
)

LEVELS = {"binary": [0, 1], "grades": [0, 0.25, 0.5, 0.75, 1]}


def binary(*criteria):
    """Criteria as rows of one value per judge 1, 2, 3 …; None: it gave none."""
    return [
        {
            judge: GivenScore("binary", value)
            for judge, value in enumerate(row, 1)
            if value is not None
        }
        for row in criteria
    ]


def pairs(criteria):
    return {(pair.first, pair.second): pair for pair in pairs_in(sums_of(criteria), LEVELS)}


def test_two_judges_are_compared_where_both_gave_a_value():
    found = pairs(binary((1, 1), (0, 0), (1, 0), (1, None), (0, 0), (1, 1)))
    pair = found[1, 2]
    assert (pair.n, pair.same) == (5, 4)
    # Observed 0.8; judge 1 says 1 three times of five, judge 2 twice: chance 0.6·0.4 + 0.4·0.6.
    assert pair.kappa == pytest.approx((0.8 - 0.48) / 0.52)


def test_fewer_than_five_criteria_have_no_kappa():
    pair = pairs(binary((1, 1), (0, 0), (1, 0), (1, 1)))[1, 2]
    assert (pair.n, pair.same, pair.kappa, pair.correlation) == (4, 3, None, None)


def test_values_on_two_scales_are_not_compared():
    mixed = [{1: GivenScore("binary", 1), 2: GivenScore("grades", 1)}] * 6
    assert pairs(mixed) == {}


def test_a_pair_is_compared_on_the_scale_with_most_criteria():
    graded = [{1: GivenScore("grades", 1), 2: GivenScore("grades", 0.75)}] * 6
    assert pairs([*graded, *binary((1, 0))])[1, 2].n == 6


def test_a_step_apart_on_a_fine_scale_counts_less_than_four():
    def kappa(other):
        rows = [(0, 0), (0.25, 0.25), (0.5, 0.5), (1, 1), (0, 0), (1, other)]
        graded = [{1: GivenScore("grades", a), 2: GivenScore("grades", b)} for a, b in rows]
        return pairs(graded)[1, 2].kappa

    assert kappa(0.75) > kappa(0.5) > kappa(0)


@pytest.mark.parametrize(("rare", "is_lopsided"), [(1, True), (3, False)])
def test_a_rare_verdict_makes_a_pair_lopsided(rare, is_lopsided):
    rows = [(0, 0)] * rare + [(1, 1)] * (20 - rare)
    assert pairs(binary(*rows))[1, 2].is_lopsided is is_lopsided


def test_one_verdict_throughout_has_no_kappa_and_is_lopsided():
    pair = pairs(binary(*[(1, 1)] * 6))[1, 2]
    assert pair.kappa is None
    assert pair.is_lopsided


def pair(first, second, kappa, correlation=None):
    return Pair(first, second, 9, 9, kappa, correlation, 0.5)


def test_a_judge_is_set_beside_its_peers():
    found = [pair(1, 2, 0.9), pair(1, 3, 0.2), pair(2, 3, 0.3)]
    assert beside_peers(3, found) == (0.3, 0.9)
    assert beside_peers(1, found) == (0.9, 0.3)


def test_two_judges_have_no_peers_to_compare_with():
    assert beside_peers(1, [pair(1, 2, 0.1)]) is None


def test_correlations_are_a_matrix_with_gaps():
    found = correlations([1, 2, 3], [pair(1, 2, 0.5, 0.4), pair(2, 3, 0.5, 0.6)])
    assert found == [[1, 0.4, None], [0.4, 1, 0.6], [None, 0.6, 1]]
