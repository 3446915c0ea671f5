"""Leaderboards: models by the mean of their suites, overall or within a topic or tag."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.urls import reverse
from django.utils import timezone

from evalhub.statistics.change_test import MIN_CHANGED
from reports.documents.document import Cell, Column, Document, Estimate, Fact, Link, Table
from reports.documents.incomplete_table import incomplete_table
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.documents.topic_names import topic_title
from reports.leaderboard.certainty_rule import METHOD, BoardCertainty, Certainty, certainty, inputs
from reports.leaderboard.certainty_tables import lead, ranks_in_words, rivals, told_apart
from reports.leaderboard.figure import Mean, ranked_means
from reports.leaderboard.jury_tables import apart_table, judged_by
from reports.leaderboard.query import (
    Field,
    LeftOut,
    all_labels,
    checksums,
    field_of_runs,
    frozen_tags,
    labels_by_model,
)
from reports.leaderboard.rule import (
    MIN_SUITES,
    MIN_SUITES_OF_TOPIC,
    Board,
    Latest,
    RankedModel,
    Sums,
    board,
    by_family,
    suite_scores,
)
from reports.queries.topics import all_topics

WARNING = (
    "A mean over very different suites rewards generalists and can mislead: before you decide, "
    "check the suites that matter to you."
)
MAX_DRAWN = 40


class LeaderboardForm(ReportForm):
    """The topic or tag to rank by, and the models that take part."""

    topic = forms.ChoiceField(
        choices=lambda: [("", "All topics"), *((key, topic_title(key)) for key in all_topics())],
        help_text="Only suites about this topic",
    )
    tag = forms.ChoiceField(
        choices=lambda: [("", "All tests"), *((name, name) for name in frozen_tags())],
        help_text="Only tests with this tag at launch",
    )
    least = forms.IntegerField(
        label="Minimum suites",
        min_value=1,
        max_value=1000,
        help_text=f"Default: {MIN_SUITES}; {MIN_SUITES_OF_TOPIC} for a topic or tag",
    )
    beta = forms.FloatField(
        label="Weight of similarity",
        min_value=0,
        max_value=1,
        initial=0.0,
        help_text="Exploratory; 0 keeps the scores",
        widget=forms.NumberInput(
            attrs={"type": "range", "min": "0", "max": "1", "step": "0.05", "data-eh-submit": ""}
        ),
    )
    same = forms.BooleanField(label="Same suites only")
    family = forms.BooleanField(label="By family")
    model = forms.CharField(widget=forms.HiddenInput)


@dataclass(frozen=True)
class Ranking:
    """A computed leaderboard.

    Keys are of models or families; `runs` are those that count for each. `unmeasured` have no
    score at the chosen weight of similarity. `incomplete` runs are in no score.
    """

    field: Field
    counted: list[Latest]
    sums: dict[int, Sums]
    board: Board
    unmeasured: list[str]
    names: Mapping[str, str]
    runs: Mapping[str, list[int]]
    labels: Mapping[str, tuple[str, ...]]
    incomplete: tuple[LeftOut, ...]
    lacking: Mapping[str, int]
    """Number of incomplete runs of each model or family."""


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Rank models with confidence sets, and list excluded models and the runs behind one model."""
    ranking = _ranked(filters)
    sure = _certainty(filters, ranking, reading)
    return Document(
        title=_title(filters),
        sentences=(*_sentences(filters, ranking, sure), *_judged_by(ranking)),
        facts=_facts(filters, ranking, sure),
        tables=(
            _ranking_table(filters, ranking, sure.models if sure else {}),
            *_variants(filters, ranking),
            *rivals(filters["model"], ranking.names, sure),
            _excluded(ranking),
            *incomplete_table([one.found for one in ranking.incomplete], reading.reader),
            apart_table(ranking.field, reading.reader),
        ),
        warnings=(WARNING, *_mixed_versions(ranking)),
        labels=all_labels(ranking.labels),
    )


def _certainty(
    filters: Mapping[str, Any], ranking: Ranking, reading: Reading
) -> BoardCertainty | None:
    """Compute the certainty of a ranking from the scores of single tests, or leave it for later."""
    ranked, tag, beta = ranking.board.ranked, filters["tag"], filters["beta"] or 0
    if not ranked:
        return None
    runs = [run for one in ranked for suite in one.suites for run in suite.runs]
    return reading.computed(
        "rank-certainty-3",
        [tag, beta, *inputs(ranked, checksums(runs, tag))],
        lambda: certainty(ranked, ranking.field.test_scores(runs, tag, beta=beta)),
    )


