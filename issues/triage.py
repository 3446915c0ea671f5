"""What becomes of feedback: accepted or dismissed, an issue, a test."""

from collections.abc import Iterable

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Author, Feedback, FeedbackState, Issue, Origin, Source, Test
from issues.siblings import judging_of, siblings_of
from issues.states import Refused

TITLE_LENGTH = 120


def set_state(feedback: Iterable[Feedback], state: FeedbackState, *, by: User | None) -> int:
    """Accept or dismiss; gives how many were not in that state yet."""
    changed = [row for row in feedback if row.state != state]
    for row in changed:
        row.state = state
        _save(row, f"Triaged: {state.label}", by)
    return len(changed)


@transaction.atomic
def issue_from(feedback: Feedback, *, by: User) -> Issue:
    """A draft issue that starts from what the user said; the feedback is linked and accepted.

    Raises:
        Refused: The feedback belongs to an issue already.
    """
    if feedback.issue is not None:
        raise Refused([f"This feedback belongs to the issue “{feedback.issue}” already."])
    issue = Issue(title=_title(feedback), description=feedback.comment, author=by)
    sign(issue, by, f"Made from feedback {feedback.pk}")
    issue.save()
    if feedback.source:
        Source.objects.create(issue=issue, value=feedback.source)
    feedback.issue, feedback.state = issue, FeedbackState.ACCEPTED
    _save(feedback, "Made an issue from it", by)
    return issue


@transaction.atomic
def test_from(feedback: Feedback, *, by: User) -> Test:
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
    sign(test, by, f"Made from feedback {feedback.pk}")
    test.save()
    set_state([feedback], FeedbackState.ACCEPTED, by=by)
    return test


def _title(feedback: Feedback) -> str:
    """The first line that says something, cut at a word."""
    said = feedback.comment.strip() or feedback.prompt.strip() or f"Feedback {feedback.pk}"
    line = said.splitlines()[0]
    return line if len(line) <= TITLE_LENGTH else line[:TITLE_LENGTH].rsplit(" ", 1)[0] + " …"


def _save(feedback: Feedback, reason: str, by: User | None) -> None:
    sign(feedback, by, reason)
    feedback.save()
