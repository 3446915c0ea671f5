"""Conclusive runs as series that are monitored for drift."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from evalhub.llm.model_identity import read_name
from evalhub.values.id_in import IdIn
from reports.documents.reading import Reading
from reports.drift.rule import (
    Observed,
    ScoreChange,
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
from runs.comparison.comparability import SCORING, scoring
from runs.comparison.comparability_rule import Scoring
from runs.comparison.outcomes_by_test import outcomes_in
from runs.comparison.tested_rule import Tested
from runs.models import Run


class Asked(NamedTuple):
    """The tests, the variant and the release of a run; `suite` None: no suite.

    A change from one release to another is no silent one.
    """

    suite: int | None
    suite_fingerprint: str
    variant_key: str
    release: str


@dataclass(frozen=True)
class Line:
    """The common ground of a series of runs: what they ask, and the key of how they are scored."""

    asked_alike: Asked
    scored_alike: str
    scoring: Scoring = field(compare=False)
    suite_name: str = field(compare=False)
    model_name: str = field(compare=False)

    @property
    def suite(self) -> int | None:
        return self.asked_alike.suite


@dataclass(frozen=True)
class DriftReport:
    """All series, and what the page says of them.

    Attributes:
        watch: Series with a `Line` each.
        sums: By run, of series that are long enough.
        significance: By newest run of each series with scores far apart; None while it is computed.
        labels: By run, of the lowest and the highest run of such a series.
        incomplete: Runs that are in no series.
    """

    watch: Watch
    sums: dict[int, Sums]
    significance: dict[int, Significance] | None
    labels: dict[int, tuple[str, ...]]
    incomplete: tuple[IncompleteRun, ...]


def drift_report(reading: Reading) -> DriftReport:
    """Read the report; a constant number of queries. Short series are not scored.

    Results of sealed tests count as others do, since a report shows no text of a test.
    """
    tried_out = tried_out_suites(tags_by_suite())
    conclusive = conclusive_runs_with_times().order_by().values_list(*SCORING, *FIELDS)
    rows = [Row(row[: len(SCORING)], *row[len(SCORING) :]) for row in conclusive]
    runs = _observed(rows, tried_out)
    long_enough = [
        run.run
        for series in watch(runs).series
        if series.state != State.TOO_SHORT
        for run in series.runs
    ]
    sums = sums_of(long_enough, {row.run: row.own_beta for row in rows})
    scores = {run: found.score for run, found in sums.items()}
    found = watch(run._replace(score=scores.get(run.run)) for run in runs)
    shown = {run.run for series in found.far for run in series.extremes}
    return DriftReport(
        watch=found,
        sums=sums,
        significance=_significance(found, reading),
        labels=labels_by_run(shown),
        incomplete=incomplete_runs(Run.objects.exclude(suite__in=tried_out), with_judgments=True),
    )


def _significance(found: Watch, reading: Reading) -> dict[int, Significance] | None:
    """Test the lowest against the highest run of each series with scores far apart; two queries."""
    series = found.far
    if not series:
        return {}
    pairs = [(one.low.run, one.high.run) for one in series]
    lengths = [len(one.runs) for one in series]
    compared = {run for pair in pairs for run in pair}

    def test() -> list[Significance]:
        tests = outcomes_in(compared)
        changes = [_score_changes(tests[low], tests[high]) for low, high in pairs]
        return significances(list(zip(lengths, changes, strict=True)), monitored=found.monitored)

    inputs = [pairs, lengths, found.monitored]
    tested = reading.computed("drift-significance", inputs, list[Significance], test, of=compared)
    newest = [one.runs[-1].run for one in series]
    return None if tested is None else dict(zip(newest, tested, strict=True))


def _score_changes(low: Iterable[Tested], high: Iterable[Tested]) -> list[ScoreChange]:
    """Return the changes of the tests that have a score in both runs."""
    before = {one.revision_id: one.score for one in low}
    return [
        ScoreChange(one.issue_id, one.weight, one.score - score)
        for one in high
        if one.score is not None and (score := before.get(one.revision_id)) is not None
    ]


class Row(NamedTuple):
    """The columns `FIELDS` of a conclusive run; `how` has those of `SCORING`."""

    how: tuple[Any, ...]
    run: int
    at: datetime
    suite_name: str | None
    model_name: str
    suite: int | None
    suite_fingerprint: str
    variant_key: str
    release: str

    @property
    def own_beta(self) -> float:
        return float(self.how[0])


FIELDS = (
    *("pk", "began_at", "suite__name", "model_name"),
    *("suite_id", "suite_fingerprint", "variant_key", "release"),
)


def _observed(rows: Sequence[Row], tried_out: Collection[int]) -> list[Observed]:
    """Return these runs without their scores; one query."""
    sent = _temperatures(rows)
    named = {name: read_name(name).temperature for name in {row.model_name for row in rows}}
    found = []
    for row in rows:
        how = scoring(*row.how)
        asked = Asked(row.suite, row.suite_fingerprint, row.variant_key, row.release)
        line = Line(asked, how.key, how, row.suite_name or "", row.model_name)
        temperature = sent[row.variant_key]
        if temperature is None:
            temperature = named[row.model_name]
        is_tried_out = row.suite in tried_out
        found.append(Observed(row.run, line, row.at, None, temperature, is_tried_out))
    return found


def _temperatures(rows: Iterable[Row]) -> dict[str, Any]:
    """Return the temperature that each variant is sent, None if none is; one query."""
    runs = {row.variant_key: row.run for row in rows}  # one of each: its parameters are the same
    found = Run.objects.filter(IdIn("id", runs.values())).order_by()
    params = found.values_list("variant_key", "endpoint__params", "params")
    return {key: ((general or {}) | own).get("temperature") for key, general, own in params}
