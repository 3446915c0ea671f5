"""The last change of each line: tested where two comparable runs of the same tests made it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalhub.statistics.changes.conclusion import Conclusion
from evalhub.statistics.changes.net_change import LEVEL
from reports.compare.attempts_query import Runs
from reports.compare.pair_changes_query import Change, PairChange, pair_changes
from reports.documents.reading import Reading
from reports.queries.names import all_tag_names
from reports.trend.filters import TrendQuery
from reports.trend.query import Line, TrendReport
from reports.trend.series_rule import RunKey
from runs.comparison.tested_rule import Tested


@dataclass(frozen=True)
class LastChange:
    """The change from the last but one run of a line to its last, and what it shows."""

    line: Line
    change: Change
    conclusion: Conclusion


@dataclass(frozen=True)
class TagChange:
    """The same on the tests of a tag, with p adjusted among the tags of its line."""

    tag: str
    line: Line
    change: Change

    @property
    def is_sure(self) -> bool:
        return self.change.p is not None and self.change.p <= LEVEL


@dataclass(frozen=True)
class LastChanges:
    """The tested changes: by name of the line, and by tag, the largest fall first.

    Tags without a changed test are left out: which those are depends on no direction.
    """

    lines: Mapping[str, LastChange]
    tags: tuple[TagChange, ...]


def last_changes(report: TrendReport, query: TrendQuery, reading: Reading) -> LastChanges:
    """Return the tested changes; none while they are computed.

    A point of several variants, and a choice of sealed or exposed tests, are not tested.
    """
    lines = [line for line in report.lines if report.is_last_comparable(line)]
    lines = [line for line in lines if len({run.variant for run in _last_runs(line)}) == 1]
    if not lines or query.tests:
        return LastChanges({}, ())
    pairs = [report.last_sides(line) for line in lines]
    subject = [query.tag and query.tag.name, query.issue and query.issue.pk]
    changes = reading.computed(
        "trend-last-changes-5",
        [pairs, subject],
        list[PairChange],
        lambda: _changes(pairs, query),
        of={run for pair in pairs for runs in pair for run in runs},
    )
    if changes is None:
        return LastChanges({}, ())
    return LastChanges(
        {
            line.name: LastChange(line, change.whole, change.conclusion)
            for line, change in zip(lines, changes, strict=True)
        },
        changes_by_tag(lines, changes),
    )


def _last_runs(line: Line) -> list[RunKey]:
    return [run for point in line.compared for run in point.series_point.runs]


def changes_by_tag(lines: Sequence[Line], changes: Sequence[PairChange]) -> tuple[TagChange, ...]:
    """Return the changes of all tags with a changed test; the largest fall first."""
    moves = (
        TagChange(tag, line, change)
        for line, of in zip(lines, changes, strict=True)
        for tag, change in of.tags.items()
        if change.tally.worse or change.tally.better
    )
    return tuple(sorted(moves, key=lambda one: (one.change.net or 0, one.tag, one.line.name)))


def _changes(pairs: Sequence[tuple[Runs, Runs]], query: TrendQuery) -> list[PairChange]:
    names = all_tag_names()

    def keeps(tested: Tested) -> bool:
        is_of_issue = query.issue is None or tested.issue_id == query.issue.pk
        return is_of_issue and (query.tag is None or query.tag.name in names[tested.tag_set_id])

    tags = None if query.has_subject else names
    return pair_changes(pairs, keeps=keeps, tags=tags)
