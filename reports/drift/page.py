"""Drift: models whose score changed on the same tests with the same settings and judges."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isinf
from typing import Any

from django import forms
from django.utils import timezone

from evalhub.display.formatting import counted
from evalhub.models import User
from evalhub.statistics.changes.net_change import LEVEL
from reports.compare.conclusion_words import is_p
from reports.documents.document import Cell, Column, Document, Estimate, Fact, Link, Table
from reports.documents.links import page_url, row_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.documents.rejudging import refusal
from reports.drift.query import DriftReport, drift_report
from reports.drift.rule import (
    METHOD,
    NOT_TESTED,
    Observed,
    Series,
    Significance,
    State,
    rule_in_words,
)
from reports.leaderboard.figure import Move, moves
from reports.leaderboard.query import all_labels
from reports.queries.incomplete_runs import incomplete_table
from runs.comparison.comparability_rule import comparability
from runs.models import Run, Suite

MAX_DRAWN = 20
"""Drifts in the figure; the table has them all."""


class DriftForm(ReportForm):
    """Filters of the Drift page."""

    suite = forms.ModelChoiceField(Suite.objects.order_by("name"), empty_label="All suites")


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the list of series with scores far apart, and of the other series."""
    report = drift_report(reading)
    suite = filters["suite"].pk if filters["suite"] else None
    shown = [one for one in report.watch.series if suite in (None, one.line.suite)]
    far = [one for one in shown if one.state == State.FAR]
    others = [one for one in shown if one.state != State.FAR]
    incomplete = [one for one in report.incomplete if suite in (None, one.run.suite_id)]
    return Document(
        title="Silent changes of models",
        sentences=(*_sentences(report, shown, far), rule_in_words()),
        facts=_facts(report, shown, far),
        tables=(
            _drifts(report, far),
            _watched(report, others),
            *incomplete_table(incomplete, reading.reader),
            *_replaced(report, suite, reading.reader),
        ),
        labels=all_labels(
            {run.run: report.labels.get(run.run, ()) for series in far for run in series.extremes}
        ),
    )


def _sentences(report: DriftReport, shown: list[Series], far: list[Series]) -> Iterator[str]:
    states = Counter(one.state for one in shown)
    others = "".join(
        f"; {states[state]} {state}" for state in (State.TOO_SHORT, State.NO_SCORE) if states[state]
    )
    monitored = sum(one.is_monitored for one in shown)
    yield f"{monitored} series monitored, {len(far)} with scores far apart{others}."
    for series in _drifted(report, far):
        tested, (before, after) = _significance_of(report, series), series.extremes
        verb, tests = "rose" if series.is_better else "fell", counted(tested.tests, "test")
        yield (
            f"{_name(series)} drifted: it {verb} from {before.score:.3g} to {after.score:.3g} "
            f"between {_day(before)} and {_day(after)}, on the same {tests} "
            f"with the same settings and judges ({is_p(tested.p or 0)}, {tested.rule}, Holm)."
        )


def _significance_of(report: DriftReport, series: Series) -> Significance:
    return (report.significance or {}).get(series.runs[-1].run, NOT_TESTED)


def _drifted(report: DriftReport, far: list[Series]) -> list[Series]:
    return [series for series in far if _significance_of(report, series).is_significant]


def _name(series: Series) -> str:
    return f"{series.line.model_name} in {series.line.suite_name or 'no suite'}"


def _day(run: Observed) -> str:
    return f"{timezone.localtime(run.at):%Y-%m-%d}"


def _facts(report: DriftReport, shown: list[Series], far: list[Series]) -> tuple[Fact, ...]:
    watch = report.watch
    drifted = None if far and report.significance is None else len(_drifted(report, far))
    among = f"of {sum(one.is_monitored for one in shown)} series monitored, p ≤ {LEVEL}"
    in_none = "not monitored, all suites"
    return (
        Fact("drifted", "Drifted", drifted, "count", f"{among}, Holm over {watch.monitored}"),
        Fact("far", "Scores far apart", len(far), "count", "drifted or by chance"),
        Fact("single", "Single runs", watch.single, "count", "nothing to compare with, all suites"),
        Fact("warm", "Runs above temperature 0", watch.warm, "count", in_none),
        Fact("tried_out", "Runs of trial suites", watch.tried_out, "count", in_none),
    )


