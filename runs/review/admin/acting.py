"""What a reviewer does on the work page: each act gives the place to show next, and a line."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.urls import reverse

from evalhub.models import User
from evalhub.pages import row_number
from evalhub.storable import UNSTORABLE
from issues.freezing import scale_of
from issues.rubric import WHOLE_TEST
from runs.admin.marking import MARK
from runs.admin.shown import words_of
from runs.models import Result
from runs.review.admin.panel import panel_words
from runs.review.admin.told import Told
from runs.review.admin.typed import Typed
from runs.review.blindness import is_hidden
from runs.review.models import Place, PlaceState, Queue, QueueState
from runs.review.recording import LOST
from runs.review.submitting import Submitted, reopen, save_draft, skip, submit, undo
from runs.review.taking import NoPlace, release, renew, take

SHOWN = (
    "queue",
    "item__result__run",
    "item__result__issue",
    "item__result__test",
    "item__result__tag_set",
    "item__result__revision__template",
    "sent_back_by",
)
GONE = "Your time for this item ran out, and somebody else has it now."


class Problem(NamedTuple):
    """What was refused; `field` is the name of a form's field, or ""."""

    field: str
    text: str


@dataclass(frozen=True)
class Came:
    """What an act leads to.

    `place` None: nothing is left for this person. With `problems` it was refused, and the page
    stays as it is. `is_lost`: the place is not theirs any more. `is_left`: they stop for now.
    """

    place: Place | None = None
    told: Told | None = None
    problems: list[Problem] = field(default_factory=list)
    is_lost: bool = False
    is_left: bool = False


class Desk(NamedTuple):
    """Who works on which queue, and what their browser sent."""

    queue: Queue
    person: User
    sent: QueryDict

    @property
    def places(self) -> QuerySet[Place]:
        readable: QuerySet[Place] = Place.objects.readable_by(self.person)
        return readable.filter(queue=self.queue).select_related(*SHOWN)

    def place(self) -> Place | None:
        """The place that the page shows, whosoever it is now."""
        return self.places.filter(pk=row_number(self.sent.get("place"))).first()

    def own(self) -> Place | None:
        place = self.place()
        return place if place and place.annotator_id == self.person.pk else None

    def next(self, told: Told | None = None) -> Came:
        return Came(take(self.queue, by=self.person), told)


# Going about -------------------------------------------------------------------------------------


def opened(desk: Desk) -> Came:
    """The place that the address names, while it is this person's; else the next."""
    place = desk.own()
    if place and place.state != PlaceState.SUBMITTED and desk.queue.state == QueueState.CLOSED:
        return Came()
    if place and (place.state == PlaceState.SUBMITTED or renew(place, by=desk.person)):
        return Came(place)
    return desk.next()


def go_next(desk: Desk) -> Came:
    return desk.next()


def go_earlier(desk: Desk) -> Came:
    """The item that this person submitted before the one shown, or last."""
    here = desk.own()
    before = _submitted(desk)
    if here and here.state == PlaceState.SUBMITTED:
        before = before.filter(
            Q(submitted_at__lt=here.submitted_at)
            | Q(submitted_at=here.submitted_at, pk__lt=here.pk)
        )
    found = before.order_by("-submitted_at", "-pk").first()
    if found:
        return Came(found)
    told = Told("You have submitted nothing before this here.")
    return Came(here, told) if here else desk.next(told)


def go_later(desk: Desk) -> Came:
    """From an earlier item forward again: at last to the one that waits for its verdict."""
    here = desk.own()
    if here is None or here.state != PlaceState.SUBMITTED:
        return desk.next()
    after = _submitted(desk).filter(
        Q(submitted_at__gt=here.submitted_at) | Q(submitted_at=here.submitted_at, pk__gt=here.pk)
    )
    found = after.order_by("submitted_at", "pk").first()
    return Came(found) if found else desk.next()


def _submitted(desk: Desk) -> QuerySet[Place]:
    return desk.places.filter(annotator=desk.person, state=PlaceState.SUBMITTED)


def leave(desk: Desk) -> Came:
    """Stop for now: the item is free for others, with what was typed kept while nobody takes it."""
    place = desk.own()
    if place and place.state == PlaceState.RESERVED:
        _keep_typed(place, desk)
        release(place, by=desk.person)
    return Came(is_left=True)


