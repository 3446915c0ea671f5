"""Score and pass rate of a run: overall, and by issue, tag and domain."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from issues.models import Origin
from issues.tags import Domains, current_domains
from reports.queries.names import tag_names, titles
from runs.figures.rate import Rate
from runs.figures.tallies import (
    Counts,
    Group,
    Score,
    Tally,
    group_of,
    groups_of,
    score_of,
)


@dataclass(frozen=True)
class Line:
    """The results of a run in one issue, tag or domain.

    `issue_id` is None for tags and domains; `answers` are those to each test; `depth` is the
    number of domains above a domain.
    """

    name: str
    issue_id: int | None
    group: Group
    answers: int
    depth: int = 0

    @property
    def counts(self) -> Counts:
        return self.group

    @cached_property
    def rate(self) -> Rate:
        """The pass rate, made when it is asked for: most pages show a part of the lines."""
        return self.group.rate(answers=self.answers)

    @property
    def failure_share(self) -> float | None:
        """Share of failures among scored results; None without scored results."""
        scored = self.group.scored
        return 1 - self.group.passed / scored if scored else None


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

    cells: Sequence[Tally]
    repeats: int
    titles: Mapping[int, str]
    tags: Mapping[int, Sequence[str]]
    domains: Domains
    within: Mapping[int, frozenset[str]]

    @classmethod
    def read(cls, cells: Sequence[Tally], repeats: int) -> Self:
        """Read the issues' titles, the tags at launch and the present domains; three queries."""
        tags = tag_names({cell.tag_set_id for cell in cells})
        domains = current_domains()
        return cls(
            cells,
            repeats,
            titles=titles({cell.issue_id for cell in cells}),
            tags=tags,
            domains=domains,
            within={pk: domains.of(names) for pk, names in tags.items()},
        )

    def by_issue(self) -> dict[int, Group]:
        return groups_of(self.cells, lambda cell: [cell.issue_id])

    def by_tag(self) -> dict[str, Group]:
        return groups_of(self.cells, lambda cell: self.tags[cell.tag_set_id])

    def by_domain(self) -> dict[str, Group]:
        return groups_of(self.cells, lambda cell: self.within[cell.tag_set_id])

    def line(self, name: str, group: Group, issue: int | None = None, depth: int = 0) -> Line:
        return Line(name, issue, group, self.repeats, depth)


def lines_of(cells: Sequence[Tally], repeats: int) -> Lines:
    """Return all lines of a run."""
    parts = Parts.read(cells, repeats)
    issues = [parts.line(parts.titles[pk], mine, pk) for pk, mine in parts.by_issue().items()]
    tags = [parts.line(name, mine) for name, mine in sorted(parts.by_tag().items())]
    return Lines(
        score=score_of(cells),
        rate=group_of(cells).rate(answers=repeats),
        issues=tuple(sorted(issues, key=worst_first)),
        tags=tuple(tags),
        domains=_domain_lines(parts),
        outside=group_of(cell for cell in cells if not parts.within[cell.tag_set_id]),
    )


def origin_lines(cells: Sequence[Tally], repeats: int) -> tuple[Line, ...]:
    """Return the results of human and of synthetic tests of a run; none without synthetic ones."""
    synthetic = [cell for cell in cells if cell.origin == Origin.GENERATED]
    if not synthetic:
        return ()
    human = [cell for cell in cells if cell.origin != Origin.GENERATED]
    parts = {"human": human, "synthetic": synthetic}
    return tuple(Line(name, None, group_of(mine), repeats) for name, mine in parts.items())


def worst_first(line: Line) -> tuple[float, int, str]:
    """Sort key: highest failure rate, then most failures; lines without a rate come last."""
    share = line.failure_share
    failed = line.group.scored - line.group.passed
    return (1.0 if share is None else -share, -failed, line.name)


def _domain_lines(parts: Parts) -> tuple[Line, ...]:
    """Return one line per domain, each before the domains below it."""
    below: dict[str, list[Line]] = defaultdict(list)
    for name, mine in sorted(parts.by_domain().items()):
        above = parts.domains.above(name)
        below[above[0] if above else ""].append(parts.line(name, mine, depth=len(above)))
    return tuple(_tree("", below))


def _tree(name: str, below: Mapping[str, Sequence[Line]]) -> Iterator[Line]:
    for line in sorted(below.get(name, ()), key=worst_first):
        yield line
        yield from _tree(line.name, below)
