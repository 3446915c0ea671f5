"""A ranking from games between pairs: win rates, strengths, and the ranks that are possible."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from typing import NamedTuple

import numpy as np

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import (
    MAY_FAIL_TOGETHER,
    METHOD_BY_ISSUE,
    change_p,
    changes_needed,
)
from evalhub.statistics.changes.net_change import METHOD as METHOD_BY_TEST
from evalhub.statistics.interval import Interval
from evalhub.statistics.ranking.bradley_terry import Floats, groups_of, log_strengths, win_chances
from evalhub.statistics.ranking.rank_sets import Pair, RankSet, rank_sets
from evalhub.statistics.rates.rate_interval import MIN_ISSUES, RateInterval, rate_interval
from evalhub.statistics.resampling import chunks, expanded, varying_interval

RESAMPLES = 1000
LEVEL = 0.95
METHOD = f"{METHOD_BY_ISSUE}; Holm"


class Game(NamedTuple):
    """Two answers to one test; `score` is 1 if the first won, 0.5 for a tie, 0 if it lost."""

    first: Hashable
    second: Hashable
    score: float
    test: int
    issue: int


class WinRate(NamedTuple):
    """Games of one player, or between two, seen from the first. `rate` is (wins + ties / 2) / n."""

    wins: int
    ties: int
    losses: int
    interval: RateInterval

    @property
    def n(self) -> int:
        return self.wins + self.ties + self.losses

    @property
    def rate(self) -> float:
        return (self.wins + self.ties / 2) / self.n


@dataclass(frozen=True)
class Duel:
    """Two players on the tests that both answered.

    Attributes:
        p: Two-sided, by the test of change (`net_change`): would they differ as much if it did not
            matter who is who?
        holm: Corrected for all pairs of their group.
        accounts_for_issues: p holds where tests of one issue are won together.
    """

    first: Hashable
    second: Hashable
    found: WinRate
    p: float
    holm: float
    accounts_for_issues: bool

    @property
    def method(self) -> str:
        return METHOD_BY_ISSUE if self.accounts_for_issues else METHOD_BY_TEST

    @property
    def caveat(self) -> str:
        """What p does not account for, as a sentence; "" where there is nothing."""
        return "" if self.accounts_for_issues else MAY_FAIL_TOGETHER


@dataclass(frozen=True)
class Standing:
    """A player among those of its group.

    Attributes:
        strength: Natural logarithm; a difference of 0.69 is odds of 2 : 1.
        expected: Mean chance to win against each other player of the group, a tie being half a
            win, in (0, 1).
        interval: Of `expected`; None where resampling shows no spread, as of one who never loses.
        ranks: Possible ranks within the group.
    """

    player: Hashable
    strength: float
    expected: float
    interval: Interval | None
    found: WinRate
    ranks: RankSet


@dataclass(frozen=True)
class Ranked:
    """Players who met each other, best first, and their duels.

    `is_by_issue`: whole issues were resampled for the intervals, else tests. `contradicting` are
    duels whose significant winner has the lower strength: they set nobody apart.
    """

    standings: tuple[Standing, ...]
    duels: tuple[Duel, ...]
    is_by_issue: bool
    contradicting: int

    @property
    def needed(self) -> int:
        """Return the least number of tests on which two players can be set apart."""
        return changes_needed(len(self.duels))


def win_rate(games: Sequence[Game], player: Hashable, *, level: float = LEVEL) -> WinRate | None:
    """Return how often a player won, with the house's interval of rates; None without a game."""
    scores = [
        (one.issue, one.test, one.score if one.first == player else 1 - one.score)
        for one in games
        if player in (one.first, one.second)
    ]
    if not scores:
        return None
    issues: dict[int, list[float]] = defaultdict(list)
    for issue, _, score in scores:
        issues[issue].append(score)
    tests = len({test for _, test, _ in scores})
    interval = rate_interval(
        [(sum(found), len(found)) for found in issues.values()],
        answers=ceil(len(scores) / tests),
        level=level,
    )
    wins = sum(score > 0.5 for *_, score in scores)
    losses = sum(score < 0.5 for *_, score in scores)
    return WinRate(wins, len(scores) - wins - losses, losses, interval)


def rankings(
    games: Sequence[Game], *, seed: int = 1, resamples: int = RESAMPLES, level: float = LEVEL
) -> list[Ranked]:
    """Rank the players of each group who met, directly or through others; largest group first.

    Strengths follow `bradley_terry`, their intervals the bootstrap of whole issues from 5 on, else
    of tests. Two players are set apart only by their own games: by the test of change, corrected
    for all pairs of the group (Holm). Players of different groups are not comparable.

    Raises:
        ValueError: A player meets itself, or a score is none of 0, 0.5 and 1.
    """
    _check(games)
    players = sorted({player for one in games for player in one[:2]}, key=str)
    place = {player: i for i, player in enumerate(players)}
    groups = groups_of(_tables(games, place, [0] * len(games))[0])
    found = []
    for group in groups:
        members = [players[i] for i in group]
        own = [one for one in games if one.first in members]
        found.append(_ranked(own, members, seed, resamples, level))
    return sorted(found, key=lambda one: -len(one.standings))


