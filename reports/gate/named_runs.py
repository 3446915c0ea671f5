"""Runs as commands and the API name them: by id or label."""

from runs.comparison.baselines import opponent_of
from runs.models import Run


class NoSuchRun(ValueError):
    """No run, or several, are called so; the message says what to give instead."""


def run_named(named: str) -> Run:
    """Return the run with this id or label.

    Raises:
        NoSuchRun: There is none, or there are several.
    """
    runs = Run.objects.select_related("suite")
    if named.isascii() and named.isdigit() and len(named) < 18:
        by_number = runs.filter(pk=int(named)).first()
        if by_number is not None:
            return by_number
    labelled = list(runs.filter(label=named)[:10])
    if not labelled:
        raise NoSuchRun(f"There is no run {named!r}: give the id or label of a run.")
    if len(labelled) > 1:
        numbers = ", ".join(str(run.pk) for run in labelled)
        raise NoSuchRun(f"Several runs are called {named!r}: give one of the ids {numbers}.")
    return labelled[0]


def other_run(named: str, run: Run) -> Run | None:
    """Return the run to compare with: the one named, else the run's opponent, if it has one.

    Raises:
        NoSuchRun: None or several are called so.
    """
    return run_named(named) if named else opponent_of(run)
