"""Complete runs as series that are monitored for drift, and human overrides of them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Count, Q

from evalhub.digest import digest
from evalhub.llm.identity import read_name
from reports.drift.rule import Observed, Series, State, Watch, watch
from reports.leaderboard.query import labels_by_run
from reports.leaderboard.rule import Sums
from reports.queries.complete_runs import complete_runs_with_times, sums_of
from reports.queries.topics import tags_by_suite
from runs.models import HumanEvaluation


@dataclass(frozen=True)
class Line:
    """The common ground of a series of runs; `suite` None: no suite."""

    suite: int | None
    suite_name: str = field(compare=False)
    model_name: str = field(compare=False)
    scored_alike: str
    """Digest of what must be equal: tests, jury, variant, and how similarity counts."""


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
        overrides: By run, of the two runs of each drift.
        labels: By run, of the same runs.
    """

    watch: Watch
    sums: dict[int, Sums]
    overrides: dict[int, list[Overrides]]
    labels: dict[int, tuple[str, ...]]


def drift_report() -> DriftReport:
    """Read the report; a constant number of queries. Short series are not scored."""
    runs, own_betas = _observed()
    long_enough = [
        run.run
        for series in watch(runs).series
        if series.state != State.TOO_SHORT
        for run in series.runs
    ]
    sums = sums_of(long_enough, own_betas)
    found = watch(replace(run, score=_score(sums, run.run)) for run in runs)
    shown = {run.run for series in found.drifted for run in (series.low, series.high)}
    return DriftReport(found, sums, _overrides(found.drifted), labels_by_run(shown))


def _score(sums: dict[int, Sums], run: int) -> float | None:
    return sums[run].score if run in sums else None


FIELDS = (
    "pk",
    "suite_id",
    "suite__name",
    "model_name",
    "suite_fingerprint",
    "variant_key",
    "similarity_weight",
    "similarity_endpoint",
    "score_by_similarity",
    "params",
    "endpoint__params",
    "began_at",
    "jury_fingerprint",
)


def _observed() -> tuple[list[Observed], dict[int, float]]:
    """Return every complete run without its score, and the weight of similarity by run."""
    found = complete_runs_with_times()
    tags = tags_by_suite()
    rows = list(found.order_by().values(*FIELDS))
    runs = [_run(row, tags.get(row["suite_id"] or 0, ())) for row in rows]
    return runs, {row["pk"]: row["similarity_weight"] for row in rows}


def _run(row: dict[str, Any], suite_tags: tuple[str, ...]) -> Observed:
    alike = ("suite_fingerprint", "jury_fingerprint", "variant_key", "similarity_weight")
    ways = ("similarity_endpoint", "score_by_similarity")
    line = Line(
        suite=row["suite_id"],
        suite_name=row["suite__name"] or "",
        model_name=row["model_name"],
        scored_alike=digest([row[name] for name in (*alike, *ways)]),
    )
    return Observed(
        run=row["pk"],
        line=line,
        at=row["began_at"],
        score=None,
        temperature=_temperature(row),
        suite_tags=suite_tags,
    )


def _temperature(row: dict[str, Any]) -> Any:
    """Return the temperature sent, else the one in the model's name."""
    sent = (row["endpoint__params"] or {}) | (row["params"] or {})
    told = sent.get("temperature")
    return read_name(row["model_name"]).temperature if told is None else told


def _overrides(drifted: Iterable[Series]) -> dict[int, list[Overrides]]:
    """Count the overrides of the two runs of each drift by annotator; one query."""
    spans = {frozenset((series.low.run, series.high.run)): _span(series) for series in drifted}
    if not spans:
        return {}
    runs = {run for pair in spans for run in pair}
    between = reduce(or_, (_within(pair, *span) for pair, span in spans.items()))
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


def _span(series: Series) -> tuple[datetime, datetime]:
    first, last = sorted((series.low.at, series.high.at))
    return first, last


def _within(pair: frozenset[int], first: datetime, last: datetime) -> Q:
    return Q(result__run__in=pair, created_at__gt=first, created_at__lt=last)
