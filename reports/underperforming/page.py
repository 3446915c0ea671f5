"""Underperforming issues: issues with a pass rate significantly below that of their run."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from evalhub.charts import NEUTRAL, Figure, RateRow, issue_bars
from evalhub.formatting import counted, percent
from reports.compare.sentences import is_p
from reports.documents.document import Cell, Column, Document, Fact, Link, Linked, Table
from reports.documents.links import page_url, results_url
from reports.documents.rate_cells import issue_rate
from reports.documents.reading import Page, Reading, ReportForm
from reports.leaderboard.query import labels_by_run
from reports.underperforming.query import UnderperformingReport, newest_run, underperforming
from reports.underperforming.rule import EXACT, LAST, IssueComparison
from runs.figures.tallies import Rate
from runs.models import Run

MAX_OFFERED, MAX_DRAWN, MAX_NEXT = 50, 20, 10


class UnderperformingForm(ReportForm):
    """Filters of the page; the newest runs are offered, and any run may be asked for."""

    run = forms.ModelChoiceField(Run.objects.all(), empty_label="Latest run")

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        field: Any = self.fields["run"]
        runs = Run.objects.complete().only("label", "model_name", "created_at")
        offered = list(runs.order_by("-created_at", "-pk")[:MAX_OFFERED])
        chosen = self.filters["run"]
        if chosen is not None and chosen not in offered:
            offered.insert(0, chosen)
        names = [
            (run.pk, f"{run.label} ({run.model_name}, {run.created_at:%Y-%m-%d})")
            for run in offered
        ]
        field.choices = [("", field.empty_label), *names]


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the list of underperforming issues with reasons, and of the next ones."""
    report = underperforming(filters["run"] or newest_run(), reading)
    run = report.run
    return Document(
        title=f"Issues below the average of {run.model_name}"
        if run
        else "Issues below a run's average",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(_listed_table(report), _next_table(report)),
        labels=labels_by_run([run.pk])[run.pk] if run else (),
    )


def _sentences(report: UnderperformingReport) -> Iterator[str]:
    found = report.comparisons
    if found is None or found.rate is None:
        return
    listed, n = len(report.listed), len(found.issues)
    yield (
        f"{listed or 'None'} of {counted(n, 'issue')} "
        f"{'underperforms' if listed == 1 or n == 1 else 'underperform'}. The run's pass rate is "
        f"{percent(found.rate)}."
    )
    how = (
        "the exact binomial test"
        if found.rule == EXACT
        else "sign flips of its tests, whose repeats are not independent"
    )
    yield (
        "An issue is listed if the upper 95% bound of its pass rate is below the run's rate "
        f"({how}, corrected for all issues by Holm), or if none of its answers passed in the last "
        f"{LAST} complete runs of any model."
    )


def _facts(report: UnderperformingReport) -> Iterator[Fact]:
    run = report.run
    if run is None:
        return
    when = f"{run.model_name}, {run.created_at:%Y-%m-%d}"
    yield Fact("run", "Run", run.label, note=when, url=run.get_absolute_url())
    yield Fact("rate", "Run's pass rate", report.rate, "rate")
    found = report.comparisons
    if found is None:
        return
    below = sum(one.is_below for one in report.listed)
    never = sum(one.never_passed for one in report.listed)
    n = len(found.issues)
    yield Fact("below", "Significantly below average", below, "count", f"of {n} issues")
    yield Fact("never", "Never passed recently", never, "count", f"last {LAST} runs")


def reasons(one: IssueComparison, rate: float | None, issues: int) -> tuple[str, ...]:
    """Return the reasons why an issue is listed."""
    found = []
    if one.is_below and one.holm is not None:
        bound = f" (upper bound {percent(one.upper)})" if one.upper is not None else ""
        found.append(
            f"{one.passed} of {one.scored} passed{bound}; the run's rate is {percent(rate)} "
            f"({is_p(one.holm)}, corrected for {issues} issues)."
        )
    if one.never_passed:
        answers = sum(run.scored for run in one.last[:LAST])
        found.append(f"Never passed in its last {LAST} runs (0 of {answers} answers).")
    return tuple(found)


COLUMNS = (
    Column("issue", "Issue", "link"),
    Column("rate", "Pass rate", "rate"),
    Column("upper", "Upper bound", "share", "Of the pass rate (95%)"),
    Column("tests", "Tests", "count", "Scored tests"),
    Column("p", "p", "p", "One-sided: probability of this few passes at the run's rate"),
    Column("p_holm", "p (Holm)", "p", "Corrected for all issues of the run"),
    Column("excluded", "Excluded", "count", "Errors, unscored and pending results"),
)


def _listed_table(report: UnderperformingReport) -> Table:
    found, rows = report.comparisons, report.listed
    drawn = [
        RateRow(
            str(one.issue),
            report.titles[one.issue],
            one.scored - one.passed,
            one.scored,
            interval and interval.complement(),
        )
        for one in rows[:MAX_DRAWN]
        for interval in [_rate(report, one).interval]
    ]
    if report.run is None:
        empty = "No complete run yet. Launch a run to check its issues."
    elif found is None:
        empty = "Being computed."
    else:
        empty = (
            "No issue is significantly below the run's average. Add tests to the issues below to "
            "detect smaller differences."
        )
    return Table(
        key="listed",
        title="Significantly below average",
        columns=(*COLUMNS, Column("why", "Reason")),
        rows=[
            (*_row(report, one), " ".join(reasons(one, found.rate, len(found.issues))))
            for one in rows
            if found
        ],
        note="" if len(drawn) == len(rows) else f"The chart shows the first {MAX_DRAWN}.",
        empty=empty,
        draw=lambda: _figure(drawn, found.rate) if drawn and found else None,
        describes="Failure rate of each listed issue; the dashed line is the run's",
    )


def _next_table(report: UnderperformingReport) -> Table:
    issues = report.comparisons.issues if report.comparisons else ()
    below = [one for one in issues if not one.is_listed and one.p is not None and one.p < 1]
    return Table(
        key="next",
        title="Below average, not significant",
        columns=COLUMNS,
        rows=[_row(report, one) for one in below[:MAX_NEXT]],
        note="These rates may be low by chance.",
        empty="No other issue is below average." if report.run else "No complete run yet.",
    )


def _row(report: UnderperformingReport, one: IssueComparison) -> tuple[Cell, ...]:
    return (
        Link(report.titles[one.issue], page_url("issue_timeline", issue=one.issue)),
        Linked(_rate(report, one), results_url(report.run, issue=one.issue))
        if report.run
        else None,
        one.upper,
        one.tests,
        one.p,
        one.holm,
        report.excluded.get(one.issue, 0),
    )


def _rate(report: UnderperformingReport, one: IssueComparison) -> Rate:
    answers = report.run.repeats if report.run else 1
    return issue_rate(one.passed, one.scored, answers=answers)


def _figure(rows: list[RateRow], rate: float | None) -> Figure:
    """Draw the failure rates, with a line at the run's rate."""
    figure = issue_bars(rows)
    if rate is not None:
        figure["layout"]["shapes"] = [
            {
                "type": "line",
                "x0": 1 - rate,
                "x1": 1 - rate,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": NEUTRAL, "width": 2, "dash": "dash"},
            }
        ]
    return figure


UNDERPERFORMING = Page(
    key="underperforming",
    title="Underperforming issues",
    summary="Issues of a run with a pass rate significantly below its average, with reasons.",
    form=UnderperformingForm,
    build=build,
    icon="trending_down",
)
