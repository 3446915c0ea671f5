"""What becomes of feedback: accepted or dismissed, a duplicate, part of an issue, an issue, a test.

A duplicate follows its original: it has the original's issue, also when that changes, and its
original is never a duplicate itself. Every act stands in the history, signed.
"""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils.formats import date_format
from django.utils.timezone import localtime

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import (
    Author,
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
from issues.states import LONGEST_REASON, Refused

TITLE_LENGTH = 120
TRIAGED = "Triaged: "
"""How the reason of each act begins in the history."""
FOLLOWS = "Follows feedback "


class VersionConflict(Refused):
    """Somebody has changed the feedback since it was read."""


@transaction.atomic
def locked(pk: int, version: int | None = None) -> Feedback:
    """The feedback as the database has it, for this transaction alone.

    Args:
        version: The version that was read, as `version_of` gave it; None: whichever.

    Raises:
        Overtaken: It has been changed since; the message says by whom and to what.
    """
    feedback: Feedback = Feedback.objects.select_for_update(of=("self",)).get(pk=pk)
    latest = feedback.history.select_related("history_user").first()
    if version is not None and latest is not None and latest.history_id != version:
        who = latest.history_user or "An application"
        when = date_format(localtime(latest.history_date), "H:i")
        reason = (latest.history_change_reason or "").removeprefix(TRIAGED)
        did = f" ({reason})" if reason else ""
        raise VersionConflict(
            [
                f"{who} was faster, at {when}{did}: it is {feedback.get_state_display().lower()} "
                "now. Your choice was not saved."
            ]
        )
    return feedback


def version_of(feedback: Feedback) -> int:
    """A number that differs after every change of the feedback."""
    return feedback.history.values_list("history_id", flat=True).first() or 0


@transaction.atomic
def set_state(
    feedback: Iterable[Feedback], state: FeedbackState, *, by: User | None, note: str = ""
) -> int:
    """Accept, dismiss or open again; gives how many were not in that state yet.

    Args:
        note: What triage found, kept with the feedback; "": what stands there stays.
    """
    changed = [row for row in feedback if row.state != state]
    for row in changed:
        row.state, row.duplicate_of = state, None
        row.note = note.strip() or row.note
        _save(row, f"{TRIAGED}{state.label}", by)
    return len(changed)


@transaction.atomic
def attach(feedback: Feedback, issue: Issue, *, by: User | None) -> Issue:
    """Accept the feedback as one more case of the issue; gives the issue that it went to.

    Where the issue was merged into another, it goes to that.

    Raises:
        Refused: The issue is deprecated, or the feedback is the issue's already.
    """
    issue = _taking_feedback(issue)
    if feedback.issue == issue and feedback.state == FeedbackState.ACCEPTED:
        raise Refused([f"This feedback belongs to “{issue}” already."])
    feedback.issue, feedback.state, feedback.duplicate_of = issue, FeedbackState.ACCEPTED, None
    _save(feedback, f"{TRIAGED}Attached to issue {issue.pk}", by)
    follow(feedback, by=by)
    return issue


@transaction.atomic
def mark_duplicate(feedback: Feedback, original: Feedback, *, by: User | None) -> Feedback:
    """Mark the feedback as saying what the original says; gives the original that it got.

    Where that is a duplicate itself, its own original is taken.

    Raises:
        Refused: Both are the same, or the original is a duplicate of this one.
    """
    original = original.duplicate_of or original
    if original == feedback:
        raise Refused(["Feedback cannot be a duplicate of itself: choose another one."])
    feedback.state, feedback.duplicate_of = FeedbackState.DUPLICATE, original
    feedback.issue = original.issue
    _save(feedback, f"{TRIAGED}Duplicate of feedback {original.pk}", by)
    follow(feedback, by=by)
    return original


def follow(feedback: Feedback, *, by: User | None) -> None:
    """Let the duplicates of this feedback have its issue, and its original where it got one."""
    original = feedback.duplicate_of or feedback
    for row in feedback.duplicates.select_for_update(of=("self",)):
        row.duplicate_of, row.issue = original, feedback.issue
        _save(row, f"{FOLLOWS}{feedback.pk}", by)


@transaction.atomic
def issue_from(feedback: Feedback, *, by: User, tags: Sequence[Tag] = ()) -> Issue:
    """A draft issue that starts from what the user said; the feedback is linked and accepted.

    Raises:
        Refused: The feedback belongs to an issue already.
    """
    if feedback.issue is not None:
        raise Refused([f"This feedback belongs to the issue “{feedback.issue}” already."])
    issue = _draft_issue(feedback, by, tags)
    feedback.issue, feedback.state, feedback.duplicate_of = issue, FeedbackState.ACCEPTED, None
    _save(feedback, f"{TRIAGED}Made issue {issue.pk} from it", by)
    follow(feedback, by=by)
    return issue


def _draft_issue(feedback: Feedback, by: User, tags: Sequence[Tag]) -> Issue:
    issue = Issue(title=_title(feedback), description=feedback.comment, author=by)
    sign(issue, by, f"Made from feedback {feedback.pk}")
    issue.save()
    issue.tags.set(tags)
    if feedback.source:
        Source.objects.create(issue=issue, value=feedback.source)
    return issue


def test_from(feedback: Feedback, *, by: User) -> Test:
    """A draft test of the feedback's own issue; see `test_of`.

    Raises:
        Refused: It has no issue, or as `test_of`.
    """
    if feedback.issue is not None:
        return test_of(feedback, feedback.issue, by=by)
    problem = "Choose the issue that this feedback shows, or make one from it, first."
    raise Refused([problem, *_problems_of_test(feedback)])


@transaction.atomic
def test_of(feedback: Feedback, issue: Issue, *, by: User) -> Test:
    """A draft test of an issue, to which the feedback goes: its prompt asked, its answer flagged.

    How it is judged is taken over from a sibling, where there is one.

    Raises:
        Refused: The feedback has no prompt that could be asked, or the issue is deprecated.
    """
    if problems := _problems_of_test(feedback):
        raise Refused(problems)
    issue = _taking_feedback(issue)
    test = _draft_test(feedback, issue, by)
    feedback.issue, feedback.state, feedback.duplicate_of = issue, FeedbackState.ACCEPTED, None
    _save(feedback, f"{TRIAGED}Made test {test.pk} from it", by)
    follow(feedback, by=by)
    return test


@transaction.atomic
def issue_and_test_from(feedback: Feedback, *, by: User, tags: Sequence[Tag] = ()) -> Test:
    """A draft test, and a draft issue for it where the feedback has none yet.

    Raises:
        Refused: As `test_of`.
    """
    issue = feedback.issue or _draft_issue(feedback, by, tags)
    return test_of(feedback, issue, by=by)


def _problems_of_test(feedback: Feedback) -> list[str]:
    asked = feedback.prompt.strip()
    return [] if asked else ["This feedback holds no prompt that a model could be asked."]


def _draft_test(feedback: Feedback, issue: Issue, by: User) -> Test:
    open_siblings = [sibling for sibling in siblings_of(issue, by) if not sibling.sealed]
    test = Test(
        issue=issue,
        messages=[{"role": "user", "content": feedback.prompt}],
        flagged_answer=feedback.answer,
        note=feedback.comment,
        origin=Origin.FEEDBACK,
        reference_by=Author.HUMAN,
        author=by,
        **(judge_settings_of(open_siblings[0]) if open_siblings else {}),
    )
    sign(test, by, f"Made from feedback {feedback.pk}")
    test.save()
    return test


def _taking_feedback(issue: Issue) -> Issue:
    """The issue, or what it was merged into.

    Raises:
        Refused: It is deprecated.
    """
    while issue.merged_into is not None:
        issue = issue.merged_into
    if issue.state == IssueState.DEPRECATED:
        raise Refused([f"“{issue}” is deprecated: choose another issue, or make a new one."])
    return issue


def _title(feedback: Feedback) -> str:
    """The first line that says something, cut at a word."""
    said = feedback.comment.strip() or feedback.prompt.strip() or f"Feedback {feedback.pk}"
    line = said.splitlines()[0]
    return line if len(line) <= TITLE_LENGTH else line[:TITLE_LENGTH].rsplit(" ", 1)[0] + " …"


def _save(feedback: Feedback, reason: str, by: User | None) -> None:
    sign(feedback, by, reason[:LONGEST_REASON])
    feedback.save()
