"""The columns of a leaderboard from pairs of answers, and what they say in sentences."""

from collections.abc import Iterator, Mapping

from evalhub.display.formatting import counted
from reports.documents.document import Cell, Column, Estimate
from reports.leaderboard.pairwise_query import PairwiseBoard
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.laboratory.pairwise.sentences import contradictions, leader_sentence, ranks_in_words

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
