"""Unsaved verdicts of the result page, kept on the server until they are saved."""

from collections.abc import Mapping

from evalhub.models import User
from evalhub.values.storable import UNSTORABLE
from runs.admin.result.human_evaluation import EvaluationForm
from runs.models import ChosenBy, Result, VerdictDraft

FIELDS = ("option", "justification", "settles")
MAX_TEXT = 4000


def keep_draft(result: Result, sent: Mapping[str, str], *, by: User) -> None:
    """Keep a form as it is; an empty one is forgotten."""
    criterion = UNSTORABLE.sub("", sent.get("criterion", ""))[:40]
    fields = {name: UNSTORABLE.sub("", sent[name])[:MAX_TEXT] for name in FIELDS if name in sent}
    if not (fields.get("option") or fields.get("justification")):
        return forget_draft(result, criterion, by=by)
    VerdictDraft.objects.update_or_create(
        result=result, annotator=by, criterion=criterion, defaults={"fields": fields}
    )
    return None


def forget_draft(result: Result, criterion: str, *, by: User) -> None:
    VerdictDraft.objects.filter(result=result, annotator=by, criterion=criterion).delete()


def drafts_of(result: Result, reader: User) -> dict[str, EvaluationForm]:
    """Return the reader's drafts on a result, by criterion; "" is the whole."""
    rows = VerdictDraft.objects.filter(result=result, annotator=reader)
    return {
        row.criterion: EvaluationForm.read(
            {**row.fields, "criterion": row.criterion}, chosen_by=ChosenBy.DIRECT
        )
        for row in rows
    }
