"""Underperforming issues: what to work on next, over all models of the newest release."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from evalhub.display.charts import RateRow, issue_bars
from evalhub.display.formatting import counted
from evalhub.statistics.rates.behaviour_outcome import Word
from issues.severity import WEIGHT
from reports.documents.document import MIN_DRAWN, Cell, Column, Document, Fact, Link, Table
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.issue_timeline.timeline_tables import SAID
from reports.queries.incomplete_runs import incomplete_runs, incomplete_table
from reports.queries.periods import newest_releases
from reports.underperforming.query import UnderperformingReport, underperforming
from reports.underperforming.rule import LOST, WorkItem
from runs.models import Run

MAX_DRAWN = 20


class UnderperformingForm(ReportForm):
    """The release whose issues are ranked."""

    release = forms.ChoiceField(
        choices=lambda: [("", "Newest release"), *((name, name) for name in newest_releases())]
    )


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Rank the issues that fail, with reasons."""
    report = underperforming(reading, filters["release"])
    runs = Run.objects.filter(release=report.release) if report.release else Run.objects.none()
    return Document(
        title=f"What to work on next{f' in {report.release}' if report.release else ''}",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(
            listed_table(report),
            *incomplete_table(incomplete_runs(runs), reading.reader),
        ),
        labels=report.labels,
        leading=1,
    )


def _sentences(report: UnderperformingReport) -> Iterator[str]:
    if report.items:
        first = report.items[0]
        title, severity = report.titles[first.standing.issue], first.standing.severity
        yield f"Do this first: “{title}” ({severity}). {first.why}"


def _facts(report: UnderperformingReport) -> Iterator[Fact]:
    if report.items is None or not report.runs:
        return
    models = len({run.model_id for run in report.runs})
    yield Fact("models", "Models", models, "count", f"in {counted(len(report.runs), 'run')}")
    words = [item.standing.evidence.word for item in report.items]
    fails, of = words.count(Word.FAILS), f"of {report.issues:,}"
    yield Fact("fails", "Issues that fail", fails, "count", of)
    yield Fact("look", "To look at", words.count(Word.CANNOT_TELL), "count", "may fail")
    lost = sum(item.standing.lost is not None for item in report.items)
    before = f"since {report.before}" if report.before else "since the run before"
    yield Fact("lost", "Lost in all models together", lost, "count", before)


def listed_table(report: UnderperformingReport) -> Table:
    items = report.items or ()
    drawn = [
        RateRow(str(one.standing.issue), report.titles[one.standing.issue], failed, tests, None)
        for one in items[:MAX_DRAWN]
        for failed, tests in [_failed(one)]
    ]
    severities = ", ".join(f"{name} {weight}" for name, weight in WEIGHT.items())
    return Table(
        key="listed",
        title="By priority",
        columns=(
            Column("issue", "Issue", "link"),
            Column("severity", "Severity"),
            Column("outcome", "Outcome", "outcome"),
            Column("models", "Models", "text", "With which it fails for sure, of all"),
            Column("rate", "Failed", "share", "Mean over models and tests"),
            Column("reports", "Reports", "count", "Pieces of feedback"),
            Column("lost", "Lost", "text", "Since the release before, in all models together"),
            Column("priority", "Priority", "number"),
            Column("why", "Reason"),
        ),
        rows=[_row(report, one) for one in items],
        note=f"Priority: severity ({severities}) × shares of failed answers, added up over the "
        f"models with which the issue does not pass × (1 + reports), × {LOST} if it was lost since "
        "the release before. An order to work in, and no test.",
        empty="No issue fails in any answer." if report.runs else "No complete run yet.",
        draw=lambda: issue_bars(drawn) if len(drawn) >= MIN_DRAWN else None,
        describes="Failed tests of each issue, over all models",
    )


def _failed(one: WorkItem) -> tuple[int, int]:
    lines = one.standing.evidence.lines
    return sum(line.with_failures for line in lines), sum(line.tests for line in lines)


def _row(report: UnderperformingReport, one: WorkItem) -> tuple[Cell, ...]:
    found = one.standing
    lines = found.evidence.lines
    fails = sum(line.word == Word.FAILS for line in lines)
    return (
        Link(report.titles[found.issue], page_url("issue_timeline", issue=found.issue)),
        found.severity,
        SAID[found.evidence.word],
        f"{fails} of {len(lines)}",
        sum(line.rate for line in lines) / len(lines),
        one.reports,
        f"{found.lost.lost:.3g} of {found.lost.tests}" if found.lost else None,
        round(one.priority, 3),
        one.why,
    )


UNDERPERFORMING = Page(
    key="underperforming",
    title="Underperforming issues",
    question="What should we work on next?",
    summary="The issues of the newest release by severity, failing models, reports and regression.",
    form=UnderperformingForm,
    build=build,
)
