"""The rows that verdicts on a result are made from, which know what was read before."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import OuterRef, Subquery, prefetch_related_objects

from issues.models import FrozenCriterion
from runs.models import HumanEvaluation, JudgeRun, Judgment, JudgmentState, Result

JUDGED_WITH = ("judge__language_model", "judge__template")
"""What a judge is named by."""

ORIGIN = {
    "taken_result": Subquery(Judgment.objects.filter(pk=OuterRef("taken_from")).values("result"))
}
"""The result of the judgment that was asked, where a verdict was taken from it and it is kept."""


def judgments_of(
    result: Result,
    judge_runs: Sequence[JudgeRun],
    criteria: Iterable[FrozenCriterion],
    related: Collection[str],
) -> Mapping[int, list[Judgment]]:
    """Return the judgments of a result by judge run."""
    found = Judgment.objects.filter(judge_run__in=judge_runs, result=result).annotate(**ORIGIN)
    rows = list(found.select_related(*related).order_by("is_backup", "judge_id", "sample"))
    _know_criteria(rows, criteria)
    rows.sort(key=lambda row: row.criterion.order)
    if "call" in related:
        repaired = [row for row in rows if row.state == JudgmentState.REPAIRED]
        prefetch_related_objects(repaired, "judge", "call__language_model")
    judgments: dict[int, list[Judgment]] = defaultdict(list)
    for row in rows:
        judgments[row.judge_run_id].append(row)
    return judgments


def evaluations_of(result: Result, criteria: Iterable[FrozenCriterion]) -> list[HumanEvaluation]:
    """Return all human evaluations of a result, oldest first."""
    rows = list(HumanEvaluation.objects.filter(result=result).order_by("pk"))
    _know_criteria(rows, criteria)
    prefetch_related_objects(rows, "annotator", "example")  # most results have none of them
    return rows


def _know_criteria(
    rows: Iterable[Judgment | HumanEvaluation], criteria: Iterable[FrozenCriterion]
) -> None:
    """Give rows their criteria, which have been read."""
    known = {criterion.pk: criterion for criterion in criteria}
    for row in rows:
        row.criterion = known[row.criterion_id]
