"""Standings of the ranked models by pairs of their answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalhub.display.formatting import counted
from evalhub.statistics.ranking.pairwise_ranking import Game, Ranked, Standing, rankings
from reports.documents.document import Cell, Column, Estimate
from reports.documents.reading import Reading
from reports.leaderboard.rule import RankedModel
from runs.comparison.completeness import LEAST_IN_WORDS, is_enough, scored_words
from runs.laboratory.pairwise.models import PairwiseJudgeRun
from runs.laboratory.pairwise.outcomes import judge_runs_over, pair_rows
from runs.laboratory.pairwise.sentences import contradictions, leader_sentence, ranks_in_words


@dataclass(frozen=True)
class PairwiseBoard:
    """The largest group of models with judged pairs, by the newest method.

    Attributes:
        scored: Pairs with an outcome, of `judged`.
        outside: Models of other groups, which share no judged pair with these.
    """

    judge_run: PairwiseJudgeRun
    ranked: Ranked | None
    scored: int
    judged: int
    outside: int

    @property
    def is_enough(self) -> bool:
        return is_enough(self.scored, self.judged)

    def standing(self, model: str) -> Standing | None:
        """Return the standing of a model; None: no pair of it was judged in this group."""
        standings = self.ranked.standings if self.ranked else ()
        return next((one for one in standings if one.player == model), None)


def pairwise_board(ranked: Sequence[RankedModel], reading: Reading) -> PairwiseBoard | None:
    """Read the pairs of the runs that count on a board; None: none was judged.

    The newest pairwise judge run over two of them decides the method: judge, criterion and ties.
    """
    model_of: Mapping[int, str] = {
        run: one.model for one in ranked for suite in one.suites for run in suite.runs
    }
    found = judge_runs_over(model_of) if len(ranked) > 1 else []
    if not found:
        return None
    rows = [
        row
        for row in pair_rows(model_of, found[0])
        if row.outcome.judge or row.outcome.is_failed or row.outcome.score is not None
        if model_of[row.first_run] != model_of[row.second_run]
    ]
    games = [
        Game(model_of[row.first_run], model_of[row.second_run], score, row.test, row.issue)
        for row in rows
        if (score := row.outcome.score) is not None
    ]
    inputs = [list(one) for one in games]
    groups = reading.computed("pairwise-1", inputs, list[Ranked], lambda: rankings(games))
    outside = sum(len(one.standings) for one in (groups or [])[1:])
    return PairwiseBoard(found[0], groups[0] if groups else None, len(games), len(rows), outside)


PAIRWISE_COLUMNS = (
    Column(
        "pairwise_ranks",
        "Pairwise ranks",
        "text",
        "Bradley-Terry, from pairs of answers; with 95 % confidence for all at once",
    ),
    Column(
        "pairwise",
        "Expected wins",
        "estimate",
        "Mean chance against each other model, a tie being half a win; n counts pairs",
    ),
)


def pairwise_cells(found: PairwiseBoard, model: str) -> tuple[Cell, Cell]:
    one = found.standing(model)
    if one is None:
        return None, None
    ranks = ranks_in_words(*one.ranks) if found.is_enough else None
    return ranks, Estimate(one.expected, one.found.n, one.interval)


def pairwise_sentences(found: PairwiseBoard, names: Mapping[str, str]) -> Iterator[str]:
    """Say which model wins in pairs and how sure that is, by which judge."""
    judge_run, ranked = found.judge_run, found.ranked
    if ranked is None:
        return
    if not found.is_enough:
        yield (
            f"In pairs nothing is concluded: {scored_words(found.scored, found.judged)}, and at "
            f"least {LEAST_IN_WORDS} of the judged pairs need an outcome."
        )
        return
    by = judge_run.criterion or "each test’s guidelines, criteria and reference"
    said = leader_sentence(ranked, dict(names.items()), what="models")
    yield f"In pairs judged by {judge_run.language_model}, by {by}: {said}"
    yield from contradictions([ranked], what="models")
    if found.outside:
        verb = "is" if found.outside == 1 else "are"
        yield (
            f"{counted(found.outside, 'model')} {verb} left out there: no judged pair connects "
            "them with these."
        )
