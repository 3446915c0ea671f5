"""Pairwise findings in figures and sentences."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from evalhub.display.formatting import counted
from evalhub.statistics.changes.change_test import MAY_FAIL_TOGETHER, is_significant
from evalhub.statistics.ranking.pairwise_ranking import Duel, Game
from reports.compare.sentences import is_p
from runs.laboratory.pairwise.outcome_rule import PairOutcome
from runs.laboratory.pairwise.sentences import Share, share_of

PAIR, PAIRS = "pair of runs", "pairs of runs"


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


def games_as_json(games: Sequence[Game]) -> list[list[object]]:
    """Return games as the inputs of kept figures."""
    return [list(one) for one in games]
