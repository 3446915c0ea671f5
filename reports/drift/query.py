"""Conclusive runs as series that are monitored for drift, and human overrides of them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.db.models import Count, Q

from evalhub.llm.identity import read_name
from evalhub.values.digest import digest
from reports.compare.matching_rule import Tested
from reports.compare.query import outcomes_in
from reports.documents.reading import Reading
from reports.drift.rule import (
    Observed,
    ScoreChange,
    Series,
    Significance,
    State,
    Watch,
    significances,
    watch,
)
from reports.leaderboard.query import labels_by_run, tried_out_suites
from reports.leaderboard.rule import Sums
from reports.queries.conclusive_runs import conclusive_runs_with_times, sums_of
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.topics import tags_by_suite
from runs.comparability import SCORING, Comparable, comparability, scoring
from runs.models import HumanEvaluation, Run


@dataclass(frozen=True)
class Line:
    """The common ground of a series of runs; `suite` None: no suite."""

    suite: int | None
    suite_name: str = field(compare=False)
    model_name: str = field(compare=False)
    asked_alike: str
    """Digest of tests and variant."""
    scored_alike: str
    """Digest of what must be equal: tests and variant, and how the run is scored."""


class Overrides(NamedTuple):
    """Numbers of results of a run that an annotator overrode: all, and between two runs."""

    run: int
    who: str
    results: int
    between: int


@dataclass(frozen=True)
class DriftReport:
    """The series monitored for drift.

    Attributes:
        watch: Series with a `Line` each.
        sums: By run, of series that are long enough.
        significance: By newest run of each series with scores apart; {} while it is computed.
        overrides: By run, of the two runs furthest apart of such a series.
        labels: By run, of the same runs.
        incomplete: Runs that are in no series.
        apart: The newest run of a series, and the newest of the same tests and variant that is not
            comparable with it.
    """

    watch: Watch
    sums: dict[int, Sums]
    significance: dict[int, Significance]
    overrides: dict[int, list[Overrides]]
    labels: dict[int, tuple[str, ...]]
    incomplete: tuple[IncompleteRun, ...]
    apart: tuple[tuple[Observed, Observed, Comparable], ...]


def drift_report(reading: Reading) -> DriftReport:
    """Read the report; a constant number of queries. Short series are not scored."""
    tags = tags_by_suite()
    rows = list(conclusive_runs_with_times().order_by().values(*FIELDS))
    runs = [_observed(row, tags.get(row["suite_id"] or 0, ())) for row in rows]
    long_enough = [
        run.run
        for series in watch(runs).series
        if series.state != State.TOO_SHORT
        for run in series.runs
    ]
    sums = sums_of(long_enough, {row["pk"]: row["similarity_weight"] for row in rows})
    scores = {run: found.score for run, found in sums.items()}
    found = watch(replace(run, score=scores.get(run.run)) for run in runs)
    shown = {run.run for series in found.far for run in (series.low, series.high)}
    how = {row["pk"]: scoring(*(row[name] for name in SCORING)) for row in rows}
    return DriftReport(
        watch=found,
        sums=sums,
        significance=_significance(found, sums, reading),
        overrides=_overrides(found.far),
        labels=labels_by_run(shown),
        incomplete=incomplete_runs(Run.objects.exclude(suite__in=tried_out_suites(tags))),
        apart=tuple(
            (older, newest, comparability(how[older.run], how[newest.run]))
            for older, newest in found.apart
        ),
    )


def _significance(found: Watch, sums: dict[int, Sums], reading: Reading) -> dict[int, Significance]:
    """Test the lowest against the highest run of each series with scores apart; one query."""
    series = found.far
    if not series:
        return {}
    pairs = [(one.low.run, one.high.run) for one in series]
    monitored = len(series) + len(found.of(State.STEADY))
    of = [
        [*pair, len(one.runs), *(_version(sums[run]) for run in pair)]
        for one, pair in zip(series, pairs, strict=True)
    ]

    def test() -> list[Significance]:
        tests = outcomes_in({run for pair in pairs for run in pair})
        changes = [_score_changes(tests[low], tests[high]) for low, high in pairs]
        runs = [len(one.runs) for one in series]
        return significances(list(zip(runs, changes, strict=True)), monitored=monitored)

    tested = reading.computed("drift-significance", [of, monitored], test) or []
    return {one.runs[-1].run: sure for one, sure in zip(series, tested, strict=False)}


def _version(sums: Sums) -> str:
    """Return a text that changes with these sums, to 12 digits: databases add in any order."""
    return f"{sums.n} {sums.weight:.12g} {sums.weighted:.12g}"


def _score_changes(low: Iterable[Tested], high: Iterable[Tested]) -> list[ScoreChange]:
    """Return the changes of the tests that have a score in both runs."""
    before = {one.revision_id: one.score for one in low}
    return [
        ScoreChange(one.issue_id, one.weight, one.score - score)
        for one in high
        if one.score is not None and (score := before.get(one.revision_id)) is not None
    ]


FIELDS = (
    "pk",
    "suite_id",
    "suite__name",
    "model_name",
    "suite_fingerprint",
    "variant_key",
    "params",
    "endpoint__params",
    "began_at",
    *SCORING,
)


def _observed(row: dict[str, Any], suite_tags: tuple[str, ...]) -> Observed:
    """Return a conclusive run without its score."""
    how = scoring(*(row[name] for name in SCORING))
    asked_alike = digest([row["suite_id"], row["suite_fingerprint"], row["variant_key"]])
    # The temperature sent, else the one in the model's name.
    sent = (row["endpoint__params"] or {}) | (row["params"] or {})
    temperature = sent.get("temperature")
    if temperature is None:
        temperature = read_name(row["model_name"]).temperature
    line = Line(
        suite=row["suite_id"],
        suite_name=row["suite__name"] or "",
        model_name=row["model_name"],
        asked_alike=asked_alike,
        scored_alike=digest([asked_alike, how.key]),
    )
    return Observed(
        run=row["pk"],
        line=line,
        at=row["began_at"],
        score=None,
        temperature=temperature,
        suite_tags=suite_tags,
    )


def _overrides(apart: Sequence[Series]) -> dict[int, list[Overrides]]:
    """Count the overrides of the two runs furthest apart by annotator; one query."""
    between = Q()
    for series in apart:
        first, last = sorted((series.low, series.high), key=lambda run: run.at)
        within = Q(created_at__gt=first.at, created_at__lt=last.at)
        between |= Q(within, result__run__in=[first.run, last.run])
    if not between:
        return {}
    runs = {run.run for series in apart for run in (series.low, series.high)}
    rows = HumanEvaluation.objects.filter(result__run__in=runs, result__is_overridden=True)
    counted = (
        rows.order_by("annotator__username")
        .values("result__run_id", "annotator__username")
        .annotate(
            all=Count("result", distinct=True),
            between=Count("result", distinct=True, filter=between),
        )
    )
    found: dict[int, list[Overrides]] = defaultdict(list)
    for row in counted.values_list("result__run_id", "annotator__username", "all", "between"):
        found[row[0]].append(Overrides(*row))
    return found
