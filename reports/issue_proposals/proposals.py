"""Proposals for issues from finished runs, pulled by the workers' reaper, not pushed by runs.

An approved issue that passed enough releases in a row is proposed for resolution; a user decides.
A resolved issue that fails again is reopened, with the reason in its history.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import caches
from django.db import transaction
from django.db.models import Count, Max, Sum

from evalhub.computed import KEPT_S
from evalhub.models import User
from issues import states
from issues.models import Comment, Issue, IssueState
from issues.states import Refused
from reports.documents.reading import Reading
from reports.issue_proposals.rule import Button, Proposal, reopening, resolving
from reports.issue_timeline.rule import IssueResult
from reports.queries.issue_outcomes import RunInfo, Sightings, run_infos, sightings
from reports.queries.model_identities import identities
from runs.models import HumanEvaluation, JudgeRun, Run

NAME = "EvalHub"
"""Author of automatic comments."""

SPARE = 2
"""Additional releases to read, since some may have no results."""

PULLED = "follow-up-pulled"


# Proposals ---------------------------------------------------------------------------------------


def proposals() -> list[Proposal]:
    """Return the proposals for all issues from complete runs; a constant number of queries."""
    approved = _issues_in(IssueState.APPROVED)
    runs = run_infos()
    lately = sightings(approved, recent(runs, settings.EVALHUB_RELEASES_TO_RESOLVE + SPARE))
    found = [_resolving(issue, seen) for issue, seen in lately.by_issue.items()]
    if resolved := _issues_in(IssueState.RESOLVED):
        failed, when, models = sightings(resolved, runs), resolved_at(resolved), _models()
        again = [_reopening(one, failed, when[one], models) for one in resolved if one in when]
        found = [*again, *found]
    return [one for one in found if one is not None]


def proposal_for(issue: Issue, found: Sightings) -> Proposal | None:
    """Return the proposal for an issue, if any, from all its sightings."""
    seen = found.by_issue.get(issue.pk, [])
    if issue.state == IssueState.APPROVED:
        wanted = settings.EVALHUB_RELEASES_TO_RESOLVE + SPARE
        lately = {run.pk for run in recent(found.runs.values(), wanted)}
        return _resolving(issue.pk, [one for one in seen if one.run in lately])
    if issue.state == IssueState.RESOLVED:
        at = resolved_at([issue.pk]).get(issue.pk, issue.updated_at)
        return _reopening(issue.pk, found, at, _models())
    return None


def proposal_of(issue: Issue) -> Proposal | None:
    """Read the sightings of an issue and return its proposal, if any."""
    return proposal_for(issue, sightings([issue.pk], run_infos()))


def kept_proposals(reading: Reading) -> list[Proposal] | None:
    """Return all cached proposals; None if not computed yet for the present state."""
    return reading.computed("proposals-2", state_of_workspace(), proposals)


def state_of_workspace() -> list[Any]:
    """Return a cheap version of the data that changes whenever a proposal could, as JSON."""
    runs = Run.objects.aggregate(Max("finished_at"), Count("pk"))
    judge_runs = JudgeRun.objects.aggregate(Max("finished_at"), Count("pk"))
    current = JudgeRun.objects.filter(is_active=True).aggregate(Sum("pk"))
    evaluations = HumanEvaluation.objects.aggregate(Max("pk"))
    issues = Issue.history.aggregate(Max("history_id"))
    parts = (*runs.values(), *judge_runs.values(), *current.values(), *evaluations.values())
    newest = [str(part) for part in (*parts, *issues.values())]
    return [settings.EVALHUB_RELEASES_TO_RESOLVE, newest]


def recent(runs: Iterable[RunInfo], releases: int) -> list[RunInfo]:
    """Return the runs of the newest releases, and runs without a release since the first of these.

    If no run has a release, runs that were launched together count as one.
    """
    runs = list(runs)
    has_releases = any(run.release for run in runs)
    first: dict[str, datetime] = {}
    for run in runs:
        key = run.release if has_releases else run.together
        if key:
            first[key] = min(run.at, first.get(key, run.at))
    newest = sorted(first, key=lambda key: first[key])[-releases:]
    since = min((first[key] for key in newest), default=None)
    return [
        run
        for run in runs
        if since is not None and (run.release in newest or (run.at >= since and not run.release))
    ]


def resolved_at(issues: Sequence[int]) -> dict[int, datetime]:
    """Return the time at which each issue was last resolved, by its id; one query."""
    found: dict[int, datetime] = {}
    before: dict[int, str] = defaultdict(str)
    rows = Issue.history.filter(id__in=issues).order_by("history_date", "history_id")
    for issue, state, at in rows.values_list("id", "state", "history_date"):
        if state == IssueState.RESOLVED and before[issue] != state:
            found[issue] = at
        before[issue] = state
    return found


def _issues_in(state: IssueState) -> list[int]:
    return list(Issue.objects.filter(state=state).order_by().values_list("pk", flat=True))


def _resolving(issue: int, seen: Sequence[IssueResult]) -> Proposal | None:
    return resolving(issue, seen, releases=settings.EVALHUB_RELEASES_TO_RESOLVE)


def _reopening(
    issue: int, found: Sightings, at: datetime, models: Mapping[int, str]
) -> Proposal | None:
    """Count variants as one model: an issue is resolved with its failing models in mind."""
    seen = [
        one._replace(line=models[found.runs[one.run].model_id])
        for one in found.by_issue.get(issue, ())
    ]
    return reopening(issue, seen, at, {run.pk: run.name for run in found.runs.values()})


def _models() -> dict[int, str]:
    return {pk: identity.key for pk, identity in identities().items()}


# Actions -----------------------------------------------------------------------------------------


def accept(issue: Issue, act: Button, *, by: User) -> Proposal:
    """Apply the proposal for the issue, with its reason as the note.

    Raises:
        Refused: The proposal no longer applies, or the issue lacks something.
    """
    proposal = proposal_of(issue)
    if proposal is None or proposal.act != act:
        raise Refused([f"The proposal to {act} {issue} no longer applies: look at its runs again."])
    if act == "resolve":
        states.resolve(issue, labels=(), note=proposal.reason, by=by)
    else:
        _reopen(issue, proposal, by=by)
    return proposal


def pull() -> int:
    """Reopen issues that failed after they were resolved; return their number.

    Safe to call repeatedly and from several processes: an issue is moved once.
    """
    kept, state = caches["computed"], state_of_workspace()
    if kept.get(PULLED) == state:
        return 0
    found = kept_proposals(Reading(User(is_active=False))) or []
    opened = sum(_reopened(one) for one in found if one.act == "reopen")
    kept.set(PULLED, state, KEPT_S)
    return opened


def _reopened(proposal: Proposal) -> bool:
    """Reopen the issue; return False if another process was first or the issue is refused."""
    try:
        _reopen(Issue.objects.get(pk=proposal.issue), proposal, by=None)
    except (Issue.DoesNotExist, Refused):
        return False
    return True


@transaction.atomic
def _reopen(issue: Issue, proposal: Proposal, *, by: User | None) -> None:
    states.move(issue, "reopen", by=by, reason=proposal.brief)
    name = "" if by else NAME
    Comment.objects.create(issue=issue, author=by, author_name=name, text=proposal.reason)
