"""Drift: models whose score changed on the same tests with the same settings and judges."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import isinf
from typing import Any

from django import forms
from django.urls import reverse
from django.utils import timezone

from reports.documents.document import Cell, Column, Document, Estimate, Fact, Link, Table
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.drift.query import DriftReport, Line, drift_report
from reports.drift.rule import Observed, Series, State, rule_in_words
from reports.leaderboard.figure import Move, moves
from runs.models import Suite

MOST_DRAWN = 20
"""Drifts in the figure; the table has them all."""


class DriftForm(ReportForm):
    """Filters of the Drift page."""

    suite = forms.ModelChoiceField(Suite.objects.order_by("name"), empty_label="All suites")


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """Build the list of drifts, largest change first, and of the other series."""
    report = drift_report()
    suite = asked["suite"].pk if asked["suite"] else None
    shown = [one for one in report.watch.series if suite in (None, _line(one).suite)]
    drifted = [one for one in shown if one.state == State.DRIFTED]
    others = [one for one in shown if one.state != State.DRIFTED]
    return Document(
        title="Silent changes of models",
        sentences=(_found(shown, drifted), *_largest(drifted), rule_in_words()),
        facts=_facts(report, shown, drifted),
        tables=(
            _drifts(report, drifted),
            *_overrides(report, drifted),
            _watched(report, others),
        ),
        labels=tuple(sorted({label for found in report.labels.values() for label in found})),
    )


def _line(series: Series) -> Line:
    found = series.line
    assert isinstance(found, Line)
    return found


# In words ----------------------------------------------------------------------------------------


def _found(shown: list[Series], drifted: list[Series]) -> str:
    states = Counter(one.state for one in shown)
    better = sum(one.is_better for one in drifted)
    directions = f" ({len(drifted) - better} worse, {better} better)"
    told = [
        f"{states[State.DRIFTED] + states[State.STEADY]} series monitored",
        f"{len(drifted)} drifted{directions if drifted else ''}",
    ]
    near = [f"{states[state]} {state}" for state in (State.TOO_SHORT, State.NO_SCORE)]
    return ", ".join(told) + "".join(f"; {one}" for one in near if one[0] != "0") + "."


def _largest(drifted: list[Series]) -> tuple[str, ...]:
    """Describe the largest drift; () without any."""
    if not drifted:
        return ()
    series = drifted[0]
    before, after = _extremes(series)
    verb = "rose" if series.is_better else "fell"
    return (
        f"Largest: {_name(series)} {verb} from {before.score:.3g} to {after.score:.3g} between "
        f"{_day(before)} and {_day(after)}, with the same tests, settings and judges. Compare "
        "the two runs to confirm it.",
    )


def _name(series: Series) -> str:
    line = _line(series)
    return f"{line.model_name} in {line.suite_name or 'no suite'}"


def _extremes(series: Series) -> tuple[Observed, Observed]:
    """Return the lowest and the highest run, the earlier one first."""
    first, last = sorted((series.low, series.high), key=lambda run: (run.at, run.run))
    return first, last


def _day(run: Observed) -> str:
    return f"{timezone.localtime(run.at):%Y-%m-%d}"


def _facts(report: DriftReport, shown: list[Series], drifted: list[Series]) -> tuple[Fact, ...]:
    watch = report.watch
    return (
        Fact("drifted", "Drifted", len(drifted), "count", f"of {len(shown)} series"),
        Fact("single", "Single runs", watch.single, "count", "nothing to compare with"),
        Fact(
            "warm",
            "Runs above temperature 0",
            watch.warm,
            "count",
            "not monitored",
        ),
        Fact("tried_out", "Runs of trial suites", watch.tried_out, "count", "not monitored"),
    )


# Tables ------------------------------------------------------------------------------------------

DRIFT_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("direction", "Direction", "verdict"),
    Column("change", "Change", "number", "Later score minus earlier score, from −1 to 1"),
    Column("relative", "Relative change", "share", "Share of the lowest score"),
    Column("before", "Earlier run", "link"),
    Column("before_score", "Earlier score", "estimate"),
    Column("after", "Later run", "link"),
    Column("after_score", "Later score", "estimate"),
    Column("runs", "Runs", "count", "Runs of the series; the two shown are its lowest and highest"),
    Column("overrides", "Overrides", "count", "Results of the two runs with a human verdict"),
    Column("look", "Compare", "link"),
)


def _drifts(report: DriftReport, drifted: list[Series]) -> Table:
    drawn = [_move(series) for series in drifted[:MOST_DRAWN]]
    return Table(
        key="drifts",
        title="Drifts",
        columns=DRIFT_COLUMNS,
        rows=[_drift(report, series) for series in drifted],
        note="Largest change first. The thresholds are rules of thumb: check a drift before acting "
        "on it.",
        empty="No drift. Schedule a launch of a suite to monitor its models.",
        draw=lambda: moves(drawn) if drawn else None,
        describes="Scores of each drifted model before and after",
    )


def _move(series: Series) -> Move:
    before, after = _extremes(series)
    return Move(_name(series), before.score or 0.0, after.score or 0.0)


def _drift(report: DriftReport, series: Series) -> tuple[Cell, ...]:
    before, after = _extremes(series)
    line = _line(series)
    return (
        line.model_name,
        line.suite_name or None,
        "better" if series.is_better else "worse",
        series.change if series.is_better else -series.change,
        "from 0" if isinf(series.relative) else series.relative,
        _run(before),
        _score(report, before),
        _run(after),
        _score(report, after),
        len(series.runs),
        sum(one.results for run in (before, after) for one in report.overrides.get(run.run, ())),
        Link("Compare", page_url("compare", runs=[before.run, after.run])),
    )


def _run(run: Observed) -> Link:
    url = reverse("reports:run", args=[run.run])
    return Link(f"{timezone.localtime(run.at):%Y-%m-%d %H:%M}", url)


def _score(report: DriftReport, run: Observed) -> Estimate | None:
    """Return the score with its n; None where the series is too short to be scored."""
    sums = report.sums.get(run.run)
    return None if sums is None else Estimate(sums.score, sums.n)


OVERRIDE_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("run", "Run", "link"),
    Column("which", "Earlier or later"),
    Column("who", "Annotator"),
    Column("results", "Results", "count"),
    Column(
        "between", "Between the runs", "count", "Overridden after the earlier run, before the later"
    ),
)


def _overrides(report: DriftReport, drifted: list[Series]) -> Iterable[Table]:
    """Return the table of overrides on drifted runs; [] without any."""
    rows = [
        (_line(series).model_name, _line(series).suite_name or None, _run(run), which, *one[1:])
        for series in drifted
        for run, which in zip(_extremes(series), ("earlier", "later"), strict=True)
        for one in report.overrides.get(run.run, ())
    ]
    if not rows:
        return []
    return [
        Table(
            key="overrides",
            title="Human overrides",
            columns=OVERRIDE_COLUMNS,
            rows=rows,
            note="Scores may differ because one of the runs has more human verdicts, not because "
            "the model changed.",
        )
    ]


WATCHED_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("state", "State"),
    Column("change", "Largest change", "number"),
    Column("low", "Lowest", "estimate"),
    Column("high", "Highest", "estimate"),
    Column("runs", "Runs", "count"),
    Column("days", "Days", "number", "From the first run to the last"),
    Column("last", "Last run", "link"),
)


def _watched(report: DriftReport, others: list[Series]) -> Table:
    return Table(
        key="watched",
        title="Stable",
        columns=WATCHED_COLUMNS,
        rows=[_other(report, series) for series in others],
        empty="No other series has two complete runs.",
    )


def _other(report: DriftReport, series: Series) -> tuple[Cell, ...]:
    line = _line(series)
    is_scored = series.state == State.STEADY
    return (
        line.model_name,
        line.suite_name or None,
        series.state.value,
        series.change if is_scored else None,
        _score(report, series.low) if is_scored else None,
        _score(report, series.high) if is_scored else None,
        len(series.runs),
        round(series.span.total_seconds() / 86_400, 2),
        _run(series.runs[-1]),
    )


DRIFT = Page(
    key="drift",
    title="Drift",
    summary="Models whose score changed on the same tests with the same settings and judges.",
    form=DriftForm,
    build=build,
    icon="waves",
)
