"""Deletion of a run with everything that belongs to it; its calls, which cost money, stay."""

from django.db import transaction

from evalhub.models import BatchState
from evalhub.refusals import NotPossible
from runs.models import (
    Answer,
    HumanEvaluation,
    JudgeRun,
    Judgment,
    Result,
    ResultScore,
    Run,
    RunTally,
    TallyRow,
)


@transaction.atomic
def delete_run(run: Run) -> dict[str, int]:
    """Delete a stopped run; return the number of rows deleted by kind.

    Raises:
        NotPossible: It or one of its judge runs is running.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.is_live or run.judge_runs.filter(state=BatchState.LIVE).exists():
        raise NotPossible(f"{run} is running: cancel it first.")
    TallyRow.objects.filter(run=run).delete()
    RunTally.objects.filter(run=run).delete()
    parts = (
        Judgment.objects.filter(judge_run__run=run),
        ResultScore.objects.filter(judge_run__run=run),
        HumanEvaluation.objects.filter(result__run=run),
        Answer.objects.filter(result__run=run),
        Result.objects.filter(run=run),
        JudgeRun.objects.filter(run=run),
        Run.objects.filter(pk=run.pk),
    )
    return {str(rows.model._meta.verbose_name_plural): rows.delete()[0] for rows in parts}


def contents_of(run: Run) -> dict[str, int]:
    """Count the rows that are deleted with a run."""
    return {
        "results with their answers": Result.objects.filter(run=run).count(),
        "judge runs": run.judge_runs.count(),
        "judgments": Judgment.objects.filter(judge_run__run=run).count(),
        "human evaluations": HumanEvaluation.objects.filter(result__run=run).count(),
    }
