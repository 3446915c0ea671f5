"""Triage of feedback: accept, dismiss, mark as a duplicate, attach, or create an issue or a test.

A duplicate follows its original: it has the original's issue, also when that changes, and its
original is never a duplicate itself. Every action is signed in the history.
"""

from collections.abc import Iterable, Sequence

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.lifecycle.states import MAX_REASON, check
from issues.models import (
    Feedback,
    FeedbackState,
    Issue,
    IssueState,
    Origin,
    Source,
    Tag,
    Test,
)
from issues.rubrics.siblings import judge_settings_of, siblings_of

TITLE_LENGTH = 120
TRIAGED = "Triaged: "
"""Prefix of the reason for each action in the history."""
FOLLOWS = "Follows feedback "
NO_PROMPT = "This feedback has no prompt to test a model with."


def locked(pk: int) -> Feedback:
    """Return the feedback, locked for this transaction."""
    feedback: Feedback = Feedback.objects.select_for_update(of=("self",)).get(pk=pk)
    return feedback


@transaction.atomic
def set_state(
    feedback: Iterable[Feedback], state: FeedbackState, *, by: User | None, note: str = ""
) -> int:
    """Accept, dismiss or reopen; return the number of changed rows.

    Args:
        note: Findings of triage, kept with the feedback; "" keeps the present note.
    """
    note = note.strip()
    changed = [row for row in feedback if row.state != state or note not in ("", row.note)]
    for row in changed:
        row.state, row.duplicate_of = state, None
        row.note = note or row.note
        _save(row, f"{TRIAGED}{state.label}", by)
    return len(changed)


@transaction.atomic
def attach(feedback: Feedback, issue: Issue, *, by: User | None) -> Issue:
    """Attach the feedback to an issue and accept it; return the issue.

    For a merged issue, it goes to the one it was merged into.

    Raises:
        Refused: The issue is deprecated, or the feedback already belongs to it.
    """
    issue = taking_issue(issue)
    if feedback.issue == issue and feedback.state == FeedbackState.ACCEPTED:
        raise Refused([f"This feedback already belongs to “{issue}”."])
    _accept_for(issue, feedback, f"Attached to issue {issue.pk}", by)
    return issue


@transaction.atomic
def mark_duplicate(feedback: Feedback, original: Feedback, *, by: User | None) -> Feedback:
    """Mark the feedback as a duplicate; return its original.

    If the given original is a duplicate itself, its own original is used.

    Raises:
        Refused: Both are the same, or the original is a duplicate of this one.
    """
    original = original.duplicate_of or original
    if original == feedback:
        raise Refused(
            ["Feedback cannot be a duplicate of itself. Choose another item."], field="duplicate_of"
        )
    feedback.state, feedback.duplicate_of = FeedbackState.DUPLICATE, original
    feedback.issue = original.issue
    _save(feedback, f"{TRIAGED}Duplicate of feedback {original.pk}", by)
    follow(feedback, by=by)
    return original


def follow(feedback: Feedback, *, by: User | None) -> None:
    """Pass issue and original of the feedback on to its duplicates."""
    original = feedback.duplicate_of or feedback
    for row in feedback.duplicates.select_for_update(of=("self",)):
        row.duplicate_of, row.issue = original, feedback.issue
        _save(row, f"{FOLLOWS}{feedback.pk}", by)


@transaction.atomic
def issue_from(feedback: Feedback, *, by: User, tags: Sequence[Tag] = ()) -> Issue:
    """Create a draft issue from feedback, which is linked and accepted.

    Raises:
        Refused: The feedback belongs to an issue already.
    """
    if feedback.issue is not None:
        raise Refused([f"This feedback already belongs to the issue “{feedback.issue}”."])
    issue = _draft_issue(feedback, by, tags)
    _accept_for(issue, feedback, f"Made issue {issue.pk} from it", by)
    return issue


def _draft_issue(feedback: Feedback, by: User, tags: Sequence[Tag]) -> Issue:
    text = feedback.comment.strip() or feedback.prompt.strip() or f"Feedback {feedback.pk}"
    title = text.splitlines()[0]
    if len(title) > TITLE_LENGTH:
        title = title[:TITLE_LENGTH].rsplit(" ", 1)[0] + " …"
    issue = Issue(title=title, description=feedback.comment, author=by)
    save_signed(issue, by, f"Made from feedback {feedback.pk}")
    issue.tags.set(tags)
    if feedback.source:
        Source.objects.create(issue=issue, value=feedback.source)
    return issue


def test_from(feedback: Feedback, *, by: User) -> Test:
    """Create a draft test of the feedback's own issue; see `test_of`.

    Raises:
        Refused: It has no issue, or as `test_of`.
    """
    if feedback.issue is not None:
        return test_of(feedback, feedback.issue, by=by)
    problem = "Attach this feedback to an issue, or create one from it, before you create a test."
    raise Refused([problem, *([] if feedback.prompt.strip() else [NO_PROMPT])])


@transaction.atomic
def test_of(feedback: Feedback, issue: Issue, *, by: User) -> Test:
    """Create a draft test of an issue from feedback: its conversation, and its answer as flagged.

    The feedback is attached to the issue, and its judge settings copied from a sibling, if any. A
    test of feedback that a sealed test seals is sealed too.

    Raises:
        Refused: The feedback has no prompt, or the issue is deprecated.
    """
    if not feedback.prompt.strip():
        raise Refused([NO_PROMPT])
    issue = taking_issue(issue)
    open_siblings = siblings_of(issue, by)
    test = Test(
        issue=issue,
        messages=feedback.conversation,
        flagged_answer=feedback.answer,
        note=feedback.comment,
        origin=Origin.FEEDBACK,
        author=by,
        sealed=Feedback.objects.filter(pk=feedback.pk, issue__tests__sealed=True).exists(),
        **(judge_settings_of(open_siblings[0]) if open_siblings else {}),
    )
    save_signed(test, by, f"Made from feedback {feedback.pk}")
    _accept_for(issue, feedback, f"Made test {test.pk} from it", by)
    return test


@transaction.atomic
def issue_and_test_from(feedback: Feedback, *, by: User, tags: Sequence[Tag] = ()) -> Test:
    """Create a draft test, and a draft issue for it if the feedback has none.

    Raises:
        Refused: As `test_of`.
    """
    issue = feedback.issue or _draft_issue(feedback, by, tags)
    return test_of(feedback, issue, by=by)


def taking_issue(issue: Issue) -> Issue:
    """Return the issue, or the one it was merged into.

    Raises:
        Refused: It is deprecated.
    """
    while issue.merged_into is not None:
        issue = issue.merged_into
    if issue.state == IssueState.DEPRECATED:
        raise Refused([f"“{issue}” is deprecated. Choose another issue, or create a new one."])
    return issue


def _accept_for(issue: Issue, feedback: Feedback, action: str, by: User | None) -> None:
    feedback.issue, feedback.state, feedback.duplicate_of = issue, FeedbackState.ACCEPTED, None
    _save(feedback, f"{TRIAGED}{action}", by)
    follow(feedback, by=by)


def _save(feedback: Feedback, reason: str, by: User | None) -> None:
    check(feedback)
    save_signed(feedback, by, reason[:MAX_REASON])