DRIFT_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("direction", "Drift", "verdict", "A dash: not significant"),
    Column("change", "Change", "number", "Later score minus earlier score, from −1 to 1"),
    Column("relative", "Above the lowest", "share", "Share of the lowest score; a dash: from 0"),
    Column("before", "Earlier run", "link"),
    Column("before_score", "Earlier score", "estimate"),
    Column("after", "Later run", "link"),
    Column("after_score", "Later score", "estimate"),
    Column("tests", "Tests", "count", "With a score in both runs"),
    Column("p_holm", "p (Holm)", "p", "For all pairs of runs and all series monitored"),
    Column("method", "Method"),
    Column("runs", "Runs", "count", "Runs of the series; the two shown are its lowest and highest"),
    Column("look", "Compare", "link"),
)


def _drifts(report: DriftReport, far: list[Series]) -> Table:
    drawn = [
        Move(_name(series), *(run.score or 0.0 for run in series.extremes))
        for series in far[:MAX_DRAWN]
    ]
    return Table(
        key="drifts",
        title="Scores far apart",
        columns=DRIFT_COLUMNS,
        rows=[_drift(report, series) for series in far],
        note=f"Largest change first. p: {METHOD} The thresholds are rules of thumb.",
        empty="No scores far apart. Schedule a launch of a suite to monitor its models.",
        draw=lambda: moves(drawn) if drawn else None,
        describes="Lowest and highest score of each series, the earlier one first",
    )


def _drift(report: DriftReport, series: Series) -> tuple[Cell, ...]:
    before, after = series.extremes
    tested = _significance_of(report, series)
    otherwise = "being computed" if report.significance is None else None
    verdict = "better" if series.is_better else "worse"
    return (
        series.line.model_name,
        series.line.suite_name or None,
        verdict if tested.is_significant else otherwise,
        series.change if series.is_better else -series.change,
        None if isinf(series.relative) else series.relative,
        _run(before),
        _score(report, before),
        _run(after),
        _score(report, after),
        tested.tests or None,
        tested.p,
        tested.rule or None,
        len(series.runs),
        Link("Compare", page_url("compare", runs=[before.run, after.run])),
    )


def _run(run: Observed) -> Link:
    return Link(f"{timezone.localtime(run.at):%Y-%m-%d %H:%M}", row_url("reports:run", run.run))


def _score(report: DriftReport, run: Observed) -> Estimate | None:
    """Return the score with its n; None where the series is too short to be scored."""
    sums = report.sums.get(run.run)
    return None if sums is None else Estimate(sums.score, sums.n, total=sums.total)


def _watched(report: DriftReport, others: list[Series]) -> Table:
    return Table(
        key="watched",
        title="Other series",
        columns=(
            Column("model", "Model"),
            Column("suite", "Suite"),
            Column("state", "State"),
            Column("change", "Range", "number", "Highest minus lowest score; not tested"),
            Column("low", "Lowest", "estimate"),
            Column("high", "Highest", "estimate"),
            Column("runs", "Runs", "count"),
            Column("days", "Days", "number", "From the first run to the last"),
            Column("last", "Last run", "link"),
        ),
        rows=[_other(report, series) for series in others],
        empty="No other series has two complete runs.",
    )


def _other(report: DriftReport, series: Series) -> tuple[Cell, ...]:
    is_scored = series.state == State.STEADY
    return (
        series.line.model_name,
        series.line.suite_name or None,
        series.state.value,
        series.change if is_scored else None,
        _score(report, series.low) if is_scored else None,
        _score(report, series.high) if is_scored else None,
        len(series.runs),
        round(series.span.total_seconds() / 86_400, 2),
        _run(series.runs[-1]),
    )


def _replaced(report: DriftReport, suite: int | None, reader: User) -> Iterator[Table]:
    """Yield the table of series that another jury or scoring ended, if there are any."""
    shown = [pair for pair in report.watch.replaced if suite in (None, pair[1].line.suite)]
    runs = Run.objects.select_related("suite").in_bulk({run.run for pair in shown for run in pair})
    if shown:
        yield Table(
            key="apart",
            title="Not comparable: other jury or scoring",
            columns=(
                Column("model", "Model"),
                Column("suite", "Suite"),
                Column("before", "Last run judged as before", "link"),
                Column("after", "Newest run", "link"),
                Column("reason", "Reason", "link"),
            ),
            rows=[
                (
                    newest.line.model_name,
                    newest.line.suite_name or None,
                    _run(older),
                    _run(newest),
                    refusal(
                        runs[newest.run],
                        runs[older.run],
                        comparability(older.line.scoring, newest.line.scoring),
                        reader,
                    ),
                )
                for older, newest in shown
            ],
            note="The same tests and settings, scored in another way: a change between these runs "
            "is not drift. Re-judge the newest run to continue the series.",
        )


DRIFT = Page(
    key="drift",
    title="Drift",
    question="Did a model change silently?",
    summary="Models whose score changed on the same tests with the same settings and judges.",
    form=DriftForm,
    build=build,
)
