"""A person's decisions about proposed clusters; nothing is filed without one."""

from django.db import transaction

from evalhub.models import User
from evalhub.refusals import Refused
from issues.models import Issue
from reports.documents.reading import Reading
from reports.failure_clusters.query import ProposedCluster, clusters_of_run
from reports.models import ClusterAct, DecidedCluster
from runs.figures.states import current_of
from runs.issue_filing.failed_answers import file_answers, read_answers, unfile
from runs.models import Run


@transaction.atomic
def accept(
    run: Run, key: str, *, by: User, title: str = "", issue: Issue | None = None
) -> DecidedCluster:
    """File a cluster's answers as feedback: on a draft issue of this title, or on an issue.

    Raises:
        Refused: The cluster is no longer proposed, or as `file_answers`.
    """
    cluster = _locked(run, key, by)
    answers = list(read_answers(cluster.results, current_of(run.judge_runs.all())))
    about = f"{len(answers)} failed answers of run {run.pk}, {run}: {cluster.name}."
    filed = file_answers(answers, by=by, issue=issue, title=title, description=about)
    return DecidedCluster.objects.create(
        run=run,
        act=ClusterAct.ATTACHED if issue else ClusterAct.CREATED,
        results=list(cluster.results),
        feedback=list(filed.feedback),
        issue=filed.issue,
        decided_by=by,
    )


@transaction.atomic
def dismiss(run: Run, key: str, *, by: User) -> DecidedCluster:
    """Propose a cluster no longer.

    Raises:
        Refused: It is no longer proposed.
    """
    cluster = _locked(run, key, by)
    return DecidedCluster.objects.create(
        run=run,
        act=ClusterAct.DISMISSED,
        results=list(cluster.results),
        decided_by=by,
    )


@transaction.atomic
def undo(row: DecidedCluster, *, by: User) -> None:
    """Propose a cluster again, and delete what accepting it made.

    Raises:
        Refused: Somebody has worked on the issue or the feedback since.
    """
    if row.act != ClusterAct.DISMISSED:
        unfile(row.issue, row.feedback, deletes=row.act == ClusterAct.CREATED, by=by)
    row.delete()


def _locked(run: Run, key: str, by: User) -> ProposedCluster:
    """Return the cluster, locked against other decisions about this run."""
    Run.objects.select_for_update(of=("self",)).get(pk=run.pk)
    for cluster in clusters_of_run(run, Reading(by)).proposed or ():
        if cluster.key == key:
            return cluster
    raise Refused(["This cluster has been decided, or its answers have changed: look again."])
