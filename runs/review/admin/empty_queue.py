"""Why nothing is left for a reviewer, and what to do next."""

from typing import NamedTuple

from runs.review.models import Queue, QueueState
from runs.review.progress import Own, Progress


class EmptyQueue(NamedTuple):
    """`awaits`: items may come by themselves, so that it is worth looking again."""

    title: str
    lines: list[str]
    awaits: bool


def empty_queue(queue: Queue, at: Progress, mine: Own) -> EmptyQueue:
    if queue.state == QueueState.CLOSED:
        return EmptyQueue("This queue is closed", ["What was reviewed is kept."], awaits=False)
    if not at.items:
        return EmptyQueue("This queue is empty", [_where_from(queue)], awaits=True)
    if at.submitted >= at.assignments:
        lines = ["Nothing is left to do here. Thank you.", *_of_yours(mine)]
        return EmptyQueue("Everything is reviewed", lines, awaits=bool(queue.follows_id))
    return EmptyQueue(
        "Nothing is left for you now", [*_of_others(queue, at), *_of_yours(mine)], True
    )


def _where_from(queue: Queue) -> str:
    if queue.follows_id:
        return f"Results come by themselves when a run of “{queue.follows}” is done."
    return "A maintainer adds runs to it."


def _of_others(queue: Queue, at: Progress) -> list[str]:
    lines = []
    if at.reserved:
        verb = "is" if at.reserved == 1 else "are"
        lines.append(
            f"{at.reserved:,} {verb} reserved by others. What lies untouched for "
            f"{queue.reserved_minutes} minutes is offered to you."
        )
    if at.open:
        lines.append(
            f"{at.open:,} wait for other people: you reviewed or skipped those items yourself."
        )
    return lines


def _of_yours(mine: Own) -> list[str]:
    lines = [f"You reviewed {mine.submitted:,}."] if mine.submitted else []
    if mine.skipped:
        lines.append(f"You skipped {mine.skipped:,}; undo takes back the last.")
    return lines
