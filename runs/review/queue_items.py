"""Fill queues with results that need review, and a random sample for honest calibration.

Only results with an answer are added. Adding is idempotent: a result is in a queue once, with the
reasons it had when it was added.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from evalhub.models import ItemState, User
from evalhub.refusals import Refused
from evalhub.values import clock
from runs.comparison.baselines import opponent_of
from runs.comparison.comparability import comparability_of
from runs.models import JudgeRun, Result, Run
from runs.review.models import (
    Assignment,
    AssignmentState,
    Queue,
    QueueState,
    ReviewItem,
    ReviewScope,
    Skip,
)
from runs.review.pair_items import pair_items_of
from runs.review.reason_facts import facts_of
from runs.review.reasons import REQUESTED, Reason, as_json, reasons_of, severity
from runs.review.sampling import (
    BY_CHANCE,
    Draw,
    Rank,
    Spread,
    how_many,
    inverse_weight,
    lot,
    position,
)

T = TypeVar("T")

PORTION = 1000


class Added(NamedTuple):
    """The numbers of items added, of random ones among them, and of items already in the queue."""

    added: int
    random: int
    already: int


NOTHING = Added(0, 0, 0)


# Runs --------------------------------------------------------------------------------------------


def add_runs(queue: Queue, *runs: Run) -> Added:
    """Add the runs' answers with a reason for review, and the queue's share of random ones.

    A queue of pairs gets its share of the pairs of these runs, drawn at random. A single run is
    paired with its baseline or previous run; without one nothing is added.

    Raises:
        ValidationError: The queue is closed.
    """
    _check_open(queue)
    total = NOTHING
    for items in _items_of(queue, runs):
        total = _sum(total, _counted(_insert(queue, items), items))
    queue.runs.add(*runs)
    return total


def plan(queue: Queue, *runs: Run) -> tuple[Added, Counter[str]]:
    """Return what `add_runs` would add now, and how many of it have each reason, by key."""
    total, reasons = NOTHING, Counter[str]()
    for items in _items_of(queue, runs):
        new = _new(queue, items)
        total = _sum(total, _counted(new, items))
        reasons.update(reason["key"] for item in new for reason in item.reasons)
    return total, reasons


def _check_open(queue: Queue) -> None:
    if queue.state != QueueState.OPEN:
        raise ValidationError(f"{queue} is closed: reopen it to add results.")


def _items_of(queue: Queue, runs: Sequence[Run]) -> Iterator[Sequence[ReviewItem]]:
    """Yield in portions the items of these runs, unsaved."""
    if queue.scope == ReviewScope.PAIRS:
        by_chance = position(BY_CHANCE, _queue_age_s(queue), 0)
        return _portions(pair_items_of(queue, runs, by_chance))
    return (items for run in runs for items in _answers_of(queue, run))


def add_results(queue: Queue, results: Sequence[Result], *, by: User) -> list[ReviewItem]:
    """Add answers that somebody wants reviewed, before all others; return the new items.

    Raises:
        ValidationError: The queue is closed, or a result has no answer.
    """
    _check_open(queue)
    if queue.scope == ReviewScope.PAIRS:
        raise ValidationError(f"{queue} reviews pairs of answers: add runs to it.")
    if lacking := [result for result in results if result.state != ItemState.DONE]:
        raise ValidationError(f"Result {lacking[0].pk} has no answer to review.")
    reasons = (Reason(REQUESTED, f"Added by {by}"),)
    first = position((severity(reasons), inverse_weight(1)), _queue_age_s(queue), 0)
    said = as_json(reasons)
    items = [ReviewItem(queue=queue, result=r, reasons=said, position=first) for r in results]
    return _insert(queue, items)


def add_sample(queue: Queue, run: Run, size: int) -> list[ReviewItem]:
    """Add this many of the run's answers, drawn at random, all if it has fewer.

    Raises:
        ValidationError: The queue is closed, or reviews pairs.
    """
    if queue.state != QueueState.OPEN or queue.scope == ReviewScope.PAIRS:
        raise ValidationError(f"{queue} is closed or reviews pairs: choose another queue.")
    ids = run.results.filter(state=ItemState.DONE).values_list("pk", flat=True)
    drawn = sorted(ids, key=lambda pk: lot(queue.seed, pk))[:size]
    age_s = _queue_age_s(queue)
    items = [
        ReviewItem(
            queue=queue,
            result_id=pk,
            is_random=True,
            position=position(BY_CHANCE, age_s, number / len(drawn)),
        )
        for number, pk in enumerate(drawn)
    ]
    return _insert(queue, items)


@transaction.atomic
def withdraw_results(items: Collection[int]) -> None:
    """Remove items that nobody has begun to review.

    Raises:
        Refused: Somebody has begun one of them, or one is gone; then all stay.
    """
    places = Assignment.objects.select_for_update(of=("self",)).filter(item__in=items)
    is_begun = any(a.state != AssignmentState.OPEN or a.draft or a.note or a.past for a in places)
    if is_begun or Skip.objects.filter(item__in=items).exists():
        raise Refused(["Somebody has begun to review, so nothing was removed from the queue."])
    if ReviewItem.objects.filter(pk__in=items).count() < len(items):
        raise Refused(["The queue no longer has all of them, so nothing was removed."])
    ReviewItem.objects.filter(pk__in=items).delete()


def _answers_of(queue: Queue, run: Run) -> Iterator[Sequence[ReviewItem]]:
    """Yield in portions the items of a run: answers with reasons, and random ones."""
    answered = run.results.filter(state=ItemState.DONE).order_by("pk")
    ids = array("q", answered.values_list("pk", flat=True))
    grounds = _grounds(run, ids)
    count = how_many(queue.random_share, len(ids), len(grounds))
    draw = Draw.of((lot(queue.seed, pk) for pk in ids), count)
    spread = Spread(Counter(rank for _, rank in grounds.values()), count)
    age_s = _queue_age_s(queue)
    for portion in _portions(ids):
        items = []
        for pk in portion:
            reasons, rank = grounds.get(pk, ((), BY_CHANCE))
            drawn = draw.position_of(lot(queue.seed, pk))
            if drawn is None and not reasons:
                continue
            fine = lot(queue.seed, pk, "order") / 2**64
            if drawn is not None:
                rank, fine = spread.at(drawn)
            items.append(
                ReviewItem(
                    queue=queue,
                    result_id=pk,
                    reasons=as_json(reasons),
                    is_random=drawn is not None,
                    position=position(rank, age_s, fine),
                )
            )
        yield items


Grounds = tuple[tuple[Reason, ...], Rank]
"""Reasons with their rank; many results share one of these."""


def _grounds(run: Run, ids: Sequence[int]) -> dict[int, Grounds]:
    """Return the reasons of each result with any, reading in portions."""
    opponent = opponent_of(run)
    if opponent and not comparability_of(opponent, run):
        opponent = None  # Another jury flips verdicts, too.
    found: dict[int, Grounds] = {}
    known: dict[Grounds, Grounds] = {}
    for portion in _portions(ids):
        for pk, facts in facts_of(run, portion, opponent).items():
            if reasons := reasons_of(facts):
                grounds = reasons, (severity(reasons), inverse_weight(facts.weight))
                found[pk] = known.setdefault(grounds, grounds)
    return found


def _queue_age_s(queue: Queue) -> int:
    return int((clock.now() - queue.created_at).total_seconds())


def _portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), PORTION):
        yield rows[start : start + PORTION]


# Rows --------------------------------------------------------------------------------------------


@transaction.atomic
def _insert(queue: Queue, items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """Save items and assignments of one portion, with the queue's row locked; return the new."""
    locked = Queue.objects.select_for_update(no_key=True, of=("self",)).get(pk=queue.pk)
    new = ReviewItem.objects.bulk_create(_new(queue, items))
    _make_assignments(new, 1, locked.reviewers)
    return new


