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
        source = "Ask a maintainer to add runs."
        if queue.follows_id:
            source = f"Results are added automatically when a run of “{queue.follows}” completes."
        return EmptyQueue("Queue empty", [source], awaits=True)
    yours = [f"You reviewed {mine.submitted:,}."] if mine.submitted else []
    if mine.skipped:
        yours.append(f"You skipped {mine.skipped:,}. Undo restores the last one.")
    if at.submitted >= at.assignments:
        lines = ["All items are reviewed. Thank you.", *yours]
        return EmptyQueue("Queue complete", lines, awaits=bool(queue.follows_id))
    lines = []
    if at.reserved:
        verb = "is" if at.reserved == 1 else "are"
        lines.append(
            f"{at.reserved:,} {verb} reserved by others. Items idle for {queue.reserved_minutes} "
            "minutes are offered to you."
        )
    if at.open:
        lines.append(f"{at.open:,} need other reviewers: you have reviewed or skipped them.")
    return EmptyQueue("No items left for you", [*lines, *yours], awaits=True)
