"""Findings on pairs of answers, as reports and workbenches say them."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from evalhub.formatting import counted, percent
from evalhub.statistics.pairwise_ranking import Ranked
from evalhub.statistics.rate_interval import RateInterval, rate_interval
from runs.pairwise.outcome_rule import PairOutcome

NOT_MEASURED = "Position bias is not measured: no model judged these pairs in both orders."


@dataclass(frozen=True)
class Share:
    """A share of pairs with its interval."""

    hits: int
    n: int
    found: RateInterval

    def __str__(self) -> str:
        low, high = self.found.interval
        return (
            f"{self.hits:,} of {counted(self.n, 'pair')} ({percent(self.hits / self.n)}, 95% "
            f"{percent(low)} to {percent(high)}, {self.found.method})"
        )


def share_of(hits: Iterable[tuple[int, bool]]) -> Share | None:
    """Return the share of pairs that are a hit, by issue; None without a pair."""
    issues: dict[int, list[bool]] = {}
    for issue, is_hit in hits:
        issues.setdefault(issue, []).append(is_hit)
    if not issues:
        return None
    counts = [(sum(found), len(found)) for found in issues.values()]
    total = sum(n for _, n in counts)
    return Share(sum(hit for hit, _ in counts), total, rate_interval(counts))


def position_bias(outcomes: Iterable[tuple[int, PairOutcome]]) -> Share | None:
    """Return how often the judge's choice changed with the order; None: not measured."""
    return share_of((issue, one.judge.is_biased) for issue, one in outcomes if one.judge)


def leader_sentence(ranked: Ranked, names: Mapping[Hashable, str], *, what: str = "runs") -> str:
    """Name the significantly best of several; without one, say how many may be."""
    best = [one for one in ranked.standings if one.ranks == (1, 1)]
    n = len(ranked.standings)
    if best:
        one = best[0]
        name = names[one.player]
        return (
            f"{name} is significantly first of {n}: it wins {one.found.wins:,} of "
            f"{counted(one.found.n, 'pair')}, loses {one.found.losses:,} and ties "
            f"{one.found.ties:,} (p ≤ 0.05 against each other one, Holm over "
            f"{counted(len(ranked.duels), f'pair of {what}', f'pairs of {what}')})."
        )
    may = sum(one.ranks.best == 1 for one in ranked.standings)
    return (
        f"None is significantly first: {may} of {n} may be (Holm over "
        f"{counted(len(ranked.duels), f'pair of {what}', f'pairs of {what}')})."
    )


def ranks_in_words(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"
