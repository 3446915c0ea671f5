"""The tables of the dashboard's cards."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils import timezone

from evalhub.formatting import percent
from reports.compare.sentences import is_p
from reports.dashboard.latest_runs_query import Change, Latest, LatestRunsReport, WorseIssue
from reports.dashboard.query import Waiting
from reports.documents.document import Cell, Column, Link, Linked, Table
from reports.documents.links import page_url
from reports.judge_reliability.judges.totals_query import JudgeConcern
from reports.underperforming.page import reasons
from reports.underperforming.query import UnderperformingReport
from runs.baselines import is_baseline
from runs.figures.tallies import Rate
from runs.models import Run

SHOWN = 6
SIGNIFICANT = 0.05

NOT_YET = "being computed"


def models_table(found: LatestRunsReport) -> Table:
    return Table(
        key="models",
        title="Latest run of each model",
        columns=(
            Column("model", "Model", "link"),
            Column("rate", "Pass rate", "rate"),
            Column("against", "Against", "link"),
            Column("before", "Previous rate", "rate"),
            Column("change", "Change", "points", "On tests that are the same in both runs"),
            Column("tests", "Flips", note="Tests compared between the runs"),
            Column("verdict", "Verdict", "verdict"),
            Column("sure", "Significance"),
        ),
        rows=[_model_row(latest) for latest in found.runs],
        note="Compared with the baseline of the suite or, without one, the model's previous run. "
        "Change is measured on the tests both runs share, so it can differ from the difference in "
        "pass rates.",
        empty="No run is complete yet.",
    )


def _model_row(latest: Latest) -> tuple[Cell, ...]:
    run, found = latest.run, latest.compared
    change = found.whole if found else None
    return (
        Link(run.model_name, run.get_absolute_url(), _about(run, *latest.labels)),
        latest.rate,
        _against(latest),
        latest.before,
        _linked_change(latest, change),
        _tests(change) if change else None,
        _change_label(change),
        _significance(latest, change),
    )


def _about(run: Run, *labels: str) -> str:
    name = f"release {run.release}" if run.release else run.label
    return ", ".join((name, _day(run), *labels))


def _day(run: Run) -> str:
    return f"{timezone.localtime(run.created_at):%Y-%m-%d}"


def _against(latest: Latest) -> Link | None:
    if latest.against is None:
        return None
    name = "the baseline" if latest.is_baseline else "the previous run"
    about = _about(latest.against)
    if latest.against.model_name != latest.run.model_name:
        about = f"{latest.against.model_name}, {about}"
    return Link(name, latest.against.get_absolute_url(), about)


def _compare_url(latest: Latest) -> str:
    return page_url("compare", runs=[latest.against, latest.run])


def _linked_change(latest: Latest, change: Change | None) -> Linked | None:
    if change is None or change.net is None:
        return None
    return Linked(change.net, _compare_url(latest))


def _tests(change: Change) -> str:
    tally = change.tally
    return f"{tally.worse:,} worse, {tally.better:,} better (of {tally.n:,})"


def _is_significant(change: Change) -> bool:
    return change.p is not None and change.p < SIGNIFICANT


def _change_label(change: Change | None) -> str | None:
    """Return "worse" or "better"; None where the change is not significant."""
    if change is None or not change.net or not _is_significant(change):
        return None
    return "worse" if change.net < 0 else "better"


def _significance(latest: Latest, change: Change | None) -> str:
    if latest.against is None:
        return "is the baseline" if is_baseline(latest.run) else "nothing to compare with"
    if change is None:
        return NOT_YET
    if change.p is None:
        return "no shared tests"
    return _significance_words(change)


def _significance_words(change: Change) -> str:
    if change.p is None:
        return "not measured"
    described = is_p(change.p)
    return described if _is_significant(change) else f"{described}, not significant"


def worse_table(found: LatestRunsReport) -> Table:
    pending = any(latest.is_pending for latest in found.runs)
    more = len(found.worse) - SHOWN
    return Table(
        key="worse",
        title="Issues that got worse",
        columns=(
            Column("issue", "Issue", "link"),
            Column("model", "Latest run of", "link"),
            Column("change", "Change", "points"),
            Column("tests", "Flips", note="Tests compared between the runs"),
            Column("verdict", "Verdict", "verdict"),
            Column("sure", "Significance", note="Corrected for all issues of the run (Holm)"),
        ),
        rows=[
            (
                issue_link(one.issue, found.titles[one.issue]),
                _since(one),
                one.change.net,
                _tests(one.change),
                _change_label(one.change),
                _significance_words(one.change),
            )
            for one in found.worse[:SHOWN]
        ],
        note="Most certain first, since the baseline or the previous run of the same model."
        + (f" {more:,} more issues declined, not all significantly." if more > 0 else ""),
        empty="Being computed." if pending else "No issue got worse.",
    )


def _since(one: WorseIssue) -> Link:
    url = page_url("compare", runs=[one.since, one.run])
    return Link(one.run.model_name, url, f"since {_about(one.since)}")


def issue_link(issue: int, title: str) -> Link:
    return Link(title, page_url("issue_timeline", issue=issue))


def everywhere_table(found: LatestRunsReport) -> Table:
    more = len(found.never_passed) - SHOWN
    return Table(
        key="everywhere",
        title="Issues that fail for every model",
        columns=(
            Column("issue", "Issue", "link"),
            Column("models", "Models", "count"),
            Column("passed", "Passed", "rate"),
        ),
        rows=[
            (
                issue_link(one.issue, found.titles[one.issue]),
                one.models,
                Rate(0, one.failed, 0.0, None, is_resampled=True),
            )
            for one in found.never_passed[:SHOWN]
        ],
        note=f"{more:,} more." if more > 0 else "",
        empty="Every issue run by two or more models was passed at least once."
        if len(found.runs) > 1
        else "Needs runs of at least two models.",
    )


def underperforming_table(report: UnderperformingReport) -> Table:
    found, more = report.comparisons, len(report.listed) - SHOWN
    return Table(
        key="underperforming",
        title="Underperforming issues",
        columns=(Column("issue", "Issue", "link"), Column("why", "Why")),
        rows=[
            (
                issue_link(one.issue, report.titles[one.issue]),
                " ".join(reasons(one, found.rate, len(found.issues))) if found else "",
            )
            for one in report.listed[:SHOWN]
        ],
        note=f"{more:,} more." if more > 0 else "",
        empty=_none_listed(report),
    )


def _none_listed(report: UnderperformingReport) -> str:
    if report.run is None:
        return "No run is complete yet."
    if report.comparisons is None:
        return "Being computed."
    rate = percent(report.comparisons.rate)
    return f"No issue of the newest run ({report.run}) is significantly below its {rate}."


def judges_table(found: Sequence[JudgeConcern]) -> Table:
    return Table(
        key="judges",
        title="Unreliable judges",
        columns=(Column("name", "Judge or jury", "link"), Column("why", "Why")),
        rows=[
            (
                Link(one.name, one.url, "jury" if one.is_jury else "judge"),
                " ".join(concern.text for concern in one.concerns),
            )
            for one in found[:SHOWN]
        ],
        note=(f"{len(found) - SHOWN:,} more. " if len(found) > SHOWN else "")
        + "By agreement within the jury and failed judgments. For agreement with humans, see Judge "
        "reliability.",
        empty="No jury disagrees and no judge fails too often in the last judge runs. For "
        "agreement with humans, see Judge reliability.",
    )


def waiting_table(found: Waiting, *, may_review: bool) -> Table:
    queues = reverse("admin:review_queue_changelist") if may_review else ""
    lists: list[tuple[Cell, ...]] = [
        (Link("Feedback to triage", reverse("admin:issues_feedback_inbox")), found.feedback, None),
        (Link("Reviews in open queues", queues), found.reviews, None),
        (_list_link("Issues in review", "issues_issue", "in_review"), found.issues, None),
        (_list_link("Tests in review", "issues_test", "in_review"), found.tests, None),
    ]
    return Table(
        key="waiting",
        title="To do",
        columns=(
            Column("what", "Task", "link"),
            Column("n", "Count", "count"),
            Column("where", "Runs", "link"),
        ),
        rows=[*lists, *(_results_row(found, *what) for what in RESULTS)],
        note="Results of the newest runs only.",
    )


RESULTS = (
    ("Unscored answers", "unscored", "outcome=unscored"),
    ("Results without an answer", "errors", "outcome=error"),
    ("Disputed answers", "disputed", "disputed=1"),
)


def _results_row(found: Waiting, text: str, name: str, query: str) -> tuple[Cell, ...]:
    lines = [line for line in found.runs if getattr(line, name)]
    where = tuple(
        Link(line.run.model_name, f"{line.run.get_absolute_url()}?{query}#results")
        for line in lines
    )
    return Link(text, ""), sum(getattr(line, name) for line in lines), where or None


def _list_link(text: str, name: str, state: str) -> Link:
    return Link(text, f"{reverse(f'admin:{name}_changelist')}?state__exact={state}")
