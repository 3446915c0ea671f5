"""The tables of an issue's page."""

from datetime import datetime

from django.utils import timezone

from evalhub.display.charts import Figure
from evalhub.statistics.rates.behaviour_outcome import Word
from reports.documents.document import Cell, Column, LazyRows, Link, Table, folded
from reports.documents.links import row_url
from reports.issue_timeline.figure import Square, strip
from reports.issue_timeline.query import IssueReport, Line, Point
from reports.issue_timeline.rule import (
    IssueResult,
    ReleasePoint,
    TurningPoints,
    evidence_of,
)

SHORT = 160

SAID = {Word.PASSES: "passes", Word.FAILS: "fails", Word.CANNOT_TELL: "cannot tell"}

RUN_COLUMNS = (
    Column("run", "Run", "link"),
    Column("line", "Model"),
    Column("release", "Release"),
    Column("date", "Date", "date"),
    Column("outcome", "Outcome", "outcome", "Of these runs alone; see Releases for the rule"),
    Column("rate", "Pass rate", "rate"),
    Column("excluded", "Excluded", "count", "Errors, unscored and pending results"),
)


def run_link(report: IssueReport, run: int) -> Link:
    """Link to the run's results of this issue."""
    url = f"{row_url('reports:run', run)}?issue={report.issue.pk}#results"
    return Link(report.runs[run].label, url)


def runs_table(report: IssueReport) -> Table:
    points = [(line, point) for line in report.lines for point in line.points]
    points.sort(key=lambda pair: (pair[1].series_point.at, pair[1].run), reverse=True)
    return Table(
        key="runs",
        title="Runs",
        columns=RUN_COLUMNS,
        rows=[_point_row(report, line, point) for line, point in points],
        note="Runs of a model in one release are taken together. The number in a square is the "
        "percentage of answers that passed; its colour is the outcome, as under Releases. Ranges "
        "are 95% intervals. There is none with several answers to a test, which are not "
        "independent.",
        empty="No complete run has results of this issue yet. Launch a run with its tests.",
        draw=lambda: _strip(report) if points else None,
        describes="Outcome of the issue with each model in each release",
        look="folded",
    )


def releases_table(report: IssueReport) -> Table:
    """Return the outcome of each release with its evidence, newest first."""
    return Table(
        key="releases",
        title="Releases",
        columns=(
            Column("release", "Release"),
            Column("date", "First run", "date"),
            Column("outcome", "Outcome", "outcome"),
            Column("why", "Reason"),
            Column("rate", "Failed", "share", "Mean over the tests, of the worst model"),
            Column("upper", "At most", "share", "Upper 95% bound of the same"),
            Column("limit", "Allowed", "share", "By severity"),
            Column("tests", "Tests", "count"),
            Column("failing", "Failing", "count", "Tests that fail more often than judges err"),
            Column("false_fails", "False fails", "share", "Of the judges, upper 95% bound"),
            Column("basis", "Basis", "text", "Of the false fails"),
        ),
        rows=LazyRows(report.releases[::-1], lambda some: [_release_row(point) for point in some]),
        note="Passes: at most the allowed share of answers fails, for sure, with every model. "
        "Fails: with one model, more tests fail than judges that err explain, or people confirmed "
        "a failure. Repeats are no further tests. False fails that were not measured are assumed "
        "to be 10%.",
        empty="No complete run has results of this issue yet.",
        look="long",
    )


def _release_row(point: ReleasePoint) -> tuple[Cell, ...]:
    found = point.evidence.deciding
    figures: tuple[Cell, ...] = (None,) * 7
    if found:
        rate = found.false_fails
        figures = (
            *(found.rate, found.upper, found.limit, found.tests, found.failing),
            *(rate.bound, "assumed" if rate.is_assumed else "measured"),
        )
    return (
        point.name or None,
        point.runs[0].at,
        SAID[point.word],
        point.evidence.words,
        *figures,
    )


def _point_row(report: IssueReport, line: Line, point: Point) -> tuple[Cell, ...]:
    more = len(point.seen) - 1
    link = run_link(report, point.run)
    return (
        Link(link.text, link.url, f"and {more} more") if more else link,
        line.name,
        point.series_point.release or None,
        point.series_point.at,
        SAID[_word(point)],
        point.rate,
        point.excluded,
    )