def _new(queue: Queue, items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """Leave out the results that the queue has already."""
    ids = [item.result_id for item in items]
    rows = ReviewItem.objects.filter(queue=queue, result__in=ids)
    known = set(rows.values_list("result", "other"))
    return [item for item in items if (item.result_id, item.other_id) not in known]


def _counted(new: Sequence[ReviewItem], items: Sequence[ReviewItem]) -> Added:
    random = sum(item.is_random for item in new)
    return Added(len(new), random, len(items) - len(new))


def _sum(one: Added, other: Added) -> Added:
    return Added(*(a + b for a, b in zip(one, other, strict=True)))


def _make_assignments(items: Collection[ReviewItem], first: int, last: int) -> int:
    made = Assignment.objects.bulk_create(
        Assignment(item=item, queue_id=item.queue_id, position=item.position, number=number)
        for item in items
        for number in range(first, last + 1)
    )
    return len(made)


def add_assignments(queue: Queue) -> int:
    """Add the assignments missing since the number of reviewers was raised; remove none.

    Returns:
        The number added.
    """
    total = 0
    for number in range(2, queue.reviewers + 1):
        last, added = 0, 1
        while added:
            last, added = _add_some_assignments(queue, number, last)
            total += added
    return total


@transaction.atomic
def _add_some_assignments(queue: Queue, number: int, after: int) -> tuple[int, int]:
    """Add assignments of this number for a portion of items; return the last item and the count."""
    Queue.objects.select_for_update(no_key=True, of=("self",)).get(pk=queue.pk)
    there = Assignment.objects.filter(item=OuterRef("pk"), number=number)
    without = ReviewItem.objects.filter(~Exists(there), queue=queue, pk__gt=after)
    items = list(without.order_by("pk")[:PORTION])
    return (items[-1].pk if items else after), _make_assignments(items, number, number)


# Following ---------------------------------------------------------------------------------------


def fill_followers() -> int:
    """Add newly completed runs to the open queues that follow their suites.

    A run is added once, also if it is re-judged. Runs older than the queue are added by hand only.

    Returns:
        The number of runs added.
    """
    queues = Queue.objects.filter(state=QueueState.OPEN, follows__isnull=False)
    complete = [(queue, run) for queue in queues.order_by("pk") for run in _complete_since(queue)]
    for queue, run in complete:
        add_runs(queue, run)
    return len(complete)


def _complete_since(queue: Queue) -> QuerySet[Run]:
    """Select the suite's runs that ended after the queue was created and are not in it."""
    judged = JudgeRun.objects.filter(
        run=OuterRef("pk"), is_active=True, finished_at__gte=queue.created_at
    )
    added = Queue.runs.through.objects.filter(queue=queue.pk, run=OuterRef("pk"))
    runs = Run.objects.complete().filter(
        Q(finished_at__gte=queue.created_at) | Exists(judged), ~Exists(added), suite=queue.follows
    )
    return runs.order_by("pk").select_related("suite")
