"""Underperforming: which issues a run surely does worse on than on the rest."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from evalhub.charts import NEUTRAL, Figure, RateRow, issue_bars
from evalhub.formatting import percent
from evalhub.statistics.interval import Interval
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

OFFERED, DRAWN, NEXT = 50, 20, 10


class RunField(forms.ModelChoiceField):
    def label_from_instance(self, run: Any) -> str:
        return f"{run.label} ({run.model_name}, {run.created_at:%Y-%m-%d})"


class UnderperformingForm(ReportForm):
    """Which run is looked at: one of the newest is offered, and any may be asked for."""

    run = RunField(Run.objects.all(), empty_label="The newest one")

    def __init__(self, query: QueryDict) -> None:
        super().__init__(query)
        field: Any = self.fields["run"]
        runs = Run.objects.complete().only("label", "model_name", "created_at")
        offered = list(runs.order_by("-created_at", "-pk")[:OFFERED])
        asked = self.asked["run"]
        if asked is not None and asked not in offered:
            offered.insert(0, asked)
        names = [(run.pk, field.label_from_instance(run)) for run in offered]
        field.choices = [("", field.empty_label), *names]


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """The issues that are listed, with why, and those that come next."""
    report = underperforming(asked["run"] or newest_run(), reading)
    return Document(
        question=_question(report),
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(_listed_table(report), _next_table(report)),
        labels=_labels(report.run),
    )


def _labels(run: Run | None) -> tuple[str, ...]:
    return labels_by_run([run.pk]).get(run.pk, ()) if run else ()


def _question(report: UnderperformingReport) -> str:
    if report.run is None:
        return "Which issues does a model fail more than the rest?"
    return f"Which issues does {report.run.model_name} fail more than the rest?"


# In words ----------------------------------------------------------------------------------------


def _sentences(report: UnderperformingReport) -> Iterator[str]:
    found = report.comparisons
    if found is None or found.rate is None:
        return
    listed, n = len(report.listed), len(found.issues)
    yield (
        f"{listed or 'None'} of {n} {'issue' if n == 1 else 'issues'} "
        f"{'is' if listed == 1 else 'are'} listed. The run as a whole passed {percent(found.rate)}."
    )
    how = (
        "the exact binomial test"
        if found.rule == EXACT
        else "flips of the signs of its tests, whose repeats are not independent"
    )
    yield (
        "The rule: an issue is listed when the upper 95 % bound of its pass rate lies below the "
        f"run's, by {how}, corrected for all issues together (Holm); or when it passed in none of "
        f"its last {LAST} complete runs, of whichever model."
    )


def _facts(report: UnderperformingReport) -> Iterator[Fact]:
    run = report.run
    if run is None:
        return
    when = f"{run.model_name}, {run.created_at:%Y-%m-%d}"
    yield Fact("run", "Run", run.label, note=when, url=run.get_absolute_url())
    yield Fact("rate", "The run's pass rate", report.rate, "rate")
    found = report.comparisons
    if found is None:
        return
    below = sum(one.is_below for one in report.listed)
    never = sum(one.never_passed for one in report.listed)
    yield Fact("below", "Surely below the run", below, "count", f"of {len(found.issues)} issues")
    yield Fact("never", "Passed in none of its last runs", never, "count", f"last {LAST} runs")


def reasons(one: IssueComparison, rate: float | None, issues: int) -> tuple[str, ...]:
    """Why an issue is listed, in words."""
    found = []
    if one.is_below and one.holm is not None:
        bound = f", {percent(one.upper)} at best," if one.upper is not None else ""
        found.append(
            f"{one.passed} of {one.scored} passed{bound} where the run passed {percent(rate)}: "
            f"{is_p(one.holm)}, corrected for {issues} issues."
        )
    if one.never_passed:
        answers = sum(run.scored for run in one.last[:LAST])
        found.append(f"Passed in none of its last {LAST} runs: 0 of {answers} answers.")
    return tuple(found)


# Tables ------------------------------------------------------------------------------------------

COLUMNS = (
    Column("issue", "Issue", "link"),
    Column("rate", "Pass rate", "rate"),
    Column("upper", "Upper bound", "share", "The highest rate that would be no surprise (95 %)"),
    Column("tests", "Tests", "count", "Decided tests: the unit of the rule"),
    Column("p", "p", "p", "One-sided: of so few passes, were the issue like the run"),
    Column("p_holm", "p (Holm)", "p", "Corrected for all issues of the run"),
    Column("excluded", "Undecided", "count", "Errors, unjudged and pending: in no rate"),
)


def _listed_table(report: UnderperformingReport) -> Table:
    found, rows = report.comparisons, report.listed
    drawn = [_bar(report, one) for one in rows[:DRAWN]]
    return Table(
        key="listed",
        title="Underperforming issues, the surest first",
        columns=(*COLUMNS, Column("why", "Why")),
        rows=[
            (*_row(report, one), " ".join(reasons(one, found.rate, len(found.issues))))
            for one in rows
            if found
        ],
        note="" if len(drawn) == len(rows) else f"The figure has the first {DRAWN} of them.",
        empty=_nothing_listed(report),
        draw=lambda: _figure(drawn, found.rate) if drawn and found else None,
        describes="The failure rate of each listed issue; the dashed line is the run's",
    )


def _nothing_listed(report: UnderperformingReport) -> str:
    if report.run is None:
        return "No run is complete yet. Launch one, and its issues are looked at here."
    if report.comparisons is None:
        return "This is being computed."
    return (
        "No issue of this run is surely worse than the rest. Few tests of an issue leave much to "
        "chance: write more of them for those that come next."
    )


def _next_table(report: UnderperformingReport) -> Table:
    issues = report.comparisons.issues if report.comparisons else ()
    below = [one for one in issues if not one.is_listed and one.p is not None and one.p < 1]
    return Table(
        key="next",
        title="Next: low, and not surely so",
        columns=COLUMNS,
        rows=[_row(report, one) for one in below[:NEXT]],
        note="Their rates may be low by chance.",
        empty="No other issue has been decided." if report.run else "No run is complete yet.",
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
    single = report.run is not None and report.run.repeats == 1
    return issue_rate(one.passed, one.scored, single=single)


def _bar(report: UnderperformingReport, one: IssueComparison) -> RateRow:
    interval = _rate(report, one).interval
    return RateRow(
        key=str(one.issue),
        label=report.titles[one.issue],
        failed=one.scored - one.passed,
        scored=one.scored,
        interval=Interval(1 - interval.high, 1 - interval.low) if interval else None,
    )


def _figure(rows: list[RateRow], rate: float | None) -> Figure:
    """The failure rates, and that of the whole run as a line across them."""
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
    summary="The issues that a run surely does worse on than on the rest, with why.",
    form=UnderperformingForm,
    build=build,
    icon="trending_down",
)
