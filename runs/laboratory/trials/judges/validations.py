"""Marks that a judge is fit for a kind of task, as a person found in a trial."""

from collections import defaultdict
from collections.abc import Iterable

from django.utils import timezone

from evalhub.models import User
from evalhub.refusals import Refused
from runs.laboratory.trials.judges.trial_judges import TrialJudge, method_of_judge
from runs.laboratory.trials.models import Task, Trial, Validation
from runs.models import Judge


def validate(trial: Trial, task: str, *, by: User, note: str = "") -> Validation:
    """Mark the judge of a trial as validated for a task; a second mark changes nothing.

    Raises:
        Refused: The judge has changed since the trial.
    """
    if not is_current(trial):
        raise Refused([f"{trial.judge_name} has changed since {trial}: try it again first."])
    found, _ = Validation.objects.get_or_create(
        trial=trial,
        task=Task(task),
        method=trial.method,
        withdrawn_at=None,
        defaults={
            "language_model": trial.language_model,
            "template": trial.template,
            "note": note,
            "by": by,
        },
    )
    return found


def withdraw(validation: Validation) -> None:
    """Withdraw a mark; it stays on record."""
    rows = Validation.objects.filter(pk=validation.pk, withdrawn_at=None)
    rows.update(withdrawn_at=timezone.now())


def is_current(trial: Trial) -> bool:
    """Return whether the judge is still as it was tried: its method is the same."""
    if trial.language_model is None:
        return True
    return TrialJudge(trial.language_model, trial.template).method == trial.method


def validations_of(judges: Iterable[Judge]) -> dict[int, list[Validation]]:
    """Return the standing marks of each judge, by its ID, newest first; one query.

    A mark is of a method: it lapses when the judge's model, address, parameters or prompt change.
    """
    methods = {judge.pk: method_of_judge(judge) for judge in judges}
    rows = Validation.objects.filter(
        method__in=set(methods.values()) - {""}, withdrawn_at=None
    ).select_related("trial__benchmark")
    by_method: dict[str, list[Validation]] = defaultdict(list)
    for row in rows:
        by_method[row.method].append(row)
    return {pk: by_method[method] for pk, method in methods.items()}


def in_words(validation: Validation) -> str:
    """Return a mark in words, such as "similarity of two texts, 2026-03-01, on Benchmark 2"."""
    scripted = ", a scripted endpoint, not a model" if validation.trial.is_scripted else ""
    day = f"{validation.created_at:%Y-%m-%d}"
    return f"{validation.get_task_display()}, {day}, on {validation.trial.benchmark}{scripted}"
