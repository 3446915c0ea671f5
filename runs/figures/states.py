"""What a run and its judgings are together."""

from collections.abc import Iterable, Sequence

from evalhub.models import BatchState
from runs.models import JudgeRun, Run


def current_of(judge_runs: Iterable[JudgeRun]) -> JudgeRun | None:
    """The judging that decides the scores; None where none does."""
    return next((judging for judging in judge_runs if judging.is_active), None)


def state_of(run: Run, judge_runs: Sequence[JudgeRun]) -> BatchState:
    """The state of a run as a whole: once it is answered, it is as its judgings are.

    Working outranks standing still, and that outranks done; judgings that were cancelled or
    failed and are not current say nothing of the run.
    """
    if run.state != BatchState.DONE:
        return BatchState(run.state)
    if any(judging.is_live for judging in judge_runs):
        return BatchState.LIVE
    current = current_of(judge_runs)
    return BatchState(current.state) if current else BatchState.DONE


def state_label(run: Run, judge_runs: Sequence[JudgeRun]) -> str:
    """The same in words; a run that is answered and at work is being judged."""
    state = state_of(run, judge_runs)
    is_being_judged = state == BatchState.LIVE and run.state == BatchState.DONE
    return "judging" if is_being_judged else state.label.lower()
