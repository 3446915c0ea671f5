"""The page of a run's failure clusters."""

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.display.formatting import counted
from evalhub.models import User
from evalhub.refusals import Refused
from issues.models import Issue
from issues.similarity.search import ISSUE, similar
from reports.documents.reading import COMPUTE, Reading
from reports.documents.rendering import needs, page
from reports.failure_clusters.decisions import accept, dismiss, undo
from reports.failure_clusters.query import ProposedCluster, RunClusters, clusters_of_run
from reports.limits import MAX_CLUSTERED_ANSWERS
from reports.models import DecidedCluster
from runs.issue_filing.failed_answers import FailedAnswer, read_answers
from runs.models import Run
from runs.scoring.shown_verdicts import record

FILE = "issues.add_issue"
SHOWN = 5
"""Answers of a cluster shown with their texts, the most typical; the rest are linked."""


@needs("runs.view_run")
def failure_clusters(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the proposed clusters, and those decided."""
    run = get_object_or_404(Run, pk=pk)
    reading = Reading(current_user(request), computes=COMPUTE in request.GET)
    found = clusters_of_run(run, reading)
    return page(
        request,
        "reports/failure_clusters/page.html",
        "Failure clusters",
        subtitle=str(run),
        run=run,
        found=found,
        sentences=sentences_of(found),
        clusters=[_shown(one, found, reading.reader) for one in found.proposed or ()],
        is_pending=reading.pending,
        may_file=request.user.has_perm(FILE),
    )


def sentences_of(found: RunClusters) -> list[str]:
    """Return what was compared, and what was left out."""
    said = []
    if found.proposed is not None and found.compared:
        total = len(found.proposed) + len(found.decided)
        said.append(
            f"{counted(found.compared, 'failed answer')} compared: {found.clustered:,} in "
            f"{counted(total, 'cluster')}, {found.unclustered:,} in none."
        )
    if found.sealed:
        said.append(
            f"Left out: {counted(found.sealed, 'failed answer')} of sealed tests, since filing "
            "would open their texts."
        )
    if rest := found.failed - found.sealed - found.compared:
        said.append(
            f"Only the first {MAX_CLUSTERED_ANSWERS:,} are compared; {rest:,} more are not."
        )
    if found.compared:
        said.append(
            "Clusters are answers that judges reject in similar words: a proposal to read, without "
            "a test of significance. Nothing is filed until you accept."
        )
    return said


def _shown(cluster: ProposedCluster, found: RunClusters, reader: User) -> dict[str, Any]:
    record(reader, cluster.results)
    first = cluster.results[:SHOWN]
    by_id = {one.result: one for one in read_answers(first, found.judge_run)}
    answers = [by_id[pk] for pk in first if pk in by_id]
    return {
        "cluster": cluster,
        "answers": answers,
        "rest": cluster.results[SHOWN:],
        "similar": _nearest(cluster, answers, reader),
    }


class NearestIssue(NamedTuple):
    """An issue to attach a cluster to, and why."""

    pk: int
    title: str
    url: str
    why: str


def _nearest(
    cluster: ProposedCluster, answers: list[FailedAnswer], reader: User
) -> NearestIssue | None:
    """Return the issue of most of its tests, else the most similar one; None for none."""
    if cluster.issues and 2 * cluster.issues[0][2] > cluster.size:
        issue = Issue.objects.active().filter(pk=cluster.issues[0][0]).first()
        if issue is not None:
            why = f"{cluster.issues[0][2]} of {cluster.size} answers are of its tests"
            return NearestIssue(issue.pk, issue.title, issue.get_absolute_url(), why)
    text = "\n".join([cluster.name, *(one.reason for one in answers)])
    found = similar(text, reader=reader, kinds=(ISSUE,), limit=3)
    rows = [NearestIssue(r.pk, r.title, r.url, r.why) for r in found if r.takes_feedback]
    return rows[0] if rows else None


@require_POST
@needs(FILE)
def decide_cluster(request: HttpRequest, pk: int) -> HttpResponse:
    """Create an issue of a cluster, attach it to one, dismiss it, or undo that."""
    run = get_object_or_404(Run, pk=pk)
    by, key = current_user(request), request.POST.get("key", "")
    try:
        messages.success(request, _decide(run, request, by, key))
    except Refused as refused:
        for problem in refused.problems:
            messages.error(request, problem)
    return HttpResponseRedirect(reverse("reports:failure_clusters", args=[pk]))


def _decide(run: Run, request: HttpRequest, by: User, key: str) -> str:
    match request.POST.get("act"):
        case "create":
            title = bounded_text(request.POST.get("title"), 200)
            row = accept(run, key, by=by, title=title)
            items = counted(len(row.feedback), "feedback item")
            return f"Draft issue “{row.issue}” created with {items}."
        case "attach":
            issue = get_object_or_404(Issue, pk=row_number(request.POST.get("issue")))
            row = accept(run, key, by=by, issue=issue)
            items = counted(len(row.feedback), "feedback item")
            return f"{items} attached to “{row.issue}”."
        case "undo":
            decided = get_object_or_404(DecidedCluster, pk=row_number(key), run=run)
            undo(decided, by=by)
            return f"Undone: {counted(len(decided.results), 'answer')} proposed again."
        case _:
            row = dismiss(run, key, by=by)
            return f"Dismissed: a cluster of {counted(len(row.results), 'answer')}."
