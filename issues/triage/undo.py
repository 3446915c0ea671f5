"""Undo of a user's last triage action, by the history.

A draft created from the feedback is deleted with it if nobody has used or changed it since.
"""

import re
from typing import Any, NamedTuple

from django.db import transaction

from evalhub.access.models import User
from evalhub.admin_site.edit_conflicts import last_change
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.content.feedback_content import TRIAGE
from issues.lifecycle.states import check
from issues.lifecycle.undoable_drafts import delete_untouched
from issues.models import Feedback, Issue, Test
from issues.triage.actions import FOLLOWS, TRIAGED, locked

UNDONE = "Undone: "
MAX_SEARCHED = 200
"""Actions of a user that are searched; after as many undos, older ones are out of reach."""


class Undone(NamedTuple):
    feedback: Feedback
    deletes_draft: bool


@transaction.atomic
def undo_last(*, by: User) -> Undone:
    """Undo this user's last triage action, and delete the unused draft that it made, if any.

    Calling it again undoes the action before.

    Raises:
        Refused: There is none, or the feedback was changed since.
    """
    act = last_act(by)
    if act is None:
        raise Refused(["You have no triage action to undo."])
    feedback = locked(act.id)
    if feedback.history.first() != act:
        changed = last_change(feedback, by, "you triaged it")
        raise Refused([f"{changed}. So your action cannot be undone."])
    did = act.history_change_reason.removeprefix(TRIAGED)
    _restore(feedback, act.prev_record, f"{UNDONE}{did}", by)
    _restore_followers(act, by)
    return Undone(feedback, _delete_drafts(act, by))


def _delete_drafts(act: Any, by: User) -> bool:
    """Delete the draft that the action made, if unused; a new test takes its new issue along."""
    found = re.match(rf"{TRIAGED}Made (issue|test) (\d+) from it", act.history_change_reason)
    if found is None:
        return False
    made, reason = f"Made from feedback {act.id}", "Undone with the triage of its feedback"
    rows: list[Any] = list((Issue if found[1] == "issue" else Test).objects.filter(pk=found[2]))
    rows += [test.issue for test in rows if found[1] == "test"]
    deleted = [
        delete_untouched(row, reason, by=by, made=made, besides=("sources",)) for row in rows
    ]
    return any(deleted[:1])


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
    for field in feedback._meta.concrete_fields:
        if field.name in TRIAGE:
            setattr(feedback, field.attname, getattr(before, field.attname))
    check(feedback)
    save_signed(feedback, by, reason[:100])


def _restore_followers(act: Any, by: User) -> None:
    """Restore duplicates that followed the action, unless changed since."""
    followed = Feedback.history.filter(
        history_change_reason=f"{FOLLOWS}{act.id}", history_id__gt=act.history_id
    )
    for record in followed:
        row = Feedback.objects.get(pk=record.id)
        if row.history.first() == record:
            _restore(row, record.prev_record, f"{FOLLOWS}{act.id}", by)
