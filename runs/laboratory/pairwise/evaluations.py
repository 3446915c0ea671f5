"""People's choices between two answers: drawn order, names hidden, append-only."""

from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.models import User
from evalhub.values.digest import digest
from evalhub.values.storable import UNSTORABLE
from runs.laboratory.pairwise.models import Pair, PairChoice, PairEvaluation
from runs.laboratory.pairwise.pairs import Ids, ids_of, saved_pairs
from runs.models import Result
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.shown_verdicts import has_seen

MAX_REASON = 10_000
MAX_SECONDS = 24 * 3600
KEYS = {"a": PairChoice.FIRST, "b": PairChoice.SECOND, "e": PairChoice.TIE}
"""Keys of a choice between the answers as shown: A, B, or equal."""


class Chosen(NamedTuple):
    """A choice as a person gives it, in terms of the pair, whose older result is first.

    `order` is how the answers were shown: 0 as in the pair, 1 reversed. `seconds` None: not
    measured.
    """

    choice: PairChoice
    order: int
    reason: str = ""
    seconds: int | None = None


def chosen_as_shown(
    key: str, pair: Ids, by: User, *, reason: str = "", seconds: int | None = None
) -> Chosen:
    """Return the choice of a key: "a" or "b" is better as they are shown, "e" equal.

    Raises:
        ValidationError: It is another key.
    """
    shown, order = KEYS.get(key), order_for(pair, by)
    if shown is None:
        raise ValidationError({"choice": f"{key!r} is no choice: choose a, b or e (equal)."})
    is_turned = order and shown != PairChoice.TIE
    turned = PairChoice.SECOND if shown == PairChoice.FIRST else PairChoice.FIRST
    return Chosen(turned if is_turned else shown, order, reason, seconds)


def order_for(pair: Ids, annotator: User) -> int:
    """Draw the order in which a person sees a pair: 0 as given, 1 reversed; always the same one."""
    return int(digest(["order", *pair, annotator.pk]), 16) % 2


@transaction.atomic
def choose(one: Result, other: Result, chosen: Chosen, *, by: User) -> PairEvaluation:
    """Record which of two answers a person finds better. A new choice replaces their last.

    The same choice with the same reason is not recorded again.

    Raises:
        ValidationError: The answers cannot be compared, or the reason is too long.
    """
    ids = ids_of(one, other)
    reason = UNSTORABLE.sub("", chosen.reason).strip()
    if len(reason) > MAX_REASON:
        raise ValidationError(
            {"reason": f"{len(reason):,} characters are too long: write at most {MAX_REASON:,}."}
        )
    pair = Pair.objects.select_for_update().get(pk=saved_pairs([ids])[ids])
    mine = active_choice(pair, by)
    if mine is not None and (mine.choice, mine.justification) == (chosen.choice, reason):
        return mine
    blind = not (has_seen(by.pk, one) or has_seen(by.pk, other))
    return PairEvaluation.objects.create(
        pair=pair,
        annotator=by,
        choice=chosen.choice,
        order=chosen.order,
        justification=reason,
        blind=blind and mine is None,
        seconds=None if chosen.seconds is None else min(max(0, chosen.seconds), MAX_SECONDS),
    )


@transaction.atomic
def undo(pair: Pair, *, by: User) -> PairEvaluation | None:
    """Withdraw the person's active choice, and restore the one before; return the withdrawn one.

    None: they have none.
    """
    Pair.objects.select_for_update().get(pk=pair.pk)
    mine = active_choice(pair, by)
    if mine is not None:
        PairEvaluation.objects.create(pair=pair, annotator=by, order=mine.order)
    return mine


def active_choice(pair: Pair | None, annotator: User) -> PairEvaluation | None:
    """Return the choice of a person that counts; None: none."""
    if pair is None:
        return None
    rows = PairEvaluation.objects.filter(pair=pair, annotator=annotator).order_by("pk")
    return next(iter(active_evaluations(rows)), None)


def found_pair(one: Result, other: Result) -> Pair | None:
    """Return the row of two results, if anybody was asked about them."""
    first, second = sorted((one.pk, other.pk))
    found: Pair | None = Pair.objects.filter(first=first, second=second).first()
    return found
