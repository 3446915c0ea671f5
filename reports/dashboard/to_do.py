"""The tasks of a user: their own first, then those of everybody with their rights."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from evalhub.models import User
from issues.models import Feedback, FeedbackState, Issue, IssueState, Test, TestState
from reports.documents.document import Column, Link, Table
from reports.documents.links import row_url
from reports.queries.counts import counts_of
from reports.queries.incomplete_runs import CONTROL, IncompleteRun, retry_url
from runs.models import Result, VerdictDraft
from runs.review.reservations import waiting_for

REVIEW = "review.review_results"
ADJUDICATE = "runs.adjudicate"
TRIAGE = "issues.change_feedback"
DRAFT = "issues.change_issue"
APPROVE = "issues.approve_issue", "issues.approve_test"

MAX_QUEUES = 6
OPEN_STATES = (IssueState.DRAFT, IssueState.IN_REVIEW, IssueState.APPROVED)


@dataclass(frozen=True)
class Task:
    """Something to do; `is_mine`: for this user alone. `n` counts the rows at the address."""

    title: str
    n: int
    url: str
    is_mine: bool = False


class Waiting(NamedTuple):
    """A task before its rows are counted."""

    title: str
    rows: QuerySet[Any]
    url: str
    is_mine: bool = False


def may_act(user: User) -> bool:
    """Return whether anything can be the user's task."""
    return any(map(user.has_perm, (REVIEW, ADJUDICATE, TRIAGE, DRAFT, CONTROL, *APPROVE)))


def to_do(user: User, incomplete: Callable[[], Sequence[IncompleteRun]]) -> list[Task]:
    """Return what there is to do, their own tasks first; a constant number of queries.

    Args:
        incomplete: Reads the incomplete runs, for those who may retry them.
    """
    found = [*_verdicts_waiting(user), *_counted([*_mine(user), *_shared(user)])]
    if user.has_perm(CONTROL):
        found += [_retry(one) for one in incomplete()[:MAX_QUEUES]]
    return [task for task in found if task.n]


def _verdicts_waiting(user: User) -> list[Task]:
    """Return the reviews and the unsaved verdicts that wait for the user."""
    if not user.has_perm(REVIEW):
        return []
    found = [
        Task(f"Review: {name}", n, row_url("admin:review_queue_work", queue), True)
        for queue, name, n in waiting_for(user)[:MAX_QUEUES]
    ]
    drafts = VerdictDraft.objects.readable_by(user).filter(annotator=user)
    results = list(drafts.order_by("-updated_at").values_list("result_id", flat=True))
    url = row_url("admin:runs_result_change", results[0]) if results else ""
    return [*found, Task("My unsaved verdicts", len(results), url, True)]


STATE_FILTERS: dict[Any, str] = {Issue: "state__exact", Test: "state"}
"""The parameter of each list that filters by state."""


def _mine(user: User) -> Iterator[Waiting]:
    if user.has_perm(DRAFT):
        mine = Issue.objects.filter(assignee=user, state__in=OPEN_STATES)
        yield Waiting("Issues assigned to me", mine, _url("issues_issue", assignee="me"), True)
        for model, states in ((Issue, IssueState), (Test, TestState)):
            state = states.DRAFT
            drafts = model._default_manager.filter(author=user, state=state)
            name = str(model._meta.verbose_name_plural)
            query = {STATE_FILTERS[model]: state.value, "author": "me"}
            url = _url(f"issues_{model._meta.model_name}", **query)
            yield Waiting(f"My draft {name}", drafts, url, True)


def _shared(user: User) -> Iterator[Waiting]:
    if user.has_perm(ADJUDICATE):
        disputed = Result.objects.filter(is_disputed=True)
        yield Waiting("Disputed results", disputed, reverse("admin:review_dispute_changelist"))
    if user.has_perm(TRIAGE):
        new = Feedback.objects.filter(state=FeedbackState.NEW)
        yield Waiting("Feedback to triage", new, reverse("admin:issues_feedback_inbox"))
    for right, model in zip(APPROVE, STATE_FILTERS, strict=True):
        if user.has_perm(right):
            waiting = model._default_manager.filter(state="in_review")
            name = str(model._meta.verbose_name_plural).capitalize()
            url = _url(f"issues_{model._meta.model_name}", **{STATE_FILTERS[model]: "in_review"})
            yield Waiting(f"{name} in review", waiting, url)


def _counted(several: Sequence[Waiting]) -> list[Task]:
    """Return the tasks of these rows; one query."""
    counts = counts_of([one.rows for one in several])
    return [
        Task(one.title, n, one.url, one.is_mine) for one, n in zip(several, counts, strict=True)
    ]


def _retry(one: IncompleteRun) -> Task:
    title = f"Failed results of {one.run.model_name}, {one.run.label}"
    return Task(title, one.retryable, retry_url(one.run.pk))


def _url(model: str, **query: Any) -> str:
    return f"{reverse(f'admin:{model}_changelist')}?{urlencode(query)}"


def to_do_table(tasks: list[Task]) -> Table:
    return Table(
        key="to_do",
        title="To do",
        columns=(Column("task", "Task", "link"), Column("n", "Count", "count")),
        rows=[
            (Link(task.title, task.url, "" if task.is_mine else "for everybody"), task.n)
            for task in tasks
        ],
        empty="Nothing to do: no review, draft or feedback is waiting for you.",
    )
