"""Agreement and coverage of judges, and the sums that they are computed from."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Count, QuerySet, Sum

from evalhub.statistics.agreement import krippendorff
from evalhub.statistics.agreement.alpha_bands import Band, band, is_enough
from evalhub.statistics.agreement.alpha_interval import alpha_interval
from evalhub.statistics.agreement.krippendorff import Coincidences
from evalhub.statistics.agreement.pair_coverage import Comparisons, comparisons
from evalhub.statistics.interval import Interval
from evalhub.values.digest import digest
from issues.models import JudgeTemplate
from runs.models import Judgment, JudgmentState
from runs.scoring.coverage_rule import JudgeValue

Scales = Mapping[int | None, str]
"""Names of scales by judge template id; equal scales have equal names."""


JUDGE_VALUE_FIELDS = (
    *("criterion_id", "judge_id", "is_backup", "value", "template_id", "failure", "taken_from"),
)
"""Fields of a judgment that a `JudgeValue` has."""


def judge_value_of(judgment: Judgment) -> JudgeValue:
    return JudgeValue(*(getattr(judgment, name) for name in JUDGE_VALUE_FIELDS))


class Units(NamedTuple):
    """Comparable values on one scale: per criterion one value per judge, two or more.

    `raters` are the ids of the judges with any of these values.
    """

    scale: str
    values: list[list[float]]
    raters: set[int]


NO_UNITS = Units("", [], set())


def scales_of(template_ids: Iterable[int | None], known: JudgeTemplate | None = None) -> Scales:
    """Name the scales of these templates; judgments without a template share one of their own.

    Args:
        known: A template that has been read.
    """
    wanted = {pk for pk in template_ids if pk}
    found = {known.pk: known.scale} if known else {}
    if unread := wanted - found.keys():
        found |= JudgeTemplate.objects.filter(pk__in=unread).values_list("pk", "scale")
    return {None: "", **{pk: digest(found[pk])[:12] for pk in wanted & found.keys()}}


SEED = 1
"""Of resampling, so that equal judgments have equal intervals."""


class Agreement(NamedTuple):
    """The agreement of judges over `units` criteria with values of two or more judges.

    `alpha` is Krippendorff's, ordinal; None for the reason that `band` gives. `interval` is a
    bootstrap over results (over criteria where it is of one result); None: unknown.
    """

    alpha: float | None
    band: Band
    units: int
    interval: Interval | None


def agreement_on(votes: Iterable[JudgeValue], scales: Scales) -> Agreement:
    """Compute the agreement on one result, without checks, on the scale with the most units."""
    found = max(units_of(votes, scales), key=lambda units: len(units.values), default=NO_UNITS)
    clusters = [krippendorff.coincidences([values]) for values in found.values]
    interval = (
        alpha_interval(clusters, seed=SEED)
        if is_enough(raters=len(found.raters), units=len(clusters))
        else None
    )
    matrix = krippendorff.summed(clusters)
    return _agreement(matrix, interval, raters=len(found.raters), units=len(found.values))


def agreement_in(statistics: Mapping[str, Any]) -> Agreement:
    """Compute the agreement of a judge run from its sums, on the scale with the most units.

    Values on different scales cannot be compared.
    """
    nothing: dict[str, Any] = {"coincidences": [], "units": 0, "raters": []}
    scales = statistics.get("scales", {}).values()
    compared = max(scales, key=lambda found: found["units"], default=nothing)
    matrix = krippendorff.from_json(compared["coincidences"])
    bounds = compared.get("interval")
    interval = Interval(*bounds) if bounds else None
    return _agreement(matrix, interval, raters=len(compared["raters"]), units=compared["units"])


def _agreement(
    matrix: Coincidences, interval: Interval | None, *, raters: int, units: int
) -> Agreement:
    alpha = krippendorff.alpha_from_coincidences(matrix)
    found = band(alpha, interval, raters=raters, units=units)
    if not is_enough(raters=raters, units=units):
        return Agreement(None, found, units, None)
    return Agreement(alpha, found, units, interval)


def units_of(votes: Iterable[JudgeValue], scales: Scales) -> list[Units]:
    """Group comparable values by scale, without those that were asked in another run.

    A judge's value is that of most of its samples; a tie is no value.
    """
    samples: dict[str, dict[int, dict[int, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for vote in votes:
        if vote.judge is not None and vote.value is not None and vote.taken_from is None:
            scale = scales[vote.template]
            samples[scale][vote.criterion][vote.judge].append(vote.value)
    found = []
    for scale, criteria in samples.items():
        units = Units(scale, [], set())
        for judges in criteria.values():
            majorities = {judge: majority(values) for judge, values in judges.items()}
            given = {judge: value for judge, value in majorities.items() if value is not None}
            if len(given) > 1:
                units.values.append(list(given.values()))
                units.raters.update(given)
        if units.values:
            found.append(units)
    return found


def majority(values: Iterable[float]) -> float | None:
    """Return the most frequent value; None for a tie or no values."""
    (value, most), (_, second) = [*Counter(values).most_common(2), (None, 0), (None, 0)][:2]
    return value if most > second else None


def statistics_of(judge_run_id: int) -> dict[str, Any]:
    """Compute `JudgeRun.statistics`: sums over its judgments, which add up over judge runs.

    Returns:
        "judges": by judge id, the numbers of judgments that are ok, repaired and failed;
        "failures": numbers of failed judgments by kind; "comparisons": the number of judge pairs
        on one criterion that both gave a value, and the number expected; "scales": by name,
        "coincidences" as `krippendorff.as_json` writes them, "interval" of alpha over results as
        [low, high] or None, which does not add up, "units", the number of criteria of
        results with two values or more, and "raters", the ids of their judges. Checks and
        annotators are left out, and judgments that were asked in another run, which "taken" counts
        as "judgments", with the cost of all calls that they saved as "saved_usd" (None: unknown).
    """
    every = Judgment.objects.filter(judge_run=judge_run_id, judge__isnull=False).order_by()
    taken = every.exclude(taken_from=None).aggregate(n=Count("pk"), usd=Sum("asked_usd"))
    scales, compared = _compared(every.filter(taken_from=None))
    return {
        **counts_of(judge_run_id),
        "comparisons": compared,
        "scales": scales,
        **({"taken": _taken(**taken)} if taken["n"] else {}),
    }


def counts_of(judge_run_id: int) -> dict[str, dict[str, Any]]:
    """Count the judgments so far: "judges" and "failures" of `JudgeRun.statistics`."""
    judges: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(JudgmentState.values, 0))
    failures: dict[str, int] = defaultdict(int)
    rows = Judgment.objects.filter(judge_run=judge_run_id, judge__isnull=False, taken_from=None)
    counted = rows.order_by().values_list("judge_id", "state", "failure").annotate(Count("pk"))
    for judge, state, failure, n in counted:
        judges[str(judge)][state] += n
        if failure:
            failures[failure] += n
    return {"judges": dict(judges), "failures": dict(failures)}


def _taken(n: int, usd: Decimal | None) -> dict[str, Any]:
    return {"judgments": n, "saved_usd": None if usd is None else str(usd)}


def comparisons_of(votes: Iterable[JudgeValue]) -> Comparisons:
    """Count the judge pairs that can be compared on one result's criteria, and those expected.

    A judge counts as asked if it gave a value or failed; a backup judge only makes up for others.
    What was asked in another run counts there.
    """
    answered: dict[int, set[int]] = defaultdict(set)
    asked: dict[int, set[int]] = defaultdict(set)
    for vote in votes:
        if vote.judge is None or vote.taken_from is not None:
            continue
        if vote.value is not None:
            answered[vote.criterion].add(vote.judge)
        if not vote.is_backup:
            asked[vote.criterion].add(vote.judge)
    return comparisons((len(answered[pk]), len(judges)) for pk, judges in asked.items())


def _compared(judgments: QuerySet[Judgment]) -> tuple[dict[str, dict[str, Any]], list[int]]:
    """Return the sums by scale, and the numbers of comparisons made and expected."""
    scales = scales_of(judgments.values_list("template_id", flat=True).distinct())
    sums: dict[str, dict[str, Any]] = {}
    made = expected = 0
    for votes in _by_result(judgments):
        compared = comparisons_of(votes)
        made, expected = made + compared.made, expected + compared.expected
        for units in units_of(votes, scales):
            found = sums.setdefault(units.scale, {"coincidences": [], "units": 0, "raters": set()})
            found["coincidences"].append(krippendorff.coincidences(units.values))
            found["units"] += len(units.values)
            found["raters"] |= units.raters
    for found in sums.values():
        interval = alpha_interval(found["coincidences"], seed=SEED)
        found["interval"] = None if interval is None else list(interval)
        found["coincidences"] = krippendorff.as_json(krippendorff.summed(found["coincidences"]))
        found["raters"] = sorted(found["raters"])
    return sums, [made, expected]


def _by_result(judgments: QuerySet[Judgment]) -> Iterator[list[JudgeValue]]:
    """Yield the values on each result in turn, so that not all are in memory at once."""
    rows = judgments.order_by("result_id").values_list("result_id", *JUDGE_VALUE_FIELDS)
    for _, group in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        yield [JudgeValue(*row[1:]) for row in group]
