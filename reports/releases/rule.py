"""The runs that are compared when one release is set against another. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from reports.trend.series_rule import RunKey, release_order

TRIED = 3
"""Newest runs of a model on each side among which a comparable pair is looked for."""


@dataclass(frozen=True)
class Candidates:
    """The runs of one variant of a model in one suite, newest first, at most `TRIED` each.

    `before` is empty where it was not run before.
    """

    now: tuple[int, ...]
    before: tuple[int, ...]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs, the earlier run first; those of the newest run now come first."""
        return [(before, now) for now, before in product(self.now, self.before)]

    def pick(self, comparable: Mapping[tuple[int, int], object]) -> tuple[int | None, int]:
        """Return the newest comparable pair, else the newest; the earlier run first."""
        newest = (self.before[0] if self.before else None), self.now[0]
        return next((pair for pair in self.pairs if comparable[pair]), newest)


@dataclass(frozen=True)
class ReleaseChoice:
    """Two releases and the runs of each model in them.

    `release` is "" where no run has one: each newest run is then set against those before it.
    `before` is "" also where there is no earlier release.
    """

    release: str
    before: str
    candidates: tuple[Candidates, ...]


def chosen(runs: Sequence[RunKey], release: str = "", before: str = "") -> ReleaseChoice:
    """Choose the runs of a release, by default the newest, and of the one before it.

    The release before is the last of the same suites that began earlier.

    Args:
        runs: Conclusive runs, newest first. Their `line` is the suite.
    """
    order = release_order(runs)
    release = release or (order[-1] if order else "")
    groups: dict[tuple[str, str], list[RunKey]] = defaultdict(list)
    for run in runs:
        groups[run.line, run.variant].append(run)
    if not release:
        sides = [(mine[:1], mine[1:]) for mine in groups.values()]
        return ReleaseChoice("", "", _candidates(sides))
    before = before or _release_before(runs, release)
    sides = [
        (
            [run for run in mine if run.release == release],
            [run for run in mine if run.release == before] if before else [],
        )
        for mine in groups.values()
    ]
    return ReleaseChoice(release, before, _candidates(sides))


def _release_before(runs: Sequence[RunKey], release: str) -> str:
    suites = {run.line for run in runs if run.release == release}
    order = release_order(run for run in runs if run.line in suites)
    place = order.index(release) if release in order else 0
    return order[place - 1] if place else ""


def _candidates(
    sides: Iterable[tuple[Sequence[RunKey], Sequence[RunKey]]],
) -> tuple[Candidates, ...]:
    return tuple(
        Candidates(tuple(run.run for run in now[:TRIED]), tuple(run.run for run in old[:TRIED]))
        for now, old in sides
        if now
    )
