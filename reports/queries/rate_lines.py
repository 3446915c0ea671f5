"""Score and pass rate of a run: overall, and by issue, tag and domain."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from evalhub.statistics.interval import Interval
from issues.domains import Domains, current_domains
from issues.models import Issue
from reports.documents.reading import Reading
from runs.figures.tallies import (
    Cell,
    Counts,
    Rate,
    Score,
    at_once,
    counts_of,
    left_out,
    rate_of,
    score_of,
)
from runs.models import TagSet

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Line:
    """The results of a run in one issue, tag or domain.

    `issue_id` is None for tags and domains; `depth` is the number of domains above a domain.
    """

    name: str
    issue_id: int | None
    counts: Counts
    rate: Rate
    depth: int = 0

    @property
    def failure_share(self) -> float | None:
        """Share of failures among scored results; None without scored results."""
        return None if self.rate.share is None else 1 - self.rate.share


@dataclass(frozen=True)
class Lines:
    """The results of a run, overall and by group.

    Attributes:
        issues: Worst first.
        tags: By name; a result counts once for each of its tags.
        domains: In tree order, worst first on each level; a result counts once for each of its
            domains and for all domains above.
        outside: Results in no domain.
    """

    score: Score
    rate: Rate
    issues: tuple[Line, ...]
    tags: tuple[Line, ...]
    domains: tuple[Line, ...]
    outside: Counts


Intervals = Mapping[str, Interval | None]
"""Resampled intervals by group: "score", "rate", "tag law", "domain law"."""


@dataclass(frozen=True)
class Parts:
    """The cells of a run with the names for grouping them by issue, tag and domain.

    `tags` has the names and `within` the domains of each set of tags, by its id.
    """

    cells: Sequence[Cell]
    repeats: int
    titles: Mapping[int, str]
    tags: Mapping[int, Sequence[str]]
    domains: Domains
    within: Mapping[int, frozenset[str]]

    @classmethod
    def read(cls, cells: Sequence[Cell], repeats: int) -> Self:
        """Read the issues' titles, the tags at launch and the present domains; three queries."""
        issues = Issue.objects.filter(pk__in={cell.issue_id for cell in cells})
        sets = TagSet.objects.filter(pk__in={cell.tag_set_id for cell in cells})
        tags = dict(sets.order_by().values_list("pk", "names"))
        domains = current_domains()
        return cls(
            cells,
            repeats,
            titles=dict(issues.order_by().values_list("pk", "title")),
            tags=tags,
            domains=domains,
            within={pk: domains.of(names) for pk, names in tags.items()},
        )

    def by_issue(self) -> dict[int, list[Cell]]:
        return self._grouped(lambda cell: [cell.issue_id])

    def by_tag(self) -> dict[str, list[Cell]]:
        return self._grouped(lambda cell: self.tags[cell.tag_set_id])

    def by_domain(self) -> dict[str, list[Cell]]:
        return self._grouped(lambda cell: self.within[cell.tag_set_id])

    def rate(self, name: str, cells: Sequence[Cell], known: Intervals) -> Rate:
        """Return the rate of these cells; with repeats, its interval is the known one."""
        rate = rate_of(cells, repeats=self.repeats, computed=left_out)
        return replace(rate, interval=known.get(name)) if rate.is_resampled else rate

    def inputs(self) -> list[Any]:
        """Return everything that the intervals depend on, as JSON."""
        rows = [
            (
                *(cell.issue_id, self.tags[cell.tag_set_id], cell.outcome, cell.n),
                *(cell.with_score, cell.weight, cell.weighted_score),
            )
            for cell in self.cells
        ]
        return [self.repeats, sorted(rows), dict(self.domains.parents)]

    def intervals(self) -> dict[str, Interval | None]:
        """Resample all intervals. A single issue has none: issues are resampled as a whole."""
        found = {"score": score_of(self.cells, computed=at_once).interval}
        if self.repeats > 1:
            groups = {"rate": list(self.cells)}
            groups |= {f"tag {name}": mine for name, mine in self.by_tag().items()}
            groups |= {f"domain {name}": mine for name, mine in self.by_domain().items()}
            for name, mine in groups.items():
                found[name] = rate_of(mine, repeats=self.repeats, computed=at_once).interval
        return found

    def _grouped(self, keys: Callable[[Cell], Iterable[K]]) -> dict[K, list[Cell]]:
        groups: dict[K, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            for key in keys(cell):
                groups[key].append(cell)
        return groups


def lines_of(cells: Sequence[Cell], repeats: int, reading: Reading) -> Lines:
    """Return all lines of a run. Slow intervals are None until they are computed."""
    parts = Parts.read(cells, repeats)
    score = score_of(cells, computed=left_out)
    known: Intervals = {}
    if score.n:
        known = reading.computed("run-intervals-1", parts.inputs(), parts.intervals) or {}
    issues = [
        Line(parts.titles[pk], pk, counts_of(mine), parts.rate(f"issue {pk}", mine, known))
        for pk, mine in parts.by_issue().items()
    ]
    return Lines(
        score=replace(score, interval=known.get("score")),
        rate=parts.rate("rate", cells, known),
        issues=tuple(sorted(issues, key=worst_first)),
        tags=tuple(
            Line(name, None, counts_of(mine), parts.rate(f"tag {name}", mine, known))
            for name, mine in sorted(parts.by_tag().items())
        ),
        domains=_domain_lines(parts, known),
        outside=counts_of(cell for cell in cells if not parts.within[cell.tag_set_id]),
    )


def worst_first(line: Line) -> tuple[float, int, str]:
    """Sort key: highest failure rate, then most failures; lines without a rate come last."""
    share = line.failure_share
    return (1.0 if share is None else -share, -line.counts.failed, line.name)


def _domain_lines(parts: Parts, known: Intervals) -> tuple[Line, ...]:
    """Return one line per domain, each before the domains below it."""
    below: dict[str, list[Line]] = defaultdict(list)
    for name, mine in sorted(parts.by_domain().items()):
        above = parts.domains.above(name)
        rate = parts.rate(f"domain {name}", mine, known)
        line = Line(name, None, counts_of(mine), rate, depth=len(above))
        below[above[0] if above else ""].append(line)
    return tuple(_tree("", below))


def _tree(name: str, below: Mapping[str, Sequence[Line]]) -> Iterator[Line]:
    for line in sorted(below.get(name, ()), key=worst_first):
        yield line
        yield from _tree(line.name, below)
