"""Edits of selected text by a model: proposed, then accepted, rejected or undone by a person.

Each step is a row that never changes, so that edits of a text can be undone to any depth.
"""

import asyncio
import threading
from dataclasses import dataclass

from django.conf import settings as site
from django.db import IntegrityError, transaction

from evalhub.access.sealing.sending_consent import Role, record_sendings
from evalhub.llm import gateway
from evalhub.llm.errors import CallError
from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from evalhub.work.calls.direct_caller import DirectCaller, save_calls
from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits.budget import Budget, Gate
from evalhub.work.limits.shared_rate import read_shared
from evalhub.work.processes.web import threads
from issues.drafting.asking import Asked, ask
from issues.drafting.edit_prompts import (
    FIELD,
    NEED_WORDS,
    Selection,
    edit_request,
    place_of,
    spaced_like,
)
from issues.drafting.start import edit_key, left_today
from issues.limits import MAX_SELECTION
from issues.models import Edit, EditAction, EditState, Test

NO_WORKER = 0
slots = threading.BoundedSemaphore(max(1, threads // 4))
"""Each edit takes a thread of the web server while the model replies."""


@dataclass(frozen=True)
class EditWanted:
    """A request for an edit. `field` names the text, as `Edit.field` does.

    `test` is what the text is of or derived from; None if it is not saved. `sealed` are the sealed
    tests whose text is sent.
    """

    selection: Selection
    action: str
    model: LanguageModel
    field: str
    words: str = ""
    test: Test | None = None
    sealed: tuple[int, ...] = ()

    @property
    def roles(self) -> list[Role]:
        return [("generator", self.model.endpoint())]


def problems_of(wanted: EditWanted, user: User) -> list[str]:
    """Return what prevents an edit; empty if nothing does."""
    selection = wanted.selection
    problems = []
    if wanted.action not in EditAction.values:
        problems.append(f"There is no action {wanted.action!r}.")
    if not 0 <= selection.start < selection.end <= len(selection.text):
        problems.append("Select some text first.")
    elif len(selection.part) > MAX_SELECTION:
        problems.append(f"Select at most {MAX_SELECTION:,} characters.")
    if wanted.action in NEED_WORDS and not wanted.words.strip():
        needed = (
            "the judge’s feedback" if wanted.action == EditAction.FEEDBACK else "an instruction"
        )
        problems.append(f"Enter {needed}.")
    if wanted.model.has_prices and not left_today(user):
        problems.append(
            f"You have spent today’s limit for drafts and edits, {site.EVALHUB_DRAFT_LIMIT_USD} "
            "USD (EVALHUB_DRAFT_LIMIT_USD)."
        )
    return problems


def propose(wanted: EditWanted, *, by: User) -> Edit:
    """Ask the model, and save its proposal.

    Raises:
        Refused: See `problems_of`, or the model gave no usable reply.
    """
    if problems := problems_of(wanted, by):
        raise Refused(problems)
    if not slots.acquire(blocking=False):
        raise Refused(["Too many people have texts edited at this moment. Try again in a moment."])
    try:
        record_sendings(wanted.sealed, wanted.roles, by=by)
        asked = _asked(wanted, by)
    finally:
        slots.release()
    if asked.texts is None:
        raise Refused([f"{wanted.model} gave no edit. {asked.failures[-1].reason}"])
    selection = wanted.selection
    return Edit.objects.create(
        field=wanted.field,
        test=wanted.test,
        action=wanted.action,
        instruction=wanted.words.strip() if wanted.action in NEED_WORDS else "",
        start=selection.start,
        before=selection.part,
        after=spaced_like(selection.part, asked.texts[FIELD]),
        language_model=wanted.model,
        by=by,
    )


def _asked(wanted: EditWanted, by: User) -> Asked:
    request = edit_request(wanted.selection, wanted.action, wanted.words)
    endpoint = wanted.model.endpoint()
    caller = DirectCaller(
        work_key=edit_key(by),
        item_id=wanted.test.pk if wanted.test else None,
        gate=Gate(Budget(allowance_usd=float(left_today(by)))),
        shared=read_shared({wanted.model.pk: None}, NO_WORKER),
    )

    async def once() -> Asked:
        try:
            return await ask(request, endpoint, caller)
        finally:
            await gateway.close()

    found: list[Asked | Exception] = []

    def run() -> None:
        try:
            found.append(asyncio.run(once()))
        except (CallError, GivenBack) as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    save_calls(caller)
    if not found or isinstance(found[0], Exception):
        message = getattr(found[0] if found else None, "message", "It could pass today’s limit.")
        raise Refused([f"{wanted.model} was not asked. {message}"])
    return found[0]


def decide(proposal: Edit, state: EditState, *, by: User) -> Edit:
    """Add that a proposal was accepted or rejected.

    Raises:
        Refused: It was decided before.
    """
    try:
        with transaction.atomic():
            return _step(proposal, state, by)
    except IntegrityError as error:
        raise Refused(["This edit was decided before."]) from error


def undo_last(field: str, text: str, *, by: User) -> tuple[Edit, int]:
    """Add that the last accepted edit of a text was undone; return it and where its words stand.

    Args:
        text: The text as it is now.

    Raises:
        Refused: There is none, or its words are no longer there.
    """
    steps = Edit.objects.filter(state=EditState.UNDONE).values("proposal")
    mine = Edit.objects.readable_by(by).filter(field=field, by=by)
    accepted = mine.filter(state=EditState.ACCEPTED)
    last = accepted.exclude(proposal__in=steps).select_related("proposal").first()
    if last is None:
        raise Refused(["There is no edit to undo in this text."])
    proposal = last.proposal
    assert proposal is not None, "a step has a proposal, by constraint"
    at = place_of(proposal.after, proposal.start, text)
    if at is None:
        raise Refused(["The text was edited there since. So the last edit cannot be undone."])
    try:
        with transaction.atomic():
            _step(proposal, EditState.UNDONE, by)
    except IntegrityError as error:
        raise Refused(["This edit was undone before."]) from error
    return proposal, at


def _step(proposal: Edit, state: EditState, by: User) -> Edit:
    return Edit.objects.create(
        proposal=proposal,
        state=state,
        field=proposal.field,
        test=proposal.test,
        action=proposal.action,
        start=proposal.start,
        language_model=proposal.language_model,
        by=by,
    )