def least_of(filters: Mapping[str, Any]) -> int:
    """Return the minimum number of suites."""
    is_part = filters["topic"] or filters["tag"]
    return filters["least"] or (MIN_SUITES_OF_TOPIC if is_part else MIN_SUITES)


def _ranked(filters: Mapping[str, Any]) -> Ranking:
    field = field_of_runs()
    counted = field.about(filters["topic"]) if filters["topic"] else field.latest
    beta = filters["beta"] or 0
    sums = field.sums(counted, filters["tag"], is_remixed=beta > 0)
    scores = suite_scores(
        counted, {run: one.at(beta) if beta else one.score for run, one in sums.items()}
    )
    names = {key: identity.name for key, identity in field.identities.items()}
    took = {one.model for one in counted}
    if filters["family"]:
        names = {key: identity.family for key, identity in field.identities.items()}
        scores, took = by_family(scores, names), {names[key] for key in took}
        names = {family: family for family in names.values()}
    runs = {
        key: [run for score in suites.values() for run in score.runs]
        for key, suites in scores.items()
    }
    topic = filters["topic"]
    incomplete = [one for one in field.incomplete if not topic or topic in one.topics]
    keys = [
        field.identities[one.model].family if filters["family"] else one.model for one in incomplete
    ]
    return Ranking(
        field=field,
        counted=counted,
        sums=sums,
        board=board(scores, least=least_of(filters), same_only=filters["same"]),
        unmeasured=sorted(took - scores.keys()),
        names=names,
        runs=runs,
        labels=labels_by_model(runs),
        incomplete=tuple(incomplete),
        lacking=Counter(keys),
    )


def _title(filters: Mapping[str, Any]) -> str:
    about = f" in {topic_title(filters['topic'])}" if filters["topic"] else ""
    tagged = f" on tests tagged “{filters['tag']}”" if filters["tag"] else ""
    ranked = "model families" if filters["family"] else "models"
    return f"Ranking of {ranked}{about}{tagged}"


def _sentences(
    filters: Mapping[str, Any], ranking: Ranking, sure: BoardCertainty | None
) -> tuple[str, ...]:
    ranked = ranking.board.ranked
    sentences = []
    if ranked:
        first = ranked[0]
        name, mean = ranking.names[first.model], f"{first.mean:.3g}"
        over = _suites(len(first.suites))
        sentences.append(
            f"{name} has the highest mean, {mean} over {over}."
            if len(ranked) > 1
            else f"Only {name} is ranked, with a mean of {mean} over {over}."
        )
    if len(ranked) > 1 and sure:
        sentences.append(lead(ranking.names, sure))
    if ranking.board.shared is not None:
        sentences.append(
            f"Only the {_suites(len(ranking.board.shared))} that all of them ran count."
        )
    if filters["beta"]:
        sentences.append(
            f"Exploratory: similarity to the reference makes up {filters['beta']:.0%} of each "
            "score on this page only. Human verdicts keep their score."
        )
    return tuple(sentences)


def _judged_by(ranking: Ranking) -> tuple[str, ...]:
    suites = {suite.suite for one in ranking.board.ranked for suite in one.suites}
    return judged_by(ranking.field, suites)


def _suites(n: int) -> str:
    return f"{n} suite{'' if n == 1 else 's'}"


def _mixed_versions(ranking: Ranking) -> tuple[str, ...]:
    versions: dict[int, set[str]] = defaultdict(set)
    for one in ranking.board.ranked:
        for suite in one.suites:
            versions[suite.suite].add(suite.version)
    mixed = sum(len(found) > 1 for found in versions.values())
    if not mixed:
        return ()
    return (
        f"In {_suites(mixed)} models ran different versions: tests changed in between. "
        "All versions count in the means, but models are compared on equal versions only.",
    )


def _facts(
    filters: Mapping[str, Any], ranking: Ranking, sure: BoardCertainty | None
) -> tuple[Fact, ...]:
    suites = {score.suite for one in ranking.board.ranked for score in one.suites}
    left_out = len(_not_ranked(ranking))
    return (
        Fact(
            "ranked",
            "Ranked",
            len(ranking.board.ranked),
            "count",
            f"≥ {_suites(least_of(filters))}",
        ),
        Fact("left_out", "Not ranked", left_out, "count", "reasons below"),
        Fact("suites", "Suites", len(suites), "count", "each counts once"),
        *told_apart(sure),
        outside_fact(ranking.field),
    )


