"""Leaderboards: models by the mean of their suites, overall or within a topic or tag."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from django import forms

from evalhub.display.formatting import counted
from reports.documents.document import Document, Fact
from reports.documents.reading import Page, Reading, ReportForm
from reports.documents.topic_names import topic_title
from reports.leaderboard.certainty_rule import BoardCertainty, by_mean, certainty, inputs
from reports.leaderboard.certainty_tables import lead, overlap, rivals, told_apart
from reports.leaderboard.jury_tables import apart_table, judged_by
from reports.leaderboard.pairwise_query import pairwise_board, pairwise_sentences
from reports.leaderboard.query import (
    Field,
    all_labels,
    field_of_runs,
    frozen_tags,
    labels_by_model,
)
from reports.leaderboard.ranking_tables import (
    Ranking,
    excluded_table,
    least_of,
    not_ranked,
    ranking_table,
    variants_tables,
)
from reports.leaderboard.rule import (
    MIN_SUITES,
    MIN_SUITES_OF_TOPIC,
    board,
    by_family,
    suite_scores,
)
from reports.leaderboard.tradeoff_tables import (
    Tradeoff,
    choice,
    tradeoff_of,
    tradeoff_tables,
)
from reports.queries.incomplete_runs import incomplete_table
from reports.queries.topics import all_topics

WARNING = (
    "A mean over very different suites rewards generalists and can mislead: before you decide, "
    "check the suites that matter to you."
)


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
        help_text=f"Default: {MIN_SUITES} ({MIN_SUITES_OF_TOPIC} of a topic), or all there are",
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


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Rank models with confidence sets, and list excluded models and the runs behind one model."""
    ranking = _ranked(filters)
    sure = _certainty(filters, ranking, reading)
    if sure:
        ranked = by_mean(ranking.board.ranked, sure)
        ranking = replace(ranking, board=replace(ranking.board, ranked=ranked))
    models = sure.models if sure else {}
    tradeoff = tradeoff_of(ranking)
    is_whole = not filters["family"] and not filters["tag"]
    pairwise = pairwise_board(ranking.board.ranked, reading) if is_whole else None
    answer = (*_answer(ranking, tradeoff, sure), *_limits(filters, ranking))
    return Document(
        title=_title(filters),
        sentences=(
            *answer,
            *_sentences(ranking, sure),
            *_judged_by(ranking),
            *(pairwise_sentences(pairwise, ranking.names) if pairwise else ()),
        ),
        leading=len(answer),
        facts=_facts(filters, ranking, sure),
        tables=(
            ranking_table(filters, ranking, models, pairwise),
            *tradeoff_tables(tradeoff, models),
            *variants_tables(filters, ranking),
            *rivals(filters["model"], ranking.names, sure),
            excluded_table(ranking),
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
        "rank-certainty-2",
        [tag, beta, inputs(ranked)],
        BoardCertainty,
        lambda: certainty(ranked, ranking.field.test_scores(runs, tag, beta=beta)),
        of=runs,
    )


def _ranked(filters: Mapping[str, Any]) -> Ranking:
    field = field_of_runs()
    latest = field.about(filters["topic"]) if filters["topic"] else field.latest
    beta = filters["beta"] or 0
    sums = field.sums(latest, filters["tag"], is_remixed=beta > 0)
    scores = suite_scores(
        latest, {run: one.at(beta) if beta else one.score for run, one in sums.items()}
    )
    names = {key: identity.name for key, identity in field.identities.items()}
    took = {one.model for one in latest}
    if filters["family"]:
        names = {key: identity.family for key, identity in field.identities.items()}
        scores, took = by_family(scores, names), {names[key] for key in took}
        names = {family: family for family in names.values()}
    runs = {
        key: [run for score in suites.values() for run in score.runs]
        for key, suites in scores.items()
    }
    least = least_of(filters, max(map(len, scores.values()), default=0))
    topic = filters["topic"]
    incomplete = [one for one in field.incomplete if not topic or topic in one.topics]
    keys = [
        field.identities[one.model].family if filters["family"] else one.model for one in incomplete
    ]
    return Ranking(
        field=field,
        sums=sums,
        board=board(scores, least=least, same_only=filters["same"]),
        unmeasured=sorted(took - scores.keys()),
        names=names,
        runs=runs,
        labels=labels_by_model(runs),
        incomplete=tuple(incomplete),
        lacking=Counter(keys),
        least=least,
    )


def _title(filters: Mapping[str, Any]) -> str:
    about = f" in {topic_title(filters['topic'])}" if filters["topic"] else ""
    tagged = f" on tests tagged “{filters['tag']}”" if filters["tag"] else ""
    ranked = "model families" if filters["family"] else "models"
    return f"Ranking of {ranked}{about}{tagged}"


def _answer(ranking: Ranking, tradeoff: Tradeoff, sure: BoardCertainty | None) -> Iterator[str]:
    """Yield which model to take: the first, or those that cannot be told apart from it."""
    ranked = ranking.board.ranked
    if len(ranked) == 1:
        yield f"Only {_mean_of(ranking)}."
    elif ranked and sure:
        undecided = () if sure.leader else choice(tradeoff, sure)
        yield next(iter(undecided), lead(ranking.names, sure))


def _mean_of(ranking: Ranking) -> str:
    """Return the mean of the best, such as "gpt-4o is ranked, with a mean of 0.6 over 2 suites"."""
    best, is_only = ranking.board.ranked[0], len(ranking.board.ranked) == 1
    has = "is ranked, with a mean of" if is_only else "has the highest mean,"
    over = counted(len(best.suites), "suite")
    return f"{ranking.names[best.model]} {has} {best.mean:.3g} over {over}"


def _limits(filters: Mapping[str, Any], ranking: Ranking) -> Iterator[str]:
    """Yield what the reader's choices leave out or change."""
    if ranking.board.shared is not None:
        n = counted(len(ranking.board.shared), "suite")
        yield f"Only the {n} that all of them ran count."
    if filters["beta"]:
        yield (
            f"Exploratory: similarity to the reference makes up {filters['beta']:.0%} of each "
            "score on this page only. Human verdicts keep their score."
        )


def _sentences(ranking: Ranking, sure: BoardCertainty | None) -> Iterator[str]:
    """Yield what the answer rests on."""
    if len(ranking.board.ranked) > 1:
        yield f"{_mean_of(ranking)}."
        if sure and not sure.leader:
            yield lead(ranking.names, sure)
    if sure:
        yield overlap(sure)


def _judged_by(ranking: Ranking) -> tuple[str, ...]:
    suites = {suite.suite for one in ranking.board.ranked for suite in one.suites}
    return judged_by(ranking.field, suites)


def _mixed_versions(ranking: Ranking) -> tuple[str, ...]:
    versions: dict[int, set[str]] = defaultdict(set)
    for one in ranking.board.ranked:
        for suite in one.suites:
            versions[suite.suite].add(suite.version)
    mixed = sum(len(found) > 1 for found in versions.values())
    if not mixed:
        return ()
    return (
        f"In {counted(mixed, 'suite')} models ran different versions: tests changed in between. "
        "All versions count in the means, but models are compared on tests that both have.",
    )


def _facts(
    filters: Mapping[str, Any], ranking: Ranking, sure: BoardCertainty | None
) -> tuple[Fact, ...]:
    suites = {score.suite for one in ranking.board.ranked for score in one.suites}
    left_out = len(not_ranked(ranking))
    return (
        Fact(
            "ranked",
            "Ranked",
            len(ranking.board.ranked),
            "count",
            f"≥ {counted(ranking.least, 'suite')}",
        ),
        Fact("left_out", "Not ranked", left_out, "count", "reasons below"),
        Fact("suites", "Suites", len(suites), "count", "each counts once"),
        *told_apart(sure),
        outside_fact(ranking.field),
    )


def outside_fact(field: Field) -> Fact:
    return Fact("outside", "Runs left out", field.outside, "count", "no suite, or tagged “test”")


LEADERBOARD = Page(
    key="leaderboard",
    title="Leaderboard",
    question="Which model should we ship?",
    summary="Models by the mean of their suites, each rank with its confidence set.",
    form=LeaderboardForm,
    build=build,
)
