"""Drift: which model does better or worse than it did, on the same tests asked in the same way."""

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
    """Which lines are shown; the rule is the same for all."""

    suite = forms.ModelChoiceField(Suite.objects.order_by("name"), empty_label="All suites")


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """What drifted, the largest change first, and what else was watched."""
    report = drift_report()
    suite = asked["suite"].pk if asked["suite"] else None
    shown = [one for one in report.watch.series if suite in (None, _line(one).suite)]
    drifted = [one for one in shown if one.state == State.DRIFTED]
    others = [one for one in shown if one.state != State.DRIFTED]
    return Document(
        question="Has any model changed although it was tested in the same way?",
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
    directions = f": {len(drifted) - better} for the worse, {better} for the better"
    told = [
        f"{states[State.DRIFTED] + states[State.STEADY]} series watched",
        f"{len(drifted)} drifted{directions if drifted else ''}",
    ]
    near = [f"{states[state]} {state}" for state in (State.TOO_SHORT, State.NO_SCORE)]
    return ", ".join(told) + "".join(f"; {one}" for one in near if one[0] != "0") + "."


def _largest(drifted: list[Series]) -> tuple[str, ...]:
    """The largest change in words; nothing where nothing drifted."""
    if not drifted:
        return ()
    series = drifted[0]
    before, after = _extremes(series)
    verb = "rose" if series.is_better else "fell"
    return (
        f"The largest: {_name(series)} {verb} from {before.score:.3g} to {after.score:.3g} between "
        f"{_day(before)} and {_day(after)}. Nothing that was sent or asked had changed; look at "
        "both runs side by side before you believe it.",
    )


def _name(series: Series) -> str:
    line = _line(series)
    return f"{line.model_name} in {line.suite_name or 'no suite'}"


def _extremes(series: Series) -> tuple[Observed, Observed]:
    """The lowest and the highest run, the earlier one first."""
    first, last = sorted((series.low, series.high), key=lambda run: (run.at, run.run))
    return first, last


def _day(run: Observed) -> str:
    return f"{timezone.localtime(run.at):%Y-%m-%d}"


def _facts(report: DriftReport, shown: list[Series], drifted: list[Series]) -> tuple[Fact, ...]:
    watch = report.watch
    return (
        Fact("drifted", "Drifted", len(drifted), "count", f"of {len(shown)} series"),
        Fact("single", "With one run only", watch.single, "count", "nothing to compare with"),
        Fact(
            "warm",
            "Runs at another temperature",
            watch.warm,
            "count",
            "not watched: only 0, or none set",
        ),
        Fact("tried_out", "Runs of test suites", watch.tried_out, "count", "tagged “test”"),
    )


# Tables ------------------------------------------------------------------------------------------

DRIFT_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("direction", "Direction", "verdict"),
    Column("change", "Change", "number", "Later score less the earlier one, on a scale of 0 to 1"),
    Column("relative", "Of the lowest", "share", "The change as a share of the lowest score"),
    Column("before", "Earlier run", "link"),
    Column("before_score", "Its score", "estimate"),
    Column("after", "Later run", "link"),
    Column("after_score", "Its score", "estimate"),
    Column("runs", "Runs", "count", "Runs of the series; these two are its lowest and highest"),
    Column("overrides", "Overrides", "count", "Results of these two runs that people decided"),
    Column("look", "Side by side", "link"),
)


def _drifts(report: DriftReport, drifted: list[Series]) -> Table:
    drawn = [_move(series) for series in drifted[:MOST_DRAWN]]
    return Table(
        key="drifts",
        title="Drifted, the largest change first",
        columns=DRIFT_COLUMNS,
        rows=[_drift(report, series) for series in drifted],
        note="The thresholds are rules of thumb: a drift is a reason to look, and no proof.",
        empty="Nothing drifted. Launch a suite again, in the same way and a day later or more, "
        "to keep watch; a launch can recur by itself.",
        draw=lambda: moves(drawn) if drawn else None,
        describes="For each model that drifted, its score before and after",
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
        "from nothing" if isinf(series.relative) else series.relative,
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
    """The score with how many results it is of; None where the series is too short to be scored."""
    sums = report.sums.get(run.run)
    return None if sums is None else Estimate(sums.score, sums.n)


OVERRIDE_COLUMNS = (
    Column("model", "Model"),
    Column("suite", "Suite"),
    Column("run", "Run", "link"),
    Column("which", "Which"),
    Column("who", "Who"),
    Column("results", "Results", "count"),
    Column(
        "between", "Between the two runs", "count", "Decided after the first, before the second"
    ),
)


def _overrides(report: DriftReport, drifted: list[Series]) -> Iterable[Table]:
    """Who decided results of runs that drifted; nothing where nobody did."""
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
            title="Overridden by people",
            columns=OVERRIDE_COLUMNS,
            rows=rows,
            note="Scores may differ because people decided results of one run and not of the "
            "other, and not because the model changed.",
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
        title="Watched, and not drifted",
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
    summary="Models that do better or worse than they did, on the same tests asked the same way.",
    form=DriftForm,
    build=build,
    icon="waves",
)
