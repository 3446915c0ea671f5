"""The last change of each line: tested where two comparable runs of the same tests made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalhub.statistics.holm import holm
from reports.compare.matching_rule import Tested
from reports.compare.pair_changes_query import Change, counts_by_issue, pair_changes
from reports.documents.reading import Reading
from reports.trend.query import Line, TrendQuery, TrendReport
from runs.models import TagSet


@dataclass(frozen=True)
class LastChange:
    """The change from the last but one run of a line to its last; p after Holm over all lines."""

    line: Line
    change: Change
    holm: float | None
    rule: str


def last_changes(
    report: TrendReport, query: TrendQuery, reading: Reading
) -> Mapping[str, LastChange]:
    """Return the tested changes by name of the line; none while they are computed.

    A point that pools several runs, and a choice of sealed or exposed tests, are not tested.
    """
    lines = [line for line in report.lines if report.is_last_comparable(line)]
    lines = [line for line in lines if all(len(p.series_point.runs) == 1 for p in line.points[-2:])]
    if not lines or query.tests:
        return {}
    pairs = [(line.points[-2].run.pk, line.points[-1].run.pk) for line in lines]
    single = [all(point.run.repeats == 1 for point in line.points[-2:]) for line in lines]
    subject = [query.tag and query.tag.pk, query.issue and query.issue.pk]
    counts = counts_by_issue({run for pair in pairs for run in pair})
    found = reading.computed(
        "trend-last-changes",
        [pairs, single, subject, [sorted(counts[run]) for run in sorted(counts)]],
        lambda: _changes(pairs, single, query),
    )
    if found is None:
        return {}
    changes = [found[pair] for pair in pairs]
    corrected = holm([change.p for change, _ in changes])
    return {
        line.name: LastChange(line, change, p, rule)
        for line, (change, rule), p in zip(lines, changes, corrected, strict=True)
    }


def _changes(
    pairs: Sequence[tuple[int, int]], single: Sequence[bool], query: TrendQuery
) -> dict[tuple[int, int], tuple[Change, str]]:
    tag_sets = None
    if query.tag:
        rows = TagSet.objects.order_by().values_list("pk", "names")
        tag_sets = {pk for pk, names in rows if query.tag.name in names}

    def keeps(tested: Tested) -> bool:
        is_of_issue = query.issue is None or tested.issue_id == query.issue.pk
        return is_of_issue and (tag_sets is None or tested.tag_set_id in tag_sets)

    found = pair_changes(pairs, single, keeps=keeps)
    return {pair: (change.whole, change.rule) for pair, change in found.items()}
