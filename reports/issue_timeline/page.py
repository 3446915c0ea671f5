"""Issue timeline: the runs, tests, feedback and states of one issue."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef
from django.utils.functional import cached_property

from evalhub.display.formatting import counted, percent
from evalhub.statistics.rates.behaviour_outcome import Word
from issues.models import Issue, IssueState
from issues.severity import MAX_FAILURE_RATE
from reports.documents.document import Column, Document, Fact, Link, Table, folded
from reports.documents.links import page_url
from reports.documents.reading import Page, Reading, ReportForm
from reports.issue_proposals.proposals import cached_proposals
from reports.issue_timeline.query import IssueReport, issue_report
from reports.issue_timeline.timeline_tables import (
    changes_table,
    feedback_table,
    releases_table,
    reported,
    runs_table,
    tests_table,
    turns_table,
)
from reports.queries.incomplete_runs import incomplete_table
from runs.models import Result

POINTS, MAX_POINTS, OFFERED, NEWEST = 10, 50, 50, 5

PROPOSED = {
    "resolve": "Its runs suggest resolving it.",
    "reopen": "Its runs suggest reopening it.",
}


STATED = {
    Word.PASSES: "it passes",
    Word.FAILS: "it fails",
    Word.CANNOT_TELL: "EvalHub cannot tell whether it passes",
}


class IssueForm(ReportForm):
    """Filters of the issue timeline."""

    issue = forms.ModelChoiceField(
        Issue.objects.all(),
        widget=forms.NumberInput(attrs={"min": 1}),
        label="Issue",
    )
    points = forms.IntegerField(
        label="Runs shown", min_value=2, max_value=MAX_POINTS, initial=POINTS
    )
    family = forms.BooleanField(label="By family")

    @cached_property
    def filters(self) -> dict[str, Any]:
        """Return the filters; `is_unknown`: there is no such issue, and none is shown for it."""
        return super().filters | {"is_unknown": "issue" in self.errors}


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Build the timeline: runs by model, turning points, tests, feedback and states."""
    is_unknown = filters.get("is_unknown", False)
    issue = None if is_unknown else filters["issue"] or _worth_a_look(reading)
    if issue is None:
        return Document(
            title="Results of an issue over time",
            sentences=("There is no such issue." if is_unknown else "No issue has a result yet.",),
            tables=(_issues_table(),),
        )
    report = issue_report(
        issue,
        by_family=bool(filters["family"]),
        points=filters["points"] or POINTS,
        reading=reading,
    )
    return Document(
        title=f"Results of “{issue}” over time",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report)),
        tables=(
            runs_table(report),
            releases_table(report),
            turns_table(report),
            tests_table(report),
            feedback_table(report),
            changes_table(report),
            *incomplete_table(report.incomplete, reading.reader),
            *([] if filters["issue"] else [_issues_table()]),
        ),
        labels=report.labels,
        more={"proposal": report.proposal},
    )


def _worth_a_look(reading: Reading) -> Issue | None:
    """Return an issue with a proposal, or else the one changed last that has a result."""
    for proposal in cached_proposals(reading) or ():
        return Issue.objects.get(pk=proposal.issue)
    issues = Issue.objects.order_by("-updated_at", "-pk")
    return issues.filter(Exists(Result.objects.filter(issue=OuterRef("pk")))).first()


def _issues_table() -> Table:
    """List issues to choose from."""
    issues = Issue.objects.order_by("-updated_at", "-pk").only("title", "state", "severity")
    found = list(issues[:OFFERED])
    return Table(
        key="issues",
        title="Recently changed issues",
        columns=(
            Column("issue", "Issue", "link"),
            Column("state", "State"),
            Column("severity", "Severity"),
        ),
        rows=[
            (
                Link(str(issue), page_url("issue_timeline", issue=issue)),
                issue.get_state_display(),
                issue.get_severity_display(),
            )
            for issue in found
        ],
        note="Without a choice, the timeline is of an issue that may be resolved or reopened, or "
        "else of the one that was changed last.",
        empty="No issues yet. Create one, and add tests to it.",
        **folded(len(found), NEWEST, "issue"),
    )


# In words ----------------------------------------------------------------------------------------


def _feedback(n: int) -> str:
    return counted(n, "piece of feedback", "pieces of feedback") if n else "no feedback"


def _sentences(report: IssueReport) -> Iterator[str]:
    issue = report.issue
    author = f" by {issue.author}" if issue.author else ""
    yield (
        f"Reported on {reported(issue.created_at)}{author}, "
        f"with {_feedback(report.feedback_total)}. "
        f"State: {issue.get_state_display().lower()}. "
        f"Severity: {issue.get_severity_display().lower()}."
    )
    if report.resolution_note or issue.state == IssueState.RESOLVED:
        labels = ", ".join(str(label) for label in issue.resolution_labels.all())
        parts = ". ".join(part for part in (labels, report.resolution_note) if part)
        yield f"Resolution: {parts or 'no note.'}"
    if report.releases:
        newest = report.releases[-1]
        name = f"release {newest.name}" if newest.name else "the newest launch"
        yield f"In {name} {STATED[newest.word]}: {newest.evidence.in_line}"
    if report.proposal:
        yield f"{PROPOSED[report.proposal.act]} {report.proposal.reason}"
    series = report.series
    if series.left_out:
        yield f"Not shown: {counted(len(series.left_out), 'model')} that ran longer ago."
    if series.earlier:
        yield f"Not shown: {counted(series.earlier, 'earlier run')}; increase “Runs shown”."


def _facts(report: IssueReport) -> Iterator[Fact]:
    issue = report.issue
    yield Fact(
        "state", "State", issue.get_state_display(), note="Open issue", url=issue.get_absolute_url()
    )
    yield Fact("runs", "Complete runs", len(report.seen), "count", "with results of this issue")
    of = f"of {len(report.models):,}"
    yield Fact("failing", "Models failing now", len(report.failing), "count", of)
    found = report.releases[-1].evidence if report.releases else None
    if found and found.word == Word.CANNOT_TELL:
        severity = issue.get_severity_display().lower()
        limit = (
            f"{percent(MAX_FAILURE_RATE[issue.severity])} of answers may fail ({severity} severity)"
        )
        yield Fact("needed", "Tests still needed to resolve", found.more_needed, "count", limit)


ISSUE_TIMELINE = Page(
    key="issue_timeline",
    title="Issue timeline",
    question="When did an issue break, and when was it fixed?",
    summary="One issue over all runs: regressions, fixes, tests, feedback and states.",
    form=IssueForm,
    build=build,
    template="reports/issue_timeline/page.html",
)
