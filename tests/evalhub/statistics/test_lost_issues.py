"""Lost issues: planted results, and the exact laws behind them."""

from itertools import product
from math import log, prod

import numpy as np
import pytest

from evalhub.statistics.changes.lost_issues import lost_issues
from tests.evalhub.statistics.planted_changes import PLANTED, spread


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_planted_losses_are_named(planted):
    found = lost_issues(*spread(planted.layout))

    assert f"{found.p:.1e}" == f"{planted.p_lost:.1e}" or found.p == pytest.approx(
        planted.p_lost, rel=0.03
    )
    assert (found.named, len(found.found)) == (planted.named, planted.found)


def flips(changes):
    """All sums of an issue by flipped signs, written from the rule."""
    sizes = [abs(change) for change in changes if change]
    return [
        sum(s * v for s, v in zip(signs, sizes, strict=True))
        for signs in product((-1, 1), repeat=len(sizes))
    ]


def test_one_by_one_an_issue_weighs_by_the_largest_p_that_it_can_have():
    rng = np.random.default_rng(2)
    for _ in range(40):
        tables = [rng.integers(-2, 3, size=int(rng.integers(1, 5))) / 2 for _ in range(4)]
        possible = []
        p = []
        for table in tables:
            sums = flips(table.tolist())
            chances = sorted({sum(one <= at for one in sums) / len(sums) for at in sums})
            possible.append(chances)
            p.append(sum(one <= table.sum() for one in sums) / len(sums))
        order = sorted(range(4), key=lambda k: p[k])
        adjusted, before = {}, 0.0
        for place, k in enumerate(order):
            reach = [
                max([one for one in possible[j] if one <= p[k]], default=0) for j in order[place:]
            ]
            before = max(before, min(1.0, 2 * (1 - prod(1 - one for one in reach))))
            adjusted[k] = before
        changes = [float(v) for table in tables for v in table]
        issues = [k for k, table in enumerate(tables) for _ in table]
        found = lost_issues(changes, issues, level=0.9)

        rows = [*found.found, *found.others]
        assert {row.issue: row.p for row in rows} == pytest.approx(
            {row.issue: p[row.issue] for row in rows}
        )
        assert [row.adjusted for row in rows] == pytest.approx(
            [adjusted[row.issue] for row in rows]
        )


def test_together_it_is_the_exact_law_of_the_sum():
    tables: list[list[float]] = [[-1, -1, 0.0], [-1, 1], [-0.5, -1], [-1]]
    laws = []
    for table in tables:
        sums = flips(table)
        laws.append([sum(one <= at for one in sums) / len(sums) for at in sums])
    observed = [sum(one <= sum(t) for one in flips(t)) / len(flips(t)) for t in tables]
    steps = lambda p: int(-log(p) / 0.01 + 1e-9)  # noqa: E731
    total = sum(map(steps, observed))
    ways = [sum(map(steps, drawn)) >= total for drawn in product(*laws)]

    changes = [v for table in tables for v in table]
    issues = [k for k, table in enumerate(tables) for _ in table]
    assert lost_issues(changes, issues).together == pytest.approx(min(1, 2 * np.mean(ways)))


def test_small_issues_do_not_weigh_on_a_large_one():
    small = [(0, 1, 2), (1, 0, 2)] * 30
    found = lost_issues(*spread([(8, 0, 4), *small]))

    assert found.named == 1
    assert found.found[0].adjusted == pytest.approx(2 / 2**8)
    assert len(found.others) == 30


def test_nothing_compared_and_nothing_changed_lose_nothing():
    for changes, issues in (([], []), ([0.0, 0.0], [1, 2]), ([1.0], [1])):
        found = lost_issues(changes, issues)
        assert (found.p, found.found, found.others) == (1.0, (), ())
