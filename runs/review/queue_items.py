"""Fill queues with results that need review, and a random sample for honest calibration.

Only results with an answer are added. Adding is idempotent: a result is in a queue once, with the
reasons it had when it was added.
"""

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from evalhub.models import BatchState, ItemState
from evalhub.work import clock
from runs.baselines import opponent_of
from runs.figures.states import state_of
from runs.models import JudgeRun, Run
from runs.review.facts import facts_of
from runs.review.models import Assignment, Queue, QueueState, ReviewItem
from runs.review.reasons import Reason, as_json, reasons_of, severity
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

PORTION = 1000


class Added(NamedTuple):
    """The numbers of items added, of random ones among them, and of items already in the queue."""

    added: int
    random: int
    already: int


class Entry(NamedTuple):
    """A result to add."""

    result: int
    reasons: Sequence[Reason]
    is_random: bool
    position: int


# A run -------------------------------------------------------------------------------------------


def add_run(queue: Queue, run: Run) -> Added:
    """Add the run's answers with a reason for review, and the queue's share of random ones.

    Raises:
        ValidationError: The queue is closed.
    """
    if queue.state != QueueState.OPEN:
        raise ValidationError(f"{queue} is closed: reopen it to add results.")
    sifted = Sifted.of(queue, run)
    total = Added(0, 0, 0)
    for portion in sifted.portions():
        total = _sum(total, _add(queue, portion))
    queue.runs.add(run)
    return total


def plan(queue: Queue, run: Run) -> tuple[Added, Counter[str]]:
    """Return what `add_run` would add now, and how many of it have each reason, by key."""
    sifted = Sifted.of(queue, run)
    total, reasons = Added(0, 0, 0), Counter[str]()
    for portion in sifted.portions():
        known = _known(queue, portion)
        new = [entry for entry in portion if entry.result not in known]
        total = _sum(total, _counted(new, portion))
        reasons.update(reason.key for entry in new for reason in entry.reasons)
    return total, reasons


Grounds = tuple[tuple[Reason, ...], Rank]
"""Reasons with their rank; many results share one of these."""


class Sifted(NamedTuple):
    """A run's answers sorted for a queue: those with reasons, and those drawn at random."""

    queue: Queue
    result_ids: Sequence[int]
    grounds: dict[int, Grounds]
    draw: Draw
    spread: Spread
    arrival_s: int

    @classmethod
    def of(cls, queue: Queue, run: Run) -> "Sifted":
        answered = run.results.filter(state=ItemState.DONE).order_by("pk")
        ids = array("q", answered.values_list("pk", flat=True))
        grounds = _grounds(run, ids)
        count = how_many(queue.random_share, len(ids), len(grounds))
        draw = Draw.of((lot(queue.seed, pk) for pk in ids), count)
        spread = Spread(Counter(rank for _, rank in grounds.values()), count)
        return cls(queue, ids, grounds, draw, spread, _queue_age_s(queue))

    def portions(self) -> Iterator[list[Entry]]:
        for portion in _portions(self.result_ids):
            yield [entry for pk in portion if (entry := self._entry(pk))]

    def _entry(self, pk: int) -> Entry | None:
        reasons, rank = self.grounds.get(pk, NO_GROUNDS)
        assignment = self.draw.position_of(lot(self.queue.seed, pk))
        if assignment is not None:
            rank, fine = self.spread.at(assignment)
        elif reasons:
            fine = lot(self.queue.seed, pk, "order") / 2**64
        else:
            return None
        return Entry(pk, reasons, assignment is not None, position(rank, self.arrival_s, fine))


NO_GROUNDS: Grounds = ((), BY_CHANCE)


def _grounds(run: Run, ids: Sequence[int]) -> dict[int, Grounds]:
    """Return the reasons of each result with any, reading in portions."""
    opponent = opponent_of(run)
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


def _portions(ids: Sequence[int]) -> Iterator[list[int]]:
    for start in range(0, len(ids), PORTION):
        yield list(ids[start : start + PORTION])


# Rows --------------------------------------------------------------------------------------------


@transaction.atomic
def _add(queue: Queue, entries: Sequence[Entry]) -> Added:
    """Add items and assignments of one portion, with the queue's row locked."""
    locked = Queue.objects.select_for_update(no_key=True, of=("self",)).get(pk=queue.pk)
    known = _known(queue, entries)
    new = [entry for entry in entries if entry.result not in known]
    items = ReviewItem.objects.bulk_create(
        ReviewItem(
            queue=locked,
            result_id=entry.result,
            reasons=as_json(entry.reasons),
            is_random=entry.is_random,
            position=entry.position,
        )
        for entry in new
    )
    _make_assignments(items, 1, locked.reviewers)
    return _counted(new, entries)


def _known(queue: Queue, entries: Collection[Entry]) -> set[int]:
    rows = ReviewItem.objects.filter(queue=queue, result__in=[entry.result for entry in entries])
    return set(rows.values_list("result", flat=True))


def _counted(new: Sequence[Entry], entries: Sequence[Entry]) -> Added:
    random = sum(entry.is_random for entry in new)
    return Added(len(new), random, len(entries) - len(new))


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
    added = [add_run(queue, run) for queue in queues.order_by("pk") for run in _done_since(queue)]
    return len(added)


def _done_since(queue: Queue) -> list[Run]:
    """Return the suite's runs that ended after the queue was created and are not in it."""
    judged = JudgeRun.objects.filter(
        run=OuterRef("pk"), is_active=True, finished_at__gte=queue.created_at
    )
    added = Queue.runs.through.objects.filter(queue=queue.pk, run=OuterRef("pk"))
    runs = Run.objects.filter(suite=queue.follows, state=BatchState.DONE).filter(
        Q(finished_at__gte=queue.created_at) | Exists(judged), ~Exists(added)
    )
    found = runs.order_by("pk").select_related("suite").prefetch_related("judge_runs")
    return [run for run in found if state_of(run, list(run.judge_runs.all())) == BatchState.DONE]
