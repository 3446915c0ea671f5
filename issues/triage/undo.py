"""Undo of a user's last triage action, by the history.

Issues and tests created from the feedback stay: nothing is deleted.
"""

from typing import Any

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Feedback
from issues.states import Refused
from issues.triage.actions import FOLLOWS, TRIAGED, locked

UNDONE = "Undone: "
MAX_SEARCHED = 200
"""Actions of a user that are searched; after as many undos, older ones are out of reach."""
WHAT_TRIAGE_DECIDES = ("state", "issue_id", "duplicate_of_id", "note")


@transaction.atomic
def undo_last(*, by: User) -> Feedback:
    """Undo this user's last triage action; return the feedback.

    Calling it again undoes the action before.

    Raises:
        Refused: There is none, or the feedback was changed since.
    """
    act = last_act(by)
    if act is None:
        raise Refused(["You have no triage action to undo."])
    feedback = locked(act.id, version=act.history_id)
    did = act.history_change_reason.removeprefix(TRIAGED)
    _restore(feedback, act.prev_record, f"{UNDONE}{did}", by)
    _restore_followers(act, by)
    return feedback


def last_act(by: User) -> Any:
    """Return the newest triage action of this user that is not undone; None for none."""
    mine = Feedback.history.filter(history_user=by).order_by("-history_id")
    undone = 0
    for record in mine[:MAX_SEARCHED]:
        reason = record.history_change_reason or ""
        if reason.startswith(UNDONE):
            undone += 1
        elif reason.startswith(TRIAGED) and undone:
            undone -= 1
        elif reason.startswith(TRIAGED):
            return record
    return None


def _restore(feedback: Feedback, before: Any, reason: str, by: User) -> None:
    for name in WHAT_TRIAGE_DECIDES:
        setattr(feedback, name, getattr(before, name))
    sign(feedback, by, reason[:100])
    feedback.save()


def _restore_followers(act: Any, by: User) -> None:
    """Restore duplicates that followed the action, unless changed since."""
    followed = Feedback.history.filter(
        history_change_reason=f"{FOLLOWS}{act.id}", history_id__gt=act.history_id
    )
    for record in followed:
        row = Feedback.objects.get(pk=record.id)
        if row.history.first() == record:
            _restore(row, record.prev_record, f"{FOLLOWS}{act.id}", by)
