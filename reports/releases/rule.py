"""The runs that are compared when one release is set against another. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from runs.comparison.opponent_rule import ReleasedRun, counterparts, opponents
from runs.comparison.release_order_rule import ReleaseOrder

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


def chosen(
    runs: Sequence[ReleasedRun], order: ReleaseOrder, release: str = "", before: str = ""
) -> ReleaseChoice:
    """Choose the runs of a release, by default the highest, and of the one that it came from.

    That is the nearest of its predecessors with runs of the same suites.

    Args:
        runs: Conclusive runs, newest first.
    """
    release = release or next(iter(order.ordered(run.release for run in runs)[::-1]), "")
    before = before or (_release_before(runs, order, release) if release else "")
    suites: dict[int | None, list[ReleasedRun]] = defaultdict(list)
    for run in runs:
        suites[run.suite].append(run)
    found = [one for mine in suites.values() for one in _candidates(mine, order, release, before)]
    return ReleaseChoice(release, before, tuple(found))


def _release_before(runs: Sequence[ReleasedRun], order: ReleaseOrder, release: str) -> str:
    suites = {run.suite for run in runs if run.release == release}
    others = {run.release for run in runs if run.suite in suites}
    return next((name for name in order.predecessors(release) if name in others), "")


def _candidates(
    runs: Sequence[ReleasedRun], order: ReleaseOrder, release: str, before: str
) -> list[Candidates]:
    """Return those of each variant in one suite."""
    variants: dict[str, list[ReleasedRun]] = defaultdict(list)
    for run in runs:
        if run.release == release:
            variants[run.variant].append(run)
    beside = [run for mine in variants.values() for run in mine]
    earlier = [run for run in runs if before and run.release == before]
    found = []
    for mine in variants.values():
        if release:
            now, old = mine, counterparts(mine[0], beside, earlier)
        else:
            others = [run for run in runs if run != mine[0]]
            now, old = mine[:1], list(opponents(mine[0], others, order))
        found.append(Candidates(*(tuple(run.run for run in some[:TRIED]) for some in (now, old))))
    return found
