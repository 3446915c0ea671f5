"""What a run and its judgings are together."""

from collections.abc import Iterable, Sequence

from evalhub.models import BatchState
from runs.models import Judging, Run


def current_of(judgings: Iterable[Judging]) -> Judging | None:
    """The judging that decides the scores; None where none does."""
    return next((judging for judging in judgings if judging.is_current), None)


def state_of(run: Run, judgings: Sequence[Judging]) -> BatchState:
    """The state of a run as a whole: once it is answered, it is as its judgings are.

    Working outranks standing still, and that outranks done; judgings that were cancelled or
    failed and are not current say nothing of the run.
    """
    if run.state != BatchState.DONE:
        return BatchState(run.state)
    if any(judging.is_live for judging in judgings):
        return BatchState.LIVE
    current = current_of(judgings)
    return BatchState(current.state) if current else BatchState.DONE


def state_words(run: Run, judgings: Sequence[Judging]) -> str:
    """The same in words; a run that is answered and at work is being judged."""
    state = state_of(run, judgings)
    is_being_judged = state == BatchState.LIVE and run.state == BatchState.DONE
    return "judging" if is_being_judged else state.label.lower()
