"""The state of a run together with its judge runs."""

from collections.abc import Iterable, Sequence

from evalhub.models import BatchState
from runs.models import JudgeRun, Run


def current_of(judge_runs: Iterable[JudgeRun]) -> JudgeRun | None:
    """Return the active judge run; None if there is none."""
    return next((judge_run for judge_run in judge_runs if judge_run.is_active), None)


def state_of(run: Run, judge_runs: Sequence[JudgeRun]) -> BatchState:
    """Return the state of a run as a whole: once it is answered, that of its judge runs.

    Live outranks paused, which outranks done. Inactive judge runs that were cancelled or failed
    are ignored.
    """
    if run.state != BatchState.DONE:
        return BatchState(run.state)
    if any(judge_run.is_live for judge_run in judge_runs):
        return BatchState.LIVE
    current = current_of(judge_runs)
    return BatchState(current.state) if current else BatchState.DONE


def state_label(run: Run, judge_runs: Sequence[JudgeRun]) -> str:
    """Label the state; a live run with all answers is "judging"."""
    state = state_of(run, judge_runs)
    is_being_judged = state == BatchState.LIVE and run.state == BatchState.DONE
    return "judging" if is_being_judged else state.label.lower()
