"""Proposals for issues from finished runs, pulled by the workers' reaper, not pushed by runs.

An approved issue that passes in the newest release is proposed for resolution, and a resolved one
that fails again for reopening; a user decides, and who may is notified. It is reopened without
asking where the suites of the runs say so, with the reason in its history.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.core.cache import caches
from django.db import connection, transaction

from evalhub.access.roles import users_with
from evalhub.limits import COMPUTED_CACHE_S
from evalhub.models import User
from evalhub.notifications.events import Event, notify
from evalhub.notifications.models import NotificationKind
from evalhub.refusals import Refused
from evalhub.statistics.rates.behaviour_outcome import Word
from evalhub.values.computed_cache import cached
from evalhub.values.digest import digest
from issues.lifecycle import states
from issues.lifecycle.states import APPROVE_ISSUE
from issues.models import Comment, Issue, IssueState
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.issue_proposals.rule import Button, Proposal, reopening, resolving
from reports.issue_timeline.rule import IssueResult
from reports.models import DismissedProposal
from reports.queries.issue_outcomes import RunInfo, Sightings, false_fails, run_infos, sightings
from reports.queries.names import identities
from runs.comparison.comparability_rule import comparability
from runs.models import RunTally, Suite

NAME = "EvalHub"
"""Author of automatic comments."""

LATELY = 5
"""Newest releases to read for a resolution, since some may have no results."""

PULLED = "follow-up-pulled"
PROPOSALS = "proposals-5"
"""Under which the proposals for all issues are cached."""


# Proposals ---------------------------------------------------------------------------------------


def proposals() -> list[Proposal]:
    """Return the proposals for all issues from complete runs; a constant number of queries."""
    approved = _issues_in(IssueState.APPROVED)
    runs = run_infos()
    rates = false_fails(runs, nobody())
    lately = sightings(approved, recent(runs, LATELY), rates)
    proposed = [_resolving(issue, seen, lately.runs) for issue, seen in lately.by_issue.items()]
    if resolved := _issues_in(IssueState.RESOLVED):
        failed, when, models = sightings(resolved, runs, rates), resolved_at(resolved), _models()
        again = [_reopening(one, failed, when[one], models) for one in resolved if one in when]
        proposed = [*again, *proposed]
    return _undismissed([one for one in proposed if one is not None])


def nobody() -> Reading:
    """Return a reading that computes, for nobody in particular."""
    return Reading(User(is_active=False))


def _undismissed(proposed: list[Proposal]) -> list[Proposal]:
    """Leave out the proposals that were dismissed with the same newest run; one query."""
    rows = DismissedProposal.objects.filter(issue__in=[one.issue for one in proposed])
    dismissed = set(rows.values_list("issue_id", "act", "run"))
    return [one for one in proposed if (one.issue, one.act, one.runs[0]) not in dismissed]


def proposal_for(issue: Issue, outcomes: Sightings) -> Proposal | None:
    """Return the proposal for an issue, if any, from all its outcomes."""
    proposal = _proposal_for(issue, outcomes)
    return next(iter(_undismissed([proposal])), None) if proposal else None


def _proposal_for(issue: Issue, outcomes: Sightings) -> Proposal | None:
    seen = outcomes.by_issue.get(issue.pk, [])
    if issue.state == IssueState.APPROVED:
        lately = {run.pk for run in recent(outcomes.runs.values(), LATELY)}
        return _resolving(issue.pk, [one for one in seen if one.run in lately], outcomes.runs)
    if issue.state == IssueState.RESOLVED:
        at = resolved_at([issue.pk]).get(issue.pk, issue.updated_at)
        return _reopening(issue.pk, outcomes, at, _models())
    return None


def proposal_of(issue: Issue) -> Proposal | None:
    """Return the proposal for an issue, if any: the cached one, or from its sightings."""
    every = cached(PROPOSALS, state_of_workspace(), list[Proposal])
    if every is not None:
        return next((one for one in every if one.issue == issue.pk), None)
    runs = run_infos()
    rates = false_fails(runs, nobody())
    return proposal_for(issue, sightings([issue.pk], runs, rates))


def cached_proposals(reading: Reading) -> list[Proposal] | None:
    """Return all cached proposals; None if not computed yet for the present state."""
    return reading.computed(PROPOSALS, state_of_workspace(), list[Proposal], proposals)


def proposals_at_hand(reading: Reading) -> list[Proposal]:
    """Return all proposals if they are cached or may be computed now, else none: no page waits."""
    if reading.computes:
        return cached_proposals(reading) or []
    return cached(PROPOSALS, state_of_workspace(), list[Proposal]) or []


STATE = (
    *("MAX(finished_at) FROM runs_run", "COUNT(*) FROM runs_run"),
    *("MAX(finished_at) FROM runs_judgerun", "COUNT(*) FROM runs_judgerun"),
    *("MAX(id) FROM runs_humanevaluation", "COUNT(*) FROM runs_humanevaluation"),
    "MAX(id) FROM reports_dismissedproposal",
    "MAX(history_id) FROM issues_historicalissue",
)
"""What changes whenever a proposal could, beside versions of results and settings of suites."""


def state_of_workspace() -> str:
    """Return a digest that changes with the data that proposals are made from; three queries."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'(SELECT {part})' for part in STATE)}")
        state = list(cursor.fetchone())
    suites = Suite.objects.filter(reopens_issues=True).order_by("pk")
    versions = RunTally.objects.order_by("pk").values_list("pk", "version")
    return digest([*map(str, state), *suites.values_list("pk", flat=True), *map(str, versions)])


