from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.ranking.rank_sets import Pair, rank_sets

ALL_APART = [Pair(a, b, 1, 0) for a, b in combinations("abcd", 2)]
# a is surely better than c and d; b is surely better than d only; nothing else is sure.
SOME_APART = [
    *(Pair("a", "b", 0.1, 0.4), Pair("a", "c", 0.2, 0.03), Pair("d", "a", -0.4, 0.001)),
    *(Pair("b", "c", 0.1, 0.2), Pair("b", "d", 0.3, 0.01), Pair("c", "d", 0.2, None)),
]


@pytest.mark.parametrize(
    ("items", "pairs", "sets"),
    [
        ("abcd", SOME_APART, {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}),
        ("abcd", ALL_APART, {"a": (1, 1), "b": (2, 2), "c": (3, 3), "d": (4, 4)}),
        ("abc", [], {"a": (1, 3), "b": (1, 3), "c": (1, 3)}),
        ("a", [], {"a": (1, 1)}),
        ("", [], {}),
        ("ab", [Pair("a", "b", 0, 0)], {"a": (1, 2), "b": (1, 2)}),
        # What Holm multiplies may come out a little above what it stands for.
        ("ab", [Pair("a", "b", 1, 0.05 + 1e-12)], {"a": (1, 1), "b": (2, 2)}),
        ("ab", [Pair("a", "b", 1, 0.0501)], {"a": (1, 2), "b": (1, 2)}),
    ],
)
def test_known_sets(items, pairs, sets):
    assert rank_sets(items, pairs) == sets


@given(st.data())
def test_every_set_holds_the_rank_by_score(data):
    scores = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=8))
    items = range(len(scores))
    pairs = [
        Pair(i, j, scores[i] - scores[j], data.draw(st.none() | st.floats(0, 1)))
        for i, j in combinations(items, 2)
    ]
    for item, (best, worst) in rank_sets(items, pairs).items():
        above = sum(score > scores[item] for score in scores)
        below = sum(score < scores[item] for score in scores)
        assert 1 <= best <= 1 + above
        assert len(scores) - below <= worst <= len(scores)


def test_sets_hold_all_true_ranks_nineteen_times_in_twenty(scipy_stats):
    # Five models, 0.25 apart, each measured with a standard error of 0.1; z-tests of all pairs.
    rng, held = np.random.default_rng(1), 0
    for _ in range(400):
        seen = np.arange(5) * -0.25 + rng.normal(0, 0.1, 5)
        places = list(combinations(range(5), 2))
        z = [(seen[i] - seen[j]) / (0.1 * 2**0.5) for i, j in places]
        ps = holm(list(2 * scipy_stats.norm.sf(np.abs(z))))
        pairs = [Pair(i, j, d, p) for (i, j), d, p in zip(places, z, ps, strict=True)]
        held += all(
            best <= 1 + i <= worst for i, (best, worst) in rank_sets(range(5), pairs).items()
        )
    assert held / 400 >= 0.95


@pytest.mark.parametrize(
    "pairs",
    [
        [Pair("a", "a", 1, 0.1)],
        [Pair("a", "z", 1, 0.1)],
        [Pair("b", "a", 1, 0.1), Pair("a", "b", 1, 0.1)],
    ],
)
def test_impossible_pair_is_refused(pairs):
    with pytest.raises(ValueError, match="each pair of two different items once, got 'a'"):
        rank_sets("ab", pairs)
