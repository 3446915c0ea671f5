"""Findings on pairs of answers, as reports and workbenches say them."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalhub.display.formatting import counted, percent
from evalhub.statistics.ranking.pairwise_ranking import Ranked
from evalhub.statistics.rates.rate_interval import RateInterval, rate_interval
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.laboratory.pairwise.outcome_rule import PairOutcome


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


def position_bias_sentence(bias: Share | None) -> str:
    if bias is None:
        return "Position bias is not measured: no model judged these pairs in both orders."
    return (
        f"The judge’s choice changed with the order of the answers in {bias}; these count as ties."
    )


def no_conclusion(scored: int, pairs: int) -> str:
    """Say that too few of the pairs have an outcome."""
    return (
        f"No conclusion: {scored_words(scored, pairs)}, and at least {LEAST_IN_WORDS} of the pairs "
        "need an outcome. The others may not be like these."
    )


def leader_sentence(ranked: Ranked, names: Mapping[Hashable, str], *, what: str = "runs") -> str:
    """Name the significantly best of several; without one, say how many may be, or why not."""
    best = [one for one in ranked.standings if one.ranks == (1, 1)]
    n = len(ranked.standings)
    holm = f"Holm over {counted(len(ranked.duels), f'pair of {what}', f'pairs of {what}')}"
    if best:
        one = best[0]
        name = names[one.player]
        return (
            f"{name} is significantly first of {n}: it wins {one.found.wins:,} of "
            f"{counted(one.found.n, 'pair')}, loses {one.found.losses:,} and ties "
            f"{one.found.ties:,} (p ≤ 0.05 against each other one, {holm})."
        )
    most = max(one.found.n for one in ranked.duels)
    if most < ranked.needed:
        return (
            f"Too few pairs to tell these {what} apart: any two need at least {ranked.needed}, and "
            f"have at most {most} ({holm})."
        )
    may = sum(one.ranks.best == 1 for one in ranked.standings)
    return f"None is significantly first: {may} of {n} may be ({holm})."


def contradictions(groups: Sequence[Ranked], *, what: str = "runs") -> Iterator[str]:
    """Say what speaks against one order of all."""
    if n := sum(one.contradicting for one in groups):
        yield (
            f"{counted(n, f'pair of {what}', f'pairs of {what}')} "
            f"{'contradicts' if n == 1 else 'contradict'} the order: the weaker one wins "
            "significantly. There is no consistent order among these."
        )
    if len(groups) > 1:
        yield (
            f"These {what} fall into {len(groups)} groups that share no judged pair: {what} of "
            "different groups are not comparable."
        )


def ranks_in_words(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"
