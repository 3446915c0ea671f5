"""Trend: the pass rate of each model over releases or time, and changes of tests and judges."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms

from evalhub.display.formatting import counted, few
from evalhub.statistics.changes.conclusion import ORDER
from reports.compare.conclusion_words import family, first_run, in_line
from reports.documents.document import Document, Table
from reports.documents.fields import (
    SuiteField,
    issue_field,
    models_field,
    tag_field,
    tests_field,
    tests_filter_help,
)
from reports.documents.reading import Page, Reading, ReportForm
from reports.queries.incomplete_runs import incomplete_table
from reports.trend.filters import RELEASE, TIME, TrendQuery
from reports.trend.last_changes_query import LastChange, LastChanges, TagChange, last_changes
from reports.trend.query import TrendReport, trend_report
from reports.trend.slow_decay_query import slow_lines, slow_sentences, slow_table
from reports.trend.trend_tables import (
    changes_table,
    heat_table,
    latest_table,
    panels_table,
    points_table,
    tag_changes_table,
)

POINTS, MAX_POINTS = 20, 50
MAX_FALLS = 3


class TrendForm(ReportForm):
    """Filters of the Trend page."""

    suite = SuiteField()
    over = forms.ChoiceField(
        label="By",
        choices=[("", "Release (or date)"), (RELEASE, "Release"), (TIME, "Date")],
    )
    tag = tag_field()
    issue = issue_field()
    models = models_field()
    tests = tests_field()
    points = forms.IntegerField(
        label="Runs shown", min_value=2, max_value=MAX_POINTS, initial=POINTS
    )
    family = forms.BooleanField(label="By family")
    each = forms.BooleanField(label="One chart per tag")


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the lines, the changes of tests and judges, and the rates by tag."""
    query = TrendQuery(
        suite=filters["suite"],
        over=filters["over"],
        tag=filters["tag"],
        issue=filters["issue"],
        models=list(filters["models"] or ()),
        by_family=filters["family"],
        points=filters["points"] or POINTS,
        each_tag=filters["each"],
        tests=filters["tests"],
    )
    report = trend_report(query, reading)
    changes = last_changes(report, query, reading)
    slow = slow_lines(report, query, reading)
    subjects = [subject for subject in (query.tag, query.issue) if subject is not None]
    about = "".join(f" on “{subject}”" for subject in subjects)
    by_release = report.is_by_release or query.over == RELEASE
    over = "by release" if by_release else "over time"
    caveat = (
        "The latest runs of these lines differ in judges or share no test: compare each line with "
        "itself only."
    )
    return Document(
        title=f"Pass rate{about} {over}",
        sentences=(
            *tests_filter_help(query.tests),
            *_sentences(report),
            *slow_sentences(slow),
            *_moves(changes.lines),
            *_falls(changes.tags),
            *_left_out(report),
        ),
        tables=(
            *_tables(report, changes, query, reading),
            *slow_table(slow),
            *incomplete_table(report.incomplete, reading.reader),
        ),
        warnings=(caveat,) if report.measured_apart else (),
        labels=report.labels,
    )


def _tables(
    report: TrendReport, changes: LastChanges, query: TrendQuery, reading: Reading
) -> Iterator[Table]:
    """Yield the tables; without runs, only the first, which says so."""
    numbers = {change: number for number, change in enumerate(report.changes, 1)}
    yield points_table(report, numbers, changes.lines)
    if report.lines:
        yield latest_table(report, changes.lines, reading.reader)
        if not query.has_subject:
            yield tag_changes_table(report, changes.tags)
        yield changes_table(report, numbers)
        if not query.has_subject:
            yield heat_table(report)
        if query.each_tag and not query.has_subject:
            yield panels_table(report, numbers, changes.tags)


# In words ----------------------------------------------------------------------------------------


def _days(first: datetime, last: datetime) -> str:
    days = [f"{day:%Y-%m-%d}" for day in (first, last)]
    return f"on {days[0]}" if days[0] == days[1] else f"from {days[0]} to {days[1]}"


def _sentences(report: TrendReport) -> Iterator[str]:
    if not report.lines:
        return
    times = [point.series_point.at for line in report.lines for point in line.points]
    runs, lines = len(report.series.runs), len(report.lines)
    yield (
        f"{counted(runs, 'run')} of {report.scope.name} on {counted(lines, 'line')}, "
        f"{_days(min(times), max(times))}."
    )
    if not report.has_steps:
        yield first_run(report.lines[0].points[-1].series_point.release, runs)
    if report.shared:
        yield f"Drawn on the {counted(report.shared.n, 'test')} that all runs shown have."
        yield from _new_tests(report)


def _new_tests(report: TrendReport) -> Iterator[str]:
    """Yield how each line's newest run did on tests that are not drawn."""
    for line in report.lines:
        newest = line.points[-1]
        if found := report.others.get(newest.place):
            tests = counted(found.total // newest.run.repeats, "new test")
            yield f"{tests}: {found.passed:,} of {found.scored:,} passed with {line.name}."


def _moves(changes: Mapping[str, LastChange]) -> Iterator[str]:
    """Yield what each line shows against its previous run, those that changed first."""
    for one in sorted(changes.values(), key=lambda one: ORDER.index(one.conclusion.word)):
        yield f"{one.line.name} since its previous run: {in_line(one.conclusion, one.change.tally)}"
    yield from filter(None, [family(len(changes), "line")])


def _falls(changes: Sequence[TagChange]) -> Iterator[str]:
    """Yield the tags that fell for sure, or else the one that fell most."""
    fallen = [one for one in changes if (one.change.net or 0) < 0]
    found = [one for one in fallen if one.is_sure]
    if found:
        named = few([_fall(one) for one in found], most=MAX_FALLS)
        yield f"Tags that surely fell: {named}."
    elif fallen:
        yield f"No tag surely fell. The largest fall, which may be chance: {_fall(fallen[0])}."


def _fall(one: TagChange) -> str:
    tally = one.change.tally
    lost = f"lost {tally.worse:,}, won {tally.better:,} of {counted(tally.n, 'test')}"
    return f"{one.tag} with {one.line.name}, {lost}"


def _left_out(report: TrendReport) -> Iterator[str]:
    """Yield what is not shown, and how to show it."""
    series = report.series
    if series.left_out:
        names = few(report.lines_left_out, of=len(series.left_out))
        yield f"Not shown: {names}, which ran longer ago. Choose models to show them."
    counts = (
        (series.earlier, "earlier run", "; increase “Runs shown”"),
        (series.unreleased, "run", " without a release; switch to “Date”"),
        (report.unfinished, "unfinished run", ""),
        (report.unpooled, "run", " judged otherwise than the newest of the same point"),
        (report.changes_left_out, "older change", ""),
    )
    yield from (f"Not shown: {counted(n, noun)}{more}." for n, noun, more in counts if n)


TREND = Page(
    key="trend",
    title="Trend",
    question="What goes up or down over releases?",
    summary="Pass rates by release or date, overall or of a tag or issue, and other changes.",
    form=TrendForm,
    build=build,
)