def _strip(report: IssueReport) -> Figure:
    column_of = {seen.run: place for place, one in enumerate(report.releases) for seen in one.runs}
    found = [
        {column_of[point.run]: Square(_word(point), point.rate.share) for point in line.points}
        for line in report.lines
    ]
    columns = sorted(set().union(*found))
    return strip(
        [_named(report.releases[place]) for place in columns],
        [line.name for line in report.lines],
        [[row.get(place) for place in columns] for row in found],
    )


def _named(point: ReleasePoint) -> str:
    return point.name or reported(point.runs[-1].at)


def _word(point: Point) -> Word:
    return evidence_of(point.seen).word


def turns_table(report: IssueReport) -> Table:
    lines = sorted(report.lines, key=lambda line: line.turns.first_failed is None)
    shown = sum(line.turns.first_failed is not None for line in lines)
    return Table(
        key="turns",
        title="Turning points",
        columns=(
            Column("line", "Model"),
            Column("before", "Last run before", "link", "It broke after this run"),
            Column("first_failed", "First failure", "link", "and before or in this one"),
            Column("passed_again", "First pass again", "link"),
            Column("now", "Now", "outcome"),
            Column("why", "Reason", "text", "Of the newest run"),
            Column("streak", "Runs in a row", "count", "With the outcome it has now"),
            Column("newest", "Newest run", "link"),
            Column("left_out", "Not comparable", "count", "Runs judged or scored in another way"),
        ),
        rows=[(line.name, *_turns(report, line.turns), line.left_out) for line in lines],
        **folded(len(lines), shown, "model", said="without a failure"),
        note="Over all complete runs, shown above or not, that are comparable with the newest run "
        "of their model. Each run passes or fails by the rule below Releases. "
        "Whether one run differs from the next is not tested: compare the two.",
        empty="No complete run has results of this issue yet.",
    )


def _turns(report: IssueReport, turns: TurningPoints) -> tuple[Cell, ...]:
    now = turns.now
    return (
        _seen_link(report, turns.before),
        _seen_link(report, turns.first_failed),
        _seen_link(report, turns.passed_again),
        SAID[now.word] if now else None,
        now.evidence.words if now else None,
        turns.streak if now else None,
        _seen_link(report, now),
    )


def _seen_link(report: IssueReport, seen: IssueResult | None) -> Link | None:
    if seen is None:
        return None
    link = run_link(report, seen.run)
    when = f"{timezone.localtime(seen.at):%Y-%m-%d}"
    return Link(link.text, link.url, f"release {seen.release}, {when}" if seen.release else when)


def tests_table(report: IssueReport) -> Table:
    more = report.tests_total - len(report.tests)
    return Table(
        key="tests",
        title="Tests, lowest pass rate first",
        columns=(
            Column("test", "Test", "link"),
            Column("prompt", "Prompt", "excerpt"),
            Column("state", "State"),
            Column("rate", "Pass rate", "rate", "Over the runs shown"),
            Column("excluded", "Excluded", "count"),
        ),
        rows=[
            (
                Link(f"test {line.pk}", row_url("admin:issues_test_change", line.pk)),
                "sealed" if line.prompt is None else line.prompt,
                line.state.replace("_", " "),
                line.rate if line.rate.n else None,
                line.excluded,
            )
            for line in report.tests
        ],
        note="The order is not tested." + (f" {more} more tests not shown." if more else ""),
        empty="No tests yet. Add one that shows the issue.",
    )


def feedback_table(report: IssueReport) -> Table:
    hidden = report.feedback_total - len(report.feedback)
    return Table(
        key="feedback",
        title="Feedback",
        columns=(
            Column("feedback", "Feedback", "link"),
            Column("rating", "Rating"),
            Column("model", "Model"),
            Column("state", "State"),
            Column("date", "Date", "date"),
        ),
        rows=[
            (
                Link(str(one)[:SHORT], one.get_absolute_url()),
                one.get_rating_display(),
                one.model or None,
                one.state,
                one.created_at,
            )
            for one in report.feedback
        ],
        note=f"{hidden} more not shown: sealed or older." if hidden else "",
        empty="All feedback is sealed for you."
        if hidden
        else "No feedback yet. Link feedback that reports the same error.",
    )


def changes_table(report: IssueReport) -> Table:
    return Table(
        key="states",
        title="State changes",
        columns=(
            Column("date", "Date", "date"),
            Column("from", "From"),
            Column("to", "To"),
            Column("who", "By"),
            Column("why", "Reason"),
        ),
        rows=[
            (change.at, change.before or None, change.after, change.by or None, change.reason)
            for change in reversed(report.changes)
        ],
        empty="No changes recorded.",
    )


def reported(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d}"