def outside_fact(field: Field) -> Fact:
    return Fact("outside", "Runs left out", field.outside, "count", "no suite, or tagged “test”")


def _ranking_table(
    filters: Mapping[str, Any], ranking: Ranking, sure: Mapping[str, Certainty]
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
            Column("scored", "Scored", "count", "Results with a score, of all its runs"),
            Column("total", "All results", "count"),
            Column("developer", "Developer"),
            Column("runs", "Runs", "count", "One for each suite and variant"),
            Column("labels", "Notes"),
        ),
        rows=[
            _ranked_row(place, one, filters, ranking, sure) for place, one in enumerate(ranked, 1)
        ],
        note="The latest complete run of each suite and model, or the mean of its variants. "
        f"Models are compared in pairs on the tests that both have scored ({METHOD}, Holm; "
        f"whole issues in suites where a pair shares {MIN_CHANGED} or more). Elsewhere tests of "
        "one issue may fail together, and p is then too low. A wide range of ranks means that the "
        "data cannot tell models apart, not that they are equal.",
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
    return (
        f"No model has scores in {_suites(least_of(filters))} yet. Lower the minimum above, or run "
        "more suites."
    )


def _ranked_row(
    place: int,
    one: RankedModel,
    filters: Mapping[str, Any],
    ranking: Ranking,
    sure: Mapping[str, Certainty],
) -> tuple[Cell, ...]:
    known = sure.get(one.model)
    counted = [run for suite in one.suites for run in suite.runs if run in ranking.sums]
    opened = page_url("leaderboard", **{**filters, "model": one.model}) + "#variants"
    return (
        place,
        ranks_in_words(known) if known else None,
        Link(ranking.names[one.model], opened),
        Estimate(one.mean, len(one.suites), known.interval if known else None),
        sum(ranking.sums[run].n for run in counted),
        sum(ranking.sums[run].total for run in counted),
        _developer(filters, ranking, one.model),
        len(ranking.runs[one.model]),
        ", ".join(ranking.labels[one.model]) or None,
    )


def _developer(filters: Mapping[str, Any], ranking: Ranking, key: str) -> str | None:
    if not filters["family"]:
        return ranking.field.identities[key].developer or None
    developers = {one.developer for one in ranking.field.identities.values() if one.family == key}
    return ", ".join(sorted(developers - {""})) or None


def _not_ranked(ranking: Ranking) -> list[tuple[str, str]]:
    """Return the names of models that are not ranked, each with its reason."""
    found = [(one.model, one.reason) for one in ranking.board.excluded]
    found += [(key, "no score, or similarity not measured") for key in ranking.unmeasured]
    known = {key for key, _ in found} | {one.model for one in ranking.board.ranked}
    found += [(key, "no complete run") for key in ranking.lacking if key not in known]
    return [(ranking.names[key], reason + _lacking(ranking, key)) for key, reason in found]


def _lacking(ranking: Ranking, key: str) -> str:
    n = ranking.lacking.get(key, 0)
    return f"; {n} incomplete run{'' if n == 1 else 's'}" if n else ""


def _excluded(ranking: Ranking) -> Table:
    return Table(
        key="excluded",
        title="Not ranked",
        columns=(Column("name", "Model"), Column("reason", "Reason")),
        rows=_not_ranked(ranking),
        empty="Every model with a complete run of a suite is ranked."
        if ranking.board.ranked
        else "No run of a suite is complete yet.",
    )


def _variants(filters: Mapping[str, Any], ranking: Ranking) -> Iterator[Table]:
    """Yield the runs behind the opened model, with its original names."""
    if key := filters["model"]:
        rows = [_variant(run, ranking) for run in ranking.runs.get(key, ())]
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


def _variant(run: int, ranking: Ranking) -> tuple[Cell, ...]:
    entrant, sums = ranking.field.entrants[run], ranking.sums[run]
    return (
        entrant.suite_name,
        entrant.model_name,
        Link(entrant.label, reverse("reports:run", args=[run])),
        timezone.localtime(entrant.took.at),
        Estimate(sums.score, sums.n, total=sums.total),
    )


LEADERBOARD = Page(
    key="leaderboard",
    title="Leaderboard",
    summary="Models by the mean of their suites, each rank with its confidence set.",
    form=LeaderboardForm,
    build=build,
    icon="leaderboard",
)
