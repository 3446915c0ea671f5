"""Pairwise findings in figures and sentences."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalhub.formatting import counted, percent
from evalhub.statistics.change_test import MAY_FAIL_TOGETHER, is_significant
from evalhub.statistics.pairwise_ranking import Duel, Game, Ranked
from evalhub.statistics.rate_interval import RateInterval, rate_interval
from reports.compare.sentences import is_p
from runs.pairwise.outcome_rule import PairOutcome

PAIR, PAIRS = "pair of runs", "pairs of runs"

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


def agreement(outcomes: Iterable[tuple[int, PairOutcome]]) -> Share | None:
    """Return how often the judge chose as people did; None: no pair has both."""
    return share_of((issue, one.agrees) for issue, one in outcomes if one.agrees is not None)


def duel_sentence(duel: Duel, names: Mapping[Hashable, str], *, corrected_for: int = 1) -> str:
    """Say who won how often, and how sure that is."""
    found, p = duel.found, duel.holm
    first, second = (names[key] for key in (duel.first, duel.second))
    if found.rate < 0.5:
        first, second, wins, losses = second, first, found.losses, found.wins
    else:
        wins, losses = found.wins, found.losses
    basis = "sign flips of whole issues" if duel.is_by_issue else "sign flips of tests"
    basis += f", Holm over {counted(corrected_for, PAIR, PAIRS)}" if corrected_for > 1 else ""
    clear = "significantly better" if is_significant(p) else "not enough evidence"
    verb = "wins" if found.rate != 0.5 else "wins as often as it loses:"
    said = (
        f"{first} {verb} {wins:,} of {counted(found.n, 'pair')} against {second}, loses "
        f"{losses:,} and ties {found.ties:,}: {is_p(p)} (exact {basis}), {clear}."
    )
    return said if duel.is_by_issue or not is_significant(p) else f"{said} {MAY_FAIL_TOGETHER}"


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
            f"{one.found.ties:,} (p <= 0.05 against each other one, Holm over "
            f"{counted(len(ranked.duels), f'pair of {what}', f'pairs of {what}')})."
        )
    may = sum(one.ranks.best == 1 for one in ranked.standings)
    return (
        f"None is significantly first: {may} of {n} may be (Holm over "
        f"{counted(len(ranked.duels), f'pair of {what}', f'pairs of {what}')})."
    )


def contradictions(groups: Sequence[Ranked]) -> Iterator[str]:
    if n := sum(one.contradicting for one in groups):
        yield (
            f"{counted(n, PAIR, PAIRS)} {'contradicts' if n == 1 else 'contradict'} the order: "
            "the weaker one wins significantly. There is no consistent order among these."
        )
    if len(groups) > 1:
        yield (
            f"These runs fall into {len(groups)} groups that share no judged pair: runs of "
            "different groups are not comparable."
        )


def ranks_in_words(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best} to {worst}"


def games_as_json(games: Sequence[Game]) -> list[list[object]]:
    """Return games as the inputs of kept figures."""
    return [list(one) for one in games]
