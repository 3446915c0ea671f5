"""The tables of a leaderboard: the ranking, who is not ranked and why, and a model's runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils import timezone

from evalhub.display.formatting import counted
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.documents.links import page_url
from reports.leaderboard.certainty_rule import METHOD, Certainty
from reports.leaderboard.certainty_tables import ranks_in_words
from reports.leaderboard.figure import Mean, ranked_means
from reports.leaderboard.pairwise_query import PAIRWISE_COLUMNS, PairwiseBoard, pairwise_cells
from reports.leaderboard.query import (
    Field,
    LeftOut,
)
from reports.leaderboard.rule import (
    MIN_SUITES,
    MIN_SUITES_OF_TOPIC,
    Board,
    RankedModel,
    Sums,
)
from runs.models import Run

MAX_DRAWN = 40


@dataclass(frozen=True)
class Ranking:
    """A computed leaderboard.

    Keys are of models or families; `runs` are those that count for each. `unmeasured` have no
    score at the chosen weight of similarity. `incomplete` runs are in no score.
    """

    field: Field
    sums: dict[int, Sums]
    board: Board
    unmeasured: list[str]
    names: Mapping[str, str]
    runs: Mapping[str, list[int]]
    labels: Mapping[str, tuple[str, ...]]
    incomplete: tuple[LeftOut, ...]
    lacking: Mapping[str, int]
    """Number of incomplete runs of each model or family."""
    least: int
    """Suites that a model needs."""


def least_of(filters: Mapping[str, Any], most: int) -> int:
    """Return the minimum number of suites; no more than `most`, which a model has."""
    is_part = filters["topic"] or filters["tag"]
    usual = MIN_SUITES_OF_TOPIC if is_part else MIN_SUITES
    return filters["least"] or max(1, min(usual, most))


RANKING_NOTE = (
    "The latest complete run of each suite and model, or the mean of its variants. "
    "A test that several suites hold has a part of its weight in each. Ranks come from pairs of "
    f"models ({METHOD}, each once, Holm over all pairs). A wide range of ranks means that the data "
    "cannot tell models apart, not that they are equal."
)


def ranking_table(
    filters: Mapping[str, Any],
    ranking: Ranking,
    sure: Mapping[str, Certainty],
    pairwise: PairwiseBoard | None = None,
) -> Table:
    ranked = ranking.board.ranked
    drawn = [
        Mean(one.model, ranking.names[one.model], one.mean, len(one.suites), interval)
        for one in ranked[:MAX_DRAWN]
        for interval in [sure[one.model].interval if one.model in sure else None]
    ]
    return Table(
        key="ranking",
        title="Ranking",
        columns=(
            Column("place", "Rank", "count", "By mean score"),
            Column(
                "ranks", "Possible ranks", "text", "With 95 % confidence for all models at once"
            ),
            Column("name", "Model", "link", "Opens its runs and original names"),
            Column(
                "mean",
                "Mean score",
                "estimate",
                "n counts suites; 95% interval from 5 suites on, Wilson by suite",
            ),
            *(PAIRWISE_COLUMNS if pairwise else ()),
            Column("scored", "Scored", "count", "Results with a score, of all its runs"),
            Column("total", "All results", "count"),
            Column("developer", "Developer"),
            Column("runs", "Runs", "count", "One for each suite and variant"),
            Column("labels", "Notes"),
        ),
        rows=[
            _ranked_row(place, one, filters, ranking, sure, pairwise)
            for place, one in enumerate(ranked, 1)
        ],
        note=RANKING_NOTE,
        empty=_empty(filters, ranking),
        draw=lambda: ranked_means(drawn, unit="suites") if drawn else None,
        describes="The mean score of each model with its interval",
    )


def _empty(filters: Mapping[str, Any], ranking: Ranking) -> str:
    if ranking.board.shared is not None and not ranking.board.shared:
        return "No suite was run by all of these models. Turn off “Same suites only”."
    if filters["beta"] and ranking.unmeasured:
        return (
            "Similarity to the reference was not measured in enough suites. Set its weight to 0, "
            "or run suites that weigh it."
        )
    if ranking.least == 1:
        return "No model has a score in a suite yet. Launch a suite."
    return (
        f"No model has scores in {counted(ranking.least, 'suite')} yet. Lower the minimum above, "
        "or run more suites."
    )


def _ranked_row(
    place: int,
    one: RankedModel,
    filters: Mapping[str, Any],
    ranking: Ranking,
    sure: Mapping[str, Certainty],
    pairwise: PairwiseBoard | None,
) -> tuple[Cell, ...]:
    known = sure.get(one.model)
    runs = [run for suite in one.suites for run in suite.runs if run in ranking.sums]
    opened = page_url("leaderboard", **{**filters, "model": one.model}) + "#variants"
    return (
        place,
        ranks_in_words(known) if known else None,
        Link(ranking.names[one.model], opened),
        Estimate(one.mean, len(one.suites), known.interval if known else None),
        *(pairwise_cells(pairwise, one.model) if pairwise else ()),
        sum(ranking.sums[run].n for run in runs),
        sum(ranking.sums[run].total for run in runs),
        _developer(filters, ranking, one.model),
        len(ranking.runs[one.model]),
        ", ".join(ranking.labels[one.model]) or None,
    )


def _developer(filters: Mapping[str, Any], ranking: Ranking, key: str) -> str | None:
    if not filters["family"]:
        return ranking.field.identities[key].developer or None
    developers = {one.developer for one in ranking.field.identities.values() if one.family == key}
    return ", ".join(sorted(developers - {""})) or None


def not_ranked(ranking: Ranking) -> list[tuple[str, str]]:
    """Return the names of models that are not ranked, each with its reason."""
    found = [(one.model, one.reason) for one in ranking.board.excluded]
    found += [(key, "no score, or similarity not measured") for key in ranking.unmeasured]
    known = {key for key, _ in found} | {one.model for one in ranking.board.ranked}
    found += [(key, "no complete run") for key in ranking.lacking if key not in known]
    return [(ranking.names[key], reason + _lacking(ranking, key)) for key, reason in found]


def _lacking(ranking: Ranking, key: str) -> str:
    n = ranking.lacking.get(key, 0)
    return f"; {counted(n, 'incomplete run')}" if n else ""


def excluded_table(ranking: Ranking) -> Table:
    return Table(
        key="excluded",
        title="Not ranked",
        columns=(Column("name", "Model"), Column("reason", "Reason")),
        rows=not_ranked(ranking),
        empty="Every model with a complete run of a suite is ranked."
        if ranking.board.ranked
        else "No run of a suite is complete yet.",
    )


def variants_tables(filters: Mapping[str, Any], ranking: Ranking) -> Iterator[Table]:
    """Yield the runs behind the opened model, with its original names."""
    if key := filters["model"]:
        runs = Run.objects.filter(pk__in=ranking.runs.get(key, ())).order_by()
        fields = ("label", "model_name", "started_at", "created_at", "suite__name")
        rows = [
            _variant(run, ranking.sums[run.pk])
            for run in runs.select_related("suite").only(*fields)
        ]
        yield Table(
            key="variants",
            title=f"Runs of {ranking.names.get(key, key)}",
            columns=(
                Column("suite", "Suite"),
                Column("raw_name", "Model name at launch"),
                Column("run", "Run", "link"),
                Column("at", "Started", "date"),
                Column("score", "Score", "estimate"),
            ),
            rows=sorted(rows, key=lambda row: row[:2]),
            empty="No run of this model has a score here.",
        )


def _variant(run: Run, sums: Sums) -> tuple[Cell, ...]:
    return (
        str(run.suite),
        run.model_name,
        Link(run.label, reverse("reports:run", args=[run.pk])),
        timezone.localtime(run.started_at or run.created_at),
        Estimate(sums.score, sums.n, total=sums.total),
    )
