"""Splits of judges on the results of a list: "2:1" for two that pass and one that fails."""

from collections import defaultdict
from collections.abc import Sequence

from issues.models import Polarity
from issues.rubrics.scoring import inverted
from runs.models import Judgment, Result


def judge_splits_of(results: Sequence[Result]) -> dict[int, str]:
    """Return the splits of the active judge run by result; missing judgments are counted apart.

    Values of a "should not" are inverted. The results were read with their revisions. One query.
    """
    values: dict[int, list[float | None]] = defaultdict(list)
    ids = [row.pk for row in results]  # a list's rows as a subquery would be looked for again
    rows = Judgment.objects.filter(result__in=ids, judge_run__is_active=True).order_by()
    for result, polarity, value in rows.values_list("result_id", "criterion__polarity", "value"):
        values[result].append(inverted(value) if polarity == Polarity.SHOULD_NOT else value)
    splits = {}
    for row in results:
        if row.pk in values:
            sides = [row.revision.passes(value) for value in values[row.pk]]
            missing = f", {sides.count(None)} no verdict" if None in sides else ""
            splits[row.pk] = f"{sides.count(True)}:{sides.count(False)}{missing}"
    return splits
