"""A change on the whole: planted results, and what its p may never do."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy.stats import binom  # type: ignore[import-untyped]

from evalhub.statistics.changes.net_change import change_p, net_change
from tests.evalhub.statistics.planted_changes import PLANTED, spread


@pytest.mark.parametrize("name", [name for name, one in PLANTED.items() if one.p is not None])
def test_planted_changes_have_their_p_and_interval(name):
    planted = PLANTED[name]
    found = net_change(*spread(planted.layout))

    assert found.p == pytest.approx(planted.p, rel=0.05)
    points = [100 * bound for bound in found.interval]
    assert points == pytest.approx([planted.low, planted.high], abs=0.06)


@pytest.mark.parametrize(("lost", "won"), [(5, 0), (4, 0), (8, 1), (60, 40), (0, 3)])
def test_by_test_it_is_the_mid_p_of_mcnemar(lost, won):
    found = net_change([-1] * lost + [1] * won + [0] * 7, [0] * (lost + won + 7))

    k, n = min(lost, won), lost + won
    assert found.p == pytest.approx(2 * binom.cdf(k, n, 0.5) - binom.pmf(k, n, 0.5), rel=1e-12)


def brute_p(sums):
    """Keep each sum or not: the mid-p of all ways, written from the rule."""
    totals = [sum(kept) for kept in product(*((0, one) for one in sums))]
    above = sum((total > 0) + (total == 0) / 2 for total in totals) / len(totals)
    return 1.0 if not sum(sums) else min(1.0, 2 * min(above, 1 - above))


def test_the_larger_p_of_tests_and_issues_counts_from_five_issues_on():
    rng = np.random.default_rng(5)
    for _ in range(60):
        g = int(rng.integers(1, 8))
        issues = sorted([*range(g), *rng.integers(0, g, size=10 - g).tolist()])
        changes = rng.integers(-6, 7, size=10) / 6
        steps = np.round(changes * 6).astype(int)
        sums = [int(sum(s for s, i in zip(steps, issues, strict=True) if i == k)) for k in range(g)]
        expected = brute_p(steps.tolist())
        if g >= 5:
            expected = max(expected, brute_p(sums))

        assert net_change(changes.tolist(), issues).p == pytest.approx(expected, rel=1e-9)


LAYOUTS = ([0] * 4, [0, 0, 1, 1], [0, 1, 2, 3, 4], [0, 0, 1, 2, 3, 4])


@pytest.mark.parametrize("issues", LAYOUTS)
def test_one_more_lost_test_never_raises_the_p_of_a_loss(issues):
    """Every table of these issues with changes of -1, -1/2, 0 and 1, and every single step."""
    values = (-1.0, -0.5, 0.0, 1.0)
    signed = {}
    for table in product(values, repeat=len(issues)):
        p = net_change(table, issues).p
        signed[table] = p / 2 if sum(table) < 0 else 1 - p / 2  # one-sided, of a loss
        if sum(table) == 0:
            signed[table] = 0.5
    for table, before in signed.items():
        for place, value in enumerate(table):
            if value > -1:
                lower = values[values.index(value) - 1]
                changed = (*table[:place], lower, *table[place + 1 :])
                assert signed[changed] <= before + 1e-12


@pytest.mark.parametrize(("g", "size"), [(1, 12), (2, 5), (9, 1), (8, 2)])
def test_one_more_win_leaves_a_sure_loss_sure_in_every_small_table(g, size):
    """Every table of passes and fails; issues are alike, and so are the tests of one."""
    issues = [
        [-1.0] * lost + [1.0] * won + [0.0] * (size - lost - won)
        for lost in range(size + 1)
        for won in range(size + 1 - lost)
    ]
    places, checked = np.repeat(np.arange(g), size), 0
    for table in combinations_with_replacement(issues, g):
        changes = np.array([change for issue in table for change in issue])
        if changes.sum() >= 0 or change_p(changes, places, g) > 1 / 128:
            continue
        for place in np.flatnonzero(changes == 0):
            checked += 1
            more = changes.copy()
            more[place] = 1.0
            assert change_p(more, places, g) <= 0.05
    assert checked


def test_a_sure_loss_stays_one_after_another_win():
    rng = np.random.default_rng(7)
    checked = 0
    while checked < 150:
        g = int(rng.integers(1, 12))
        issues = np.repeat(np.arange(g), rng.integers(1, 8, size=g))
        changes = np.where(rng.random(len(issues)) < rng.random() * 0.6, -1.0, 0.0)
        changes[rng.random(len(issues)) < 0.05] = 1.0
        found = net_change(changes.tolist(), issues.tolist())
        unchanged = np.flatnonzero(changes == 0)
        if found.p > 0.0078 or found.change > 0 or not len(unchanged):
            continue
        checked += 1
        changes[rng.choice(unchanged)] = 1.0
        assert net_change(changes.tolist(), issues.tolist()).p <= 0.05


def test_p_and_interval_never_contradict_each_other():
    rng = np.random.default_rng(11)
    for _ in range(200):
        issues = rng.integers(0, int(rng.integers(1, 15)), size=int(rng.integers(2, 60)))
        chance = rng.dirichlet([1, 1, 3])
        changes = rng.choice([-1.0, 1.0, 0.0], p=chance, size=len(issues))
        for level in (0.05, 0.01):
            found = net_change(changes.tolist(), issues.tolist(), level=level)
            low, high = found.interval
            assert low <= found.change <= high
            assert low < high
            assert found.is_sure == (found.p <= level)
            assert not (found.is_sure and low < 0 < high)
            assert found.is_sure or low <= 0 <= high


def test_unknown_and_wrong_input():
    assert net_change([], []) is None
    with pytest.raises(ValueError, match=r"between -1 and 1, got 1\.5"):
        net_change([0, 1.5], [1, 2])
    with pytest.raises(ValueError, match="one length"):
        net_change([0, 1], [1])


def test_thousands_of_tests_with_repeats_are_measured():
    rng = np.random.default_rng(3)
    changes = rng.integers(-3, 4, size=4_000) / 5
    found = net_change((changes - 0.1).clip(-1, 1).tolist(), (np.arange(4_000) % 40).tolist())

    assert found.p < 1e-6
    assert found.accounts_for_issues


def test_a_bound_at_0_lies_on_the_side_that_p_decides():
    # By test p is 0.031, while the halves of the five issues that lost reach 0.
    lost = net_change([-1] * 5 + [0] * 15, range(20))
    assert lost.p <= lost.level
    assert lost.interval.high < 0
    won = net_change([1] * 5 + [0] * 15, range(20))
    assert won.interval.low > 0
    same = net_change([-1, 1] + [0] * 18, range(20))
    assert same.interval.low <= 0 <= same.interval.high
