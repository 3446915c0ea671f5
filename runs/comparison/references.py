"""The fixed reference of each run, against which a slow slide shows."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from django.db.models import Q

from runs.comparison.baselines import baseline_releases
from runs.comparison.comparability import comparability_of_pairs
from runs.comparison.opponent_rule import ReleasedRun, counterparts
from runs.comparison.release_order import newest_first
from runs.comparison.release_order_rule import ReleaseOrder
from runs.models import Run


class Reference(NamedTuple):
    """A run of the baseline release, else of the first comparable one.

    `look` counts the releases that were compared with it, this one included.
    """

    run: int
    release: str
    look: int


def references_of(
    runs: Collection[int], order: ReleaseOrder, every: Sequence[ReleasedRun] | None = None
) -> dict[int, Reference]:
    """Return the references of these runs by run; those without an earlier release have none.

    Args:
        every: Among others these runs, and all conclusive ones of their suites, newest first.
            None: they are read.
    """
    if every is None:
        suites = Run.objects.filter(pk__in=runs, suite__isnull=False).exclude(release="")
        conclusive = Run.objects.conclusive().filter(suite__in=suites.values("suite"))
        both = Q(pk__in=suites) | Q(pk__in=conclusive.values("pk"))
        every = newest_first(Run.objects.filter(both), order)
    of_release: dict[tuple[int, str], list[ReleasedRun]] = defaultdict(list)
    for one in every:
        if one.suite is not None:
            of_release[one.suite, one.release].append(one)
    earlier: dict[int, list[ReleasedRun]] = {}
    for now in (one for one in every if one.run in runs and one.release):
        if now.suite is not None:
            beside = of_release[now.suite, now.release]
            earlier[now.run] = [
                found[0]
                for name in order.predecessors(now.release)
                if (found := counterparts(now, beside, of_release.get((now.suite, name), ())))
            ]
    pairs = [(one.run, run) for run, found in earlier.items() for one in found]
    comparable = comparability_of_pairs(pairs)
    fixed = baseline_releases({suite for suite, _ in of_release})
    references = {}
    for run, found in earlier.items():
        looks = [one for one in found if comparable[one.run, run]]
        names = [one.release for one in looks]
        name = fixed.get(looks[0].suite or 0, "") if looks else ""
        if looks:
            last = names.index(name) if name in names else len(looks) - 1
            references[run] = Reference(looks[last].run, looks[last].release, last + 1)
    return references
