"""The tables of the dashboard's cards."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.urls import reverse
from django.utils import timezone

from evalhub.formatting import listed
from evalhub.models import User
from evalhub.statistics.change_test import (
    FLIPPED_TESTS,
    MAY_FAIL_TOGETHER,
    MCNEMAR,
    METHOD,
    is_significant,
)
from issues.models import IssueState
from reports.compare.pair_changes_query import Change
from reports.compare.sentences import is_p
from reports.dashboard.latest_runs_query import Latest, LatestRunsReport
from reports.dashboard.query import Dashboard
from reports.documents.document import Cell, Column, Link, Linked, Table
from reports.documents.incomplete_table import CONTROL, retry_link
from reports.documents.links import page_url
from reports.documents.rejudging import refusal
from reports.judge_reliability.judges.query import JudgeConcern
from reports.queries.incomplete_runs import IncompleteRun
from reports.underperforming.page import reason
from reports.underperforming.query import UnderperformingReport
from runs.baselines import is_baseline
from runs.completeness import scored_words
from runs.figures.rate import Rate
from runs.models import Run

SHOWN = 6


def models_table(
    found: LatestRunsReport, incomplete: Iterable[IncompleteRun], reader: User
) -> Table:
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
            Column("sure", "Significance", note="Corrected for all models listed (Holm)"),
        ),
        rows=[
            (
                Link(
                    latest.run.model_name,
                    latest.run.get_absolute_url(),
                    _about(latest.run, *latest.labels),
                ),
                latest.rate,
                _against(latest),
                latest.before,
                Linked(change.net, page_url("compare", runs=[latest.against, latest.run]))
                if change and change.net is not None
                else None,
                _tests(change) if change else None,
                _change_label(change),
                _significance(latest, change, reader),
            )
            for latest in found.runs
            for change in [latest.compared.whole if latest.compared else None]
        ]
        + [_incomplete_row(one, may_retry=reader.has_perm(CONTROL)) for one in incomplete],
        note=" ".join(
            (
                "Compared with the baseline of the suite or, without one, the model's previous "
                "run. Change is measured on the tests both runs share, so it can differ from the "
                f"difference in pass rates. p: {METHOD} {MAY_FAIL_TOGETHER}",
                *found.skipped,
            )
        ),
        empty="No run is complete yet.",
    )


def _incomplete_row(one: IncompleteRun, *, may_retry: bool) -> tuple[Cell, ...]:
    """Name a run without its rate: what is missing is seldom a random part."""
    run, counts = one.run, one.counts
    model = Link(run.model_name, run.get_absolute_url(), _about(run))
    lacks = f"incomplete, {scored_words(counts.scored, counts.total)}"
    state = retry_link(run.pk, one.retryable) if may_retry and one.retryable else None
    sure = replace(state, note=lacks) if state else lacks
    return (model, None, None, None, None, None, None, sure)


def _about(run: Run, *labels: str) -> str:
    name = f"release {run.release}" if run.release else run.label
    return ", ".join((name, f"{timezone.localtime(run.created_at):%Y-%m-%d}", *labels))


def _against(latest: Latest) -> Link | None:
    if latest.against is None:
        return None
    name = "the baseline" if latest.is_baseline else "the previous run"
    about = _about(latest.against)
    if latest.against.model_name != latest.run.model_name:
        about = f"{latest.against.model_name}, {about}"
    return Link(name, latest.against.get_absolute_url(), about)


def _tests(change: Change) -> str:
    tally = change.tally
    return f"{tally.worse:,} worse, {tally.better:,} better (of {tally.n:,})"


def _change_label(change: Change | None) -> str | None:
    """Return "worse" or "better"; None where the change is not significant."""
    if change is None or not change.net or not is_significant(change.p):
        return None
    return "worse" if change.net < 0 else "better"


def _significance(latest: Latest, change: Change | None, reader: User) -> Cell:
    if latest.against is None:
        return "is the baseline" if is_baseline(latest.run) else "nothing to compare with"
    if not latest.comparable:
        return refusal(latest.run, latest.against, latest.comparable, reader)
    if change is None:
        return "being computed"
    if change.p is None:
        return "no shared tests"
    return _significance_words(change)


def _significance_words(change: Change) -> str:
    if change.p is None:
        return "not measured"
    described = is_p(change.p)
    return described if is_significant(change.p) else f"{described}, not significant"


def worse_table(found: LatestRunsReport) -> Table:
    pending = any(latest.is_pending for latest in found.runs)
    more = len(found.worse) - SHOWN
    apart = [latest.run.model_name for latest in found.runs if latest.is_since_refused]
    others = f" in runs that can be compared; {listed(apart)} cannot" if apart else ""
    return Table(
        key="worse",
        title="Issues that lost tests",
        columns=(
            Column("issue", "Issue", "link"),
            Column("model", "Latest run of", "link"),
            Column("change", "Change", "points"),
            Column("tests", "Flips", note="Tests compared between the runs"),
            Column("verdict", "Verdict", "verdict"),
            Column("sure", "Significance", note="Corrected for all issues of all models (Holm)"),
        ),
        rows=[
            (
                issue_link(one.issue, found.titles[one.issue]),
                Link(
                    one.run.model_name,
                    page_url("compare", runs=[one.since, one.run]),
                    f"since {_about(one.since)}",
                ),
                one.change.net,
                _tests(one.change),
                _change_label(one.change),
                _significance_words(one.change),
            )
            for one in found.worse[:SHOWN]
        ],
        note="Most certain first, since the baseline or the previous run of the same model. p: "
        f"{MCNEMAR}, with repeats {FLIPPED_TESTS}. {MAY_FAIL_TOGETHER} Without a verdict: not "
        "significant."
        + (f" {more:,} more issues, no more certain." if more > 0 else "")
        + (f" Left out, not comparable with it: {listed(apart)}." if apart else ""),
        empty="Being computed." if pending else f"No issue lost tests on balance{others}.",
    )


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
                Rate(0, one.failed, 0.0, total=one.total),
            )
            for one in found.never_passed[:SHOWN]
        ],
        note="Counts of answers, not a test." + (f" {more:,} more." if more > 0 else ""),
        empty="Every issue run by two or more models was passed at least once."
        if len(found.runs) > 1
        else "Needs runs of at least two models.",
    )


def underperforming_table(report: UnderperformingReport) -> Table:
    found = report.comparisons
    below = found.below if found else ()
    if report.run is None:
        empty = "No run is complete yet."
    elif found is None:
        empty = "Being computed."
    else:
        empty = f"No issue of the newest run, {report.run}, is significantly below its others."
    more = len(below) - SHOWN
    return Table(
        key="underperforming",
        title="Underperforming issues",
        columns=(Column("issue", "Issue", "link"), Column("why", "Why")),
        rows=[
            (issue_link(one.issue, report.titles[one.issue]), reason(one, found))
            for one in below[:SHOWN]
            if found
        ],
        note=f"{more:,} more." if more > 0 else "",
        empty=empty,
    )


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
        + "By the rule of Judge reliability: human verdicts on answers drawn at random, agreement "
        "with other judges, failed judgments, and judging its own answers.",
        empty="No serious concern about a judge or jury in the last judge runs.",
    )


def waiting_table(found: Dashboard, *, may_review: bool) -> Table:
    queues = reverse("admin:review_queue_changelist") if may_review else ""
    issues, tests = (
        f"{reverse(f'admin:issues_{name}_changelist')}?state__exact=in_review"
        for name in ("issue", "test")
    )
    rows: list[tuple[Cell, ...]] = [
        (Link("Feedback to triage", reverse("admin:issues_feedback_inbox")), found.feedback, None),
        (Link("Reviews in open queues", queues), found.reviews, None),
        (Link("Issues in review", issues), found.issues[IssueState.IN_REVIEW], None),
        (Link("Tests in review", tests), found.tests_in_review, None),
    ]
    counts = [
        (line.run, line.counts.unscored, line.counts.error, found.disputed.get(line.run.pk, 0))
        for line in found.latest
        if line.run.pk in found.disputed or (line.needs_a_look and not line.is_live)
    ]
    for place, (text, query) in enumerate(RESULTS, 1):
        runs = [(one[0], one[place]) for one in counts if one[place]]
        links = [
            Link(run.model_name, f"{run.get_absolute_url()}?{query}#results") for run, _ in runs
        ]
        rows.append((Link(text, ""), sum(n for _, n in runs), tuple(links) or None))
    return Table(
        key="waiting",
        title="To do",
        columns=(
            Column("what", "Task", "link"),
            Column("n", "Count", "count"),
            Column("where", "Runs", "link"),
        ),
        rows=rows,
        note="Results of the newest runs only.",
    )


RESULTS = (
    ("Unscored answers", "outcome=unscored"),
    ("Results without an answer", "outcome=error"),
    ("Disputed answers", "disputed=1"),
)
