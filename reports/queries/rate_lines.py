"""Score and pass rate of a run: overall, and by issue, tag and domain."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from issues.domains import Domains, current_domains
from issues.models import Issue, Origin
from runs.figures.rate import Rate
from runs.figures.tallies import Cell, Counts, Score, cells_of, counts_of, rate_of, score_of
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

    def rate(self, cells: Sequence[Cell]) -> Rate:
        return rate_of(cells, answers=self.repeats)

    def _grouped(self, keys: Callable[[Cell], Iterable[K]]) -> dict[K, list[Cell]]:
        groups: dict[K, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            for key in keys(cell):
                groups[key].append(cell)
        return groups


def lines_of(cells: Sequence[Cell], repeats: int) -> Lines:
    """Return all lines of a run."""
    parts = Parts.read(cells, repeats)
    issues = [
        Line(parts.titles[pk], pk, counts_of(mine), parts.rate(mine))
        for pk, mine in parts.by_issue().items()
    ]
    return Lines(
        score=score_of(cells),
        rate=parts.rate(cells),
        issues=tuple(sorted(issues, key=worst_first)),
        tags=tuple(
            Line(name, None, counts_of(mine), parts.rate(mine))
            for name, mine in sorted(parts.by_tag().items())
        ),
        domains=_domain_lines(parts),
        outside=counts_of(cell for cell in cells if not parts.within[cell.tag_set_id]),
    )


def origin_lines(run: int, repeats: int, whole: Sequence[Cell]) -> tuple[Line, ...]:
    """Return the results of human and of synthetic tests; none without synthetic ones.

    `whole` are the cells of all results of the run. One query.
    """
    synthetic = cells_of([run], origin=Origin.GENERATED)
    if not synthetic:
        return ()
    drafted = {cell[:4]: cell for cell in synthetic}
    human = [without(cell, drafted.get(cell[:4])) for cell in whole]
    parts = {"human": human, "synthetic": synthetic}
    return tuple(
        Line(name, None, counts_of(mine), rate_of(mine, answers=repeats))
        for name, mine in parts.items()
    )


def without(cell: Cell, part: Cell | None) -> Cell:
    """Return the cell without the results of another that is a part of it."""
    return cell if part is None else cell._replace(n=cell.n - part.n)


def worst_first(line: Line) -> tuple[float, int, str]:
    """Sort key: highest failure rate, then most failures; lines without a rate come last."""
    share = line.failure_share
    return (1.0 if share is None else -share, -line.counts.failed, line.name)


def _domain_lines(parts: Parts) -> tuple[Line, ...]:
    """Return one line per domain, each before the domains below it."""
    below: dict[str, list[Line]] = defaultdict(list)
    for name, mine in sorted(parts.by_domain().items()):
        above = parts.domains.above(name)
        rate = parts.rate(mine)
        line = Line(name, None, counts_of(mine), rate, depth=len(above))
        below[above[0] if above else ""].append(line)
    return tuple(_tree("", below))


def _tree(name: str, below: Mapping[str, Sequence[Line]]) -> Iterator[Line]:
    for line in sorted(below.get(name, ()), key=worst_first):
        yield line
        yield from _tree(line.name, below)
