"""What becomes of feedback: accepted or dismissed, an issue, a test."""

from collections.abc import Iterable

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction

from issues.models import Author, Feedback, FeedbackState, Issue, Origin, Source, Test
from issues.siblings import judging_of, siblings_of
from issues.states import Refused

TITLE_LENGTH = 120


def set_state(
    feedback: Iterable[Feedback], state: FeedbackState, *, by: AbstractBaseUser | None
) -> int:
    """Accept or dismiss; gives how many were not in that state yet."""
    changed = [row for row in feedback if row.state != state]
    for row in changed:
        row.state = state
        _save(row, f"Triaged: {state.label}", by)
    return len(changed)


@transaction.atomic
def issue_from(feedback: Feedback, *, by: AbstractBaseUser) -> Issue:
    """A draft issue that starts from what the user said; the feedback is linked and accepted.

    Raises:
        Refused: The feedback belongs to an issue already.
    """
    if feedback.issue is not None:
        raise Refused([f"This feedback belongs to the issue “{feedback.issue}” already."])
    issue = Issue(title=_title(feedback), description=feedback.comment, author=by)
    issue._history_user = by  # type: ignore[attr-defined]
    issue._change_reason = f"Made from feedback {feedback.pk}"  # type: ignore[attr-defined]
    issue.save()
    if feedback.source:
        Source.objects.create(issue=issue, value=feedback.source)
    feedback.issue, feedback.state = issue, FeedbackState.ACCEPTED
    _save(feedback, "Made an issue from it", by)
    return issue


@transaction.atomic
def test_from(feedback: Feedback, *, by: AbstractBaseUser) -> Test:
    """A draft test of the feedback's issue: its prompt asked, its answer flagged.

    How it is judged is taken over from a sibling, where there is one.

    Raises:
        Refused: The feedback has no issue, or no prompt that could be asked.
    """
    problems = []
    if feedback.issue is None:
        problems.append("Choose the issue that this feedback shows, or make one from it, first.")
    if not feedback.prompt.strip():
        problems.append("This feedback holds no prompt that a model could be asked.")
    if feedback.issue is None or problems:
        raise Refused(problems)
    siblings = siblings_of(feedback.issue, by)
    open_siblings = [sibling for sibling in siblings if not sibling.sealed]
    test = Test(
        issue=feedback.issue,
        messages=[{"role": "user", "content": feedback.prompt}],
        flagged_answer=feedback.answer,
        note=feedback.comment,
        origin=Origin.FEEDBACK,
        reference_by=Author.HUMAN,
        author=by,
        **(judging_of(open_siblings[0]) if open_siblings else {}),
    )
    test._history_user = by  # type: ignore[attr-defined]
    test._change_reason = f"Made from feedback {feedback.pk}"  # type: ignore[attr-defined]
    test.save()
    set_state([feedback], FeedbackState.ACCEPTED, by=by)
    return test


def _title(feedback: Feedback) -> str:
    """The first line that says something, cut at a word."""
    said = feedback.comment.strip() or feedback.prompt.strip() or f"Feedback {feedback.pk}"
    line = said.splitlines()[0]
    return line if len(line) <= TITLE_LENGTH else line[:TITLE_LENGTH].rsplit(" ", 1)[0] + " …"


def _save(feedback: Feedback, reason: str, by: AbstractBaseUser | None) -> None:
    feedback._history_user = by  # type: ignore[attr-defined]
    feedback._change_reason = reason  # type: ignore[attr-defined]
    feedback.save()