def _check(games: Sequence[Game]) -> None:
    for one in games:
        if one.first == one.second:
            raise ValueError(f"expected two different players, got {one.first!r} twice")
        if one.score not in (0, 0.5, 1):
            raise ValueError(f"expected a score of 0, 0.5 or 1, got {one.score!r}")


def _ranked(
    games: Sequence[Game], players: Sequence[Hashable], seed: int, resamples: int, level: float
) -> Ranked:
    place = {player: i for i, player in enumerate(players)}
    is_by_issue = len({one.issue for one in games}) >= MIN_ISSUES
    tables = _tables(games, place, [one.issue if is_by_issue else one.test for one in games])
    strengths = log_strengths(tables.sum(axis=0))
    expected = _expected(strengths)
    intervals = _intervals(tables, seed, resamples, level)
    duels = _duels(games, players, level)
    apart, contradicting = _apart(duels, dict(zip(players, strengths, strict=True)))
    ranks = rank_sets(players, apart)
    standings = [
        Standing(player, float(strengths[i]), float(expected[i]), intervals[i], rate, ranks[player])
        for i, player in enumerate(players)
        if (rate := win_rate(games, player, level=level)) is not None
    ]
    best_first = sorted(standings, key=lambda one: (-round(one.strength, 9), str(one.player)))
    return Ranked(tuple(best_first), tuple(duels), is_by_issue, contradicting)


def _tables(games: Sequence[Game], place: Mapping[Hashable, int], blocks: Sequence[int]) -> Floats:
    """Return the wins within each block, shape (g, k, k). `blocks`: that of each game."""
    known = {block: i for i, block in enumerate(dict.fromkeys(blocks))}
    tables = np.zeros((max(1, len(known)), len(place), len(place)))
    for one, named in zip(games, blocks, strict=True):
        block, i, j = known[named], place[one.first], place[one.second]
        tables[block, i, j] += one.score
        tables[block, j, i] += 1 - one.score
    return tables


def _expected(strengths: Floats) -> Floats:
    """Return the mean chance to win against the others: (..., k) → (..., k)."""
    k = strengths.shape[-1]
    return np.asarray((win_chances(strengths).sum(axis=-1) - 0.5) / (k - 1), dtype=np.float64)


def _intervals(tables: Floats, seed: int, resamples: int, level: float) -> list[Interval | None]:
    g, k, _ = tables.shape
    if g < 2:
        return [None] * k
    rng, flat = np.random.default_rng(seed), tables.reshape(g, k * k)
    drawn = []
    for rows in chunks(resamples, max(g, k * k)):
        times = rng.multinomial(g, np.full(g, 1 / g), size=rows).astype(np.float64)
        drawn.append(_expected(log_strengths((times @ flat).reshape(rows, k, k))))
    values = np.concatenate(drawn)
    wide = expanded(level, g)
    return [varying_interval(column, wide) for column in values.T]


def _duels(games: Sequence[Game], players: Sequence[Hashable], level: float) -> list[Duel]:
    by_pair: dict[tuple[Hashable, Hashable], list[Game]] = defaultdict(list)
    order = {player: i for i, player in enumerate(players)}
    for one in games:
        turned = one._replace(first=one.second, second=one.first, score=1 - one.score)
        kept = one if order[one.first] < order[one.second] else turned
        by_pair[kept.first, kept.second].append(kept)
    pairs = [pair for pair in combinations(players, 2) if pair in by_pair]
    tests = [_tested(by_pair[pair]) for pair in pairs]
    corrected = holm([p for p, _ in tests])
    return [
        Duel(*pair, rate, p, adjusted or 0.0, accounts)
        for pair, (p, accounts), adjusted in zip(pairs, tests, corrected, strict=True)
        if (rate := win_rate(by_pair[pair], pair[0], level=level)) is not None
    ]


def _tested(games: Sequence[Game]) -> tuple[float, bool]:
    """Return p of a duel, and whether it accounts for tests of one issue."""
    by_test: dict[tuple[int, int], list[float]] = defaultdict(list)
    for one in games:
        by_test[one.issue, one.test].append(2 * one.score - 1)
    changes = np.array([sum(found) / len(found) for found in by_test.values()])
    issues, places = np.unique([issue for issue, _ in by_test], return_inverse=True)
    return change_p(changes, places, len(issues)), len(issues) >= MIN_ISSUES


def _apart(duels: Sequence[Duel], strengths: dict[Hashable, float]) -> tuple[list[Pair], int]:
    """Return the duels as pairs; a winner of lower strength is set apart from nobody."""
    pairs, contradicting = [], 0
    for one in duels:
        difference = one.found.rate - 0.5
        agrees = difference * (strengths[one.first] - strengths[one.second]) > 0
        contradicting += not agrees and difference != 0 and one.holm <= 1 - LEVEL
        pairs.append(Pair(one.first, one.second, difference, one.holm if agrees else None))
    return pairs, contradicting
