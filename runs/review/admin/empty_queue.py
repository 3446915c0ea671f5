"""Messages for a reviewer without items."""

from typing import NamedTuple

from runs.review.models import Queue, QueueState
from runs.review.progress import Own, Progress


class EmptyQueue(NamedTuple):
    """A message; `awaits`: new items may arrive, so keep checking."""

    title: str
    lines: list[str]
    awaits: bool


def empty_queue(queue: Queue, at: Progress, mine: Own) -> EmptyQueue:
    if queue.state == QueueState.CLOSED:
        return EmptyQueue("Queue closed", ["All reviews are kept."], awaits=False)
    if not at.items:
        return EmptyQueue("Queue empty", [_source(queue)], awaits=True)
    if at.submitted >= at.assignments:
        lines = ["All items are reviewed. Thank you.", *_of_yours(mine)]
        return EmptyQueue("Queue complete", lines, awaits=bool(queue.follows_id))
    return EmptyQueue("No items left for you", [*_of_others(queue, at), *_of_yours(mine)], True)


def _source(queue: Queue) -> str:
    if queue.follows_id:
        return f"Results are added automatically when a run of “{queue.follows}” completes."
    return "Ask a maintainer to add runs."


def _of_others(queue: Queue, at: Progress) -> list[str]:
    lines = []
    if at.reserved:
        verb = "is" if at.reserved == 1 else "are"
        lines.append(
            f"{at.reserved:,} {verb} reserved by others. Items idle for {queue.reserved_minutes} "
            "minutes are offered to you."
        )
    if at.open:
        lines.append(f"{at.open:,} need other reviewers: you have reviewed or skipped them.")
    return lines


def _of_yours(mine: Own) -> list[str]:
    lines = [f"You reviewed {mine.submitted:,}."] if mine.submitted else []
    if mine.skipped:
        lines.append(f"You skipped {mine.skipped:,}. Undo restores the last one.")
    return lines
