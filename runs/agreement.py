"""The sums over a judging's judgments that agreement and coverage are made of."""

from collections import defaultdict
from typing import Any

from django.db.models import Count, QuerySet

from evalhub.statistics import krippendorff
from runs.models import Judgment, JudgmentState


def statistics_of(judging_id: int) -> dict[str, Any]:
    """What `Judging.statistics` holds: sums over the judgments, which add up over judgings.

    Returns:
        "judges": by judge id, how many judgments are ok, repaired and failed; "failures": how many
        failed by kind; "coincidences": rows as `krippendorff.as_json` writes them; "units": how
        many criteria of results have at least two values. Checks and people are not among them.
    """
    judgments = Judgment.objects.filter(judging=judging_id, judge__isnull=False).order_by()
    units = _units(judgments)
    return {
        "judges": _by_judge(judgments),
        "failures": dict(
            judgments.filter(state=JudgmentState.FAILED)
            .values_list("failure")
            .annotate(Count("pk"))
        ),
        "coincidences": krippendorff.as_json(krippendorff.coincidences(units)),
        "units": sum(len(unit) > 1 for unit in units),
    }


def _units(judgments: QuerySet[Judgment]) -> list[list[float]]:
    """The values given to each criterion of each result."""
    units: dict[tuple[int, int], list[float]] = defaultdict(list)
    rows = judgments.values_list("result_id", "criterion_id", "value")
    for result, criterion, value in rows:
        if value is not None:
            units[result, criterion].append(value)
    return list(units.values())


def _by_judge(judgments: QuerySet[Judgment]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(JudgmentState.values, 0))
    counted = judgments.values_list("judge_id", "state").annotate(Count("pk"))
    for judge, state, count in counted:
        found[str(judge)][state] = count
    return dict(found)
