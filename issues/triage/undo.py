"""Taking back the last act of triage that a person did, by the history.

What was made of the feedback, an issue or a test, stays: nothing is deleted.
"""

from typing import Any

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Feedback
from issues.states import Refused
from issues.triage.actions import FOLLOWS, TRIAGED, locked

UNDONE = "Taken back: "
LOOKED_THROUGH = 200
"""Acts of a person that are looked through; who has taken back so many starts over by hand."""
WHAT_TRIAGE_DECIDES = ("state", "issue_id", "duplicate_of_id", "note")


@transaction.atomic
def undo_last(*, by: User) -> Feedback:
    """Put the feedback that this person triaged last back as it was before; gives it.

    To call it again takes back the act before that.

    Raises:
        Refused: There is none, or the feedback was changed since.
    """
    act = last_act(by)
    if act is None:
        raise Refused(["You have triaged nothing that could be taken back."])
    feedback = locked(act.id, version=act.history_id)
    did = act.history_change_reason.removeprefix(TRIAGED)
    _restore(feedback, act.prev_record, f"{UNDONE}{did}", by)
    _restore_followers(act, by)
    return feedback


def last_act(by: User) -> Any:
    """The newest act of triage by this person that was not taken back; None: there is none."""
    mine = Feedback.history.filter(history_user=by).order_by("-history_id")
    undone = 0
    for record in mine[:LOOKED_THROUGH]:
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
    """Duplicates that followed the act go back as well, unless they were changed since."""
    followed = Feedback.history.filter(
        history_change_reason=f"{FOLLOWS}{act.id}", history_id__gt=act.history_id
    )
    for record in followed:
        row = Feedback.objects.get(pk=record.id)
        if row.history.first() == record:
            _restore(row, record.prev_record, f"{FOLLOWS}{act.id}", by)