def recent(runs: Iterable[RunInfo], releases: int) -> list[RunInfo]:
    """Return the runs of the newest releases, and runs without a release since the first of these.

    If no run has a release, runs that were launched together count as one.

    Args:
        runs: In the order of releases.
    """
    runs = list(runs)
    has_releases = any(run.release for run in runs)
    first: dict[str, datetime] = {}
    for run in runs:
        key = run.release if has_releases else run.together
        if key:
            first[key] = min(run.at, first.get(key, run.at))
    newest = list(first)[-releases:]
    since = min((first[key] for key in newest), default=None)
    return [
        run
        for run in runs
        if since is not None and (run.release in newest or (run.at >= since and not run.release))
    ]


def resolved_at(issues: Sequence[int]) -> dict[int, datetime]:
    """Return the time at which each issue was last resolved, by its id; one query."""
    times: dict[int, datetime] = {}
    before: dict[int, str] = defaultdict(str)
    rows = Issue.history.filter(id__in=issues).order_by("history_date", "history_id")
    for issue, state, at in rows.values_list("id", "state", "history_date"):
        if state == IssueState.RESOLVED and before[issue] != state:
            times[issue] = at
        before[issue] = state
    return times


def _issues_in(state: IssueState) -> list[int]:
    return list(Issue.objects.filter(state=state).order_by().values_list("pk", flat=True))


def _resolving(
    issue: int, seen: Sequence[IssueResult], runs: Mapping[int, RunInfo]
) -> Proposal | None:
    """Count only later runs that are comparable with the newest one in which the issue failed."""
    failed = [one for one in seen if one.word == Word.FAILS]
    if failed:
        last = max(failed, key=lambda one: one.place)
        known = runs[last.run].scoring
        seen = [
            one
            for one in seen
            if one.place <= last.place or comparability(known, runs[one.run].scoring)
        ]
    return resolving(issue, seen)


def _reopening(
    issue: int, outcomes: Sightings, at: datetime, models: Mapping[int, str]
) -> Proposal | None:
    """Count variants as one model: an issue is resolved with its failing models in mind."""
    seen = [
        replace(one, line=models[outcomes.runs[one.run].model_id])
        for one in outcomes.by_issue.get(issue, ())
    ]
    names = {run.pk: f"{run.model_name} (run {run.pk})" for run in outcomes.runs.values()}
    proposal = reopening(issue, _comparable(seen, at, outcomes.runs), at, names)
    if proposal is None:
        return None
    is_automatic = all(outcomes.runs[run].reopens for run in proposal.runs)
    return replace(proposal, is_automatic=is_automatic)


def _comparable(
    seen: Iterable[IssueResult], at: datetime, runs: Mapping[int, RunInfo]
) -> list[IssueResult]:
    """Leave out later runs that are not comparable with the last run before `at`.

    That is the model's own last run, or that of any model if it had none.
    """
    ordered = sorted(seen, key=lambda one: one.place)
    before = [one for one in ordered if one.at <= at]
    newest = {one.line: one for one in before}
    later = ((one, newest.get(one.line, before[-1] if before else one)) for one in ordered)
    return before + [
        one
        for one, last in later
        if one.at > at and comparability(runs[last.run].scoring, runs[one.run].scoring)
    ]


def _models() -> dict[int, str]:
    return {pk: identity.key for pk, identity in identities().items()}


# Actions -----------------------------------------------------------------------------------------


def accept(issue: Issue, act: Button, *, by: User) -> Proposal:
    """Apply the proposal for the issue, with its reason as the note.

    Raises:
        Refused: The proposal no longer applies, or the issue lacks something.
    """
    proposal = _applying(issue, act)
    if act == "resolve":
        states.resolve(issue, labels=(), note=proposal.reason, by=by)
    else:
        _reopen(issue, proposal, by=by)
    return proposal


def dismiss(issue: Issue, act: Button, *, by: User) -> Proposal:
    """Dismiss the proposal for the issue until a newer run supports it.

    Raises:
        Refused: The proposal no longer applies.
    """
    proposal = _applying(issue, act)
    DismissedProposal.objects.get_or_create(
        issue=issue, act=act, run=proposal.runs[0], defaults={"dismissed_by": by}
    )
    return proposal


def _applying(issue: Issue, act: Button) -> Proposal:
    """Return the proposal to do this to the issue; raise Refused if it no longer applies."""
    proposal = proposal_of(issue)
    if proposal is None or proposal.act != act:
        raise Refused([f"The proposal to {act} {issue} no longer applies: look at its runs again."])
    return proposal


def pull() -> int:
    """Reopen issues that fail after they were resolved, or notify; return how many reopened.

    Safe to call repeatedly and from several processes: an issue is moved once, and each proposal
    is notified once.
    """
    cache, state = caches["computed"], state_of_workspace()
    if cache.get(PULLED) == state:
        return 0
    proposed = [one for one in cached_proposals(nobody()) or [] if one.act == "reopen"]
    opened = sum(_reopened(one) for one in proposed if one.is_automatic)
    for one in proposed:
        if not one.is_automatic:
            _notify(one)
    cache.set(PULLED, state, COMPUTED_CACHE_S)
    return opened


def _notify(proposal: Proposal) -> None:
    """Notify the assignee and all who may reopen the issue of the proposal and its evidence."""
    issue = Issue.objects.filter(pk=proposal.issue).select_related("assignee").first()
    if issue is None:
        return
    event = Event(
        kind=NotificationKind.REOPENING,
        key=f"issue {issue.pk} fails in run {proposal.runs[0]}",
        title=f"Reopen “{issue}”?",
        text=proposal.reason,
        url=page_url("issue_timeline", issue=issue),
        facts={"issue": issue.pk, "runs": list(proposal.runs), "reason": proposal.reason},
    )
    notify(event, to=[*([issue.assignee] if issue.assignee else []), *users_with(APPROVE_ISSUE)])


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