def _keep_typed(place: Place, desk: Desk) -> None:
    """Keep what the browser sent along; without scripts it sends nothing of the form."""
    if fields := Typed.read(desk.sent).fields:
        save_draft(place, fields, by=desk.person)


# Deciding ----------------------------------------------------------------------------------------


def submit_item(desk: Desk) -> Came:
    place, typed = desk.own(), Typed.read(desk.sent)
    if place is None:
        return _gone()
    was_hidden = is_hidden(place)
    if place.state != PlaceState.SUBMITTED:
        save_draft(place, typed.fields, by=desk.person)
    submitted = submit(place, typed.sheet(), by=desk.person)
    told = _told_submitted(submitted, typed, was_hidden=was_hidden)
    return desk.next(replace(told, **_example_of(submitted, desk)))


def _gone() -> Came:
    return Came(problems=[Problem("", GONE)], is_lost=True)


def _told_submitted(submitted: Submitted, typed: Typed, *, was_hidden: bool) -> Told:
    """What was saved; after a blind verdict also what the judges had said."""
    result = submitted.result
    yours = _words(result, typed.option())
    said = f"You: {yours}." if yours else "You judged its criteria."
    judges = f" Judges: {panel_words(result)}." if was_hidden else ""
    return Told.about(result, f"Saved. {said}{judges}", undo=True)


def _example_of(submitted: Submitted, desk: Desk) -> dict[str, Any]:
    """The verdict on the whole, where it may be marked as an example for judges."""
    result = submitted.result
    if result.test.sealed or not desk.person.has_perm(MARK):
        return {}
    whole = submitted.place.evaluations.filter(criterion__key=WHOLE_TEST).first()
    url = reverse("admin:runs_result_example", args=[result.pk])
    return {"evaluation": whole.pk, "example_url": url} if whole else {}


def _words(result: Result, label: str) -> str:
    option = scale_of(result.revision.template).option_of(label) if label else None
    return words_of(label, None, result.revision.passes(option.value)) if option else ""


def skip_item(desk: Desk) -> Came:
    """To skip twice is harmless: the place may be free again by now."""
    place = desk.place()
    if place is None:
        return _gone()
    reason = UNSTORABLE.sub("", desk.sent.get("ready") or desk.sent.get("reason") or "").strip()
    _keep_typed(place, desk)
    skip(place, reason, by=desk.person)
    return desk.next(Told(f"Skipped: {reason}", undo=True))


def undo_last(desk: Desk) -> Came:
    """Take back what came last, or the earlier item that is shown."""
    here = desk.own()
    if here and here.state == PlaceState.SUBMITTED:
        told = Told("Your verdict is taken back. Change it, and submit it again.")
        return Came(reopen(here, by=desk.person), told)
    place = undo(desk.queue, by=desk.person)
    if place is not None:
        return Came(place, Told("Undone. The item is yours again, with what you had said."))
    told = Told("There is nothing of yours to undo in this queue.")
    return Came(here, told) if here else desk.next(told)


ACTS: dict[str, Callable[[Desk], Came]] = {
    "next": go_next,
    "earlier": go_earlier,
    "later": go_later,
    "leave": leave,
    "submit": submit_item,
    "skip": skip_item,
    "undo": undo_last,
}


def done(name: str, desk: Desk) -> Came:
    """Do an act; what refuses it is told by field, and the page stays."""
    try:
        return ACTS[name](desk)
    except NoPlace as refused:
        return Came(desk.own(), problems=[Problem("", str(refused))])
    except ValidationError as error:
        is_lost = getattr(error, "code", "") == LOST
        return Came(desk.own(), problems=problems_in(error), is_lost=is_lost)


def problems_in(error: ValidationError) -> list[Problem]:
    if not hasattr(error, "error_dict"):
        return [Problem("", message) for message in error.messages]
    return [
        Problem("" if name == NON_FIELD_ERRORS else name, message)
        for name, messages in error.message_dict.items()
        for message in messages
    ]


# Meanwhile ---------------------------------------------------------------------------------------


def keep_draft(desk: Desk) -> bool:
    """Keep what was typed; False where the place is not theirs any more."""
    place = desk.own()
    return place is not None and save_draft(place, Typed.read(desk.sent).fields, by=desk.person)


def hold(desk: Desk) -> bool:
    """Keep the item reserved; False where it went to somebody else."""
    place = desk.own()
    return place is not None and renew(place, by=desk.person)


MEANWHILE: dict[str, Callable[[Desk], bool]] = {"draft": keep_draft, "renew": hold}
