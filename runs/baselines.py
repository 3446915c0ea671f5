"""The run that later runs of a suite are compared with, on pages and at the gate."""

from evalhub.models import BatchState
from runs.figures.states import state_of
from runs.models import Run, Suite


class NoBaseline(Exception):
    """Why a run cannot be the baseline of its suite, in words."""


def pin(run: Run) -> Suite:
    """Make the run the baseline of its suite; gives the suite.

    Raises:
        NoBaseline: The run is of no suite, or is not done.
    """
    suite = _suite(run)
    check(suite, run)
    suite.baseline = run
    suite.save(update_fields=["baseline"])
    return suite


def unpin(run: Run) -> Suite:
    """Let the suite of the run have no baseline, if it is this run; gives the suite.

    Raises:
        NoBaseline: The run is of no suite, or another run is its baseline.
    """
    suite = _suite(run)
    if suite.baseline_id != run.pk:
        raise NoBaseline(f"{run.label} is not the baseline of {suite}: nothing was changed.")
    suite.baseline = None
    suite.save(update_fields=["baseline"])
    return suite


def check(suite: Suite, run: Run) -> None:
    """Whether the run may be the suite's baseline.

    Raises:
        NoBaseline: It is of another suite, or is not done.
    """
    if run.suite_id != suite.pk:
        raise NoBaseline(f"{run.label} is not a run of {suite}: choose one that is.")
    state = state_of(run, list(run.judge_runs.all()))
    if state != BatchState.DONE:
        raise NoBaseline(f"{run.label} is {state.label.lower()}: a baseline has to be done.")


def _suite(run: Run) -> Suite:
    if run.suite is None:
        raise NoBaseline(f"{run.label} is of no suite, and only a suite has a baseline.")
    return run.suite
