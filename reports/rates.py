"""Pass rates of groups of results: counted in one query, resampled intervals put off."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from django.db.models import Count

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from reports.pages.shell import Reading
from runs.models import Outcome, Result
from runs.tallies import SEED, Rate

K = TypeVar("K", bound=Hashable)


class Tally(NamedTuple):
    """How many results of a run, with one set of tags, came to one outcome.

    `issue` is 0 where issues were not told apart.
    """

    run: int
    tag_set: int
    issue: int
    outcome: str
    n: int


@dataclass
class Group:
    """Results that make one rate. `issues` has [passed, decided] of each; `others` by outcome."""

    issues: dict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    others: Counter[str] = field(default_factory=Counter)

    def add(self, tally: Tally) -> None:
        if tally.outcome in (Outcome.PASSED, Outcome.FAILED):
            sums = self.issues[tally.issue]
            sums[0] += tally.n if tally.outcome == Outcome.PASSED else 0
            sums[1] += tally.n
        else:
            self.others[tally.outcome] += tally.n

    @property
    def passed(self) -> int:
        return sum(passed for passed, _ in self.issues.values())

    @property
    def decided(self) -> int:
        return sum(n for _, n in self.issues.values())


def tallies_of(
    runs: Collection[int],
    *,
    by_issue: bool = False,
    issue: int | None = None,
    tag_sets: Collection[int] | None = None,
) -> list[Tally]:
    """The results of these runs, counted in one query.

    Args:
        by_issue: Whether issues are told apart: rates by issue and resampling need it.
        issue: Only its results; None: those of all.
        tag_sets: Only results with one of these; None: all.
    """
    rows = Result.objects.filter(run__in=runs).order_by()
    if issue is not None:
        rows = rows.filter(issue=issue)
    if tag_sets is not None:
        rows = rows.filter(tag_set__in=tag_sets)
    groups = ["run_id", "tag_set_id", *(["issue_id"] if by_issue else []), "outcome"]
    counted = rows.values_list(*groups).annotate(n=Count("pk"))
    if by_issue:
        return [Tally(*row) for row in counted]
    return [Tally(run, tags, 0, outcome, n) for run, tags, outcome, n in counted]


def grouped(
    tallies: Iterable[Tally], keys: Callable[[Tally], Iterable[K]]
) -> defaultdict[K, Group]:
    """The tallies by key; one that has several counts in each."""
    groups: defaultdict[K, Group] = defaultdict(Group)
    for tally in tallies:
        for key in keys(tally):
            groups[key].add(tally)
    return groups


class Rates(Generic[K]):
    """The pass rates of groups. Each is made when it is asked for: most pages show a part only."""

    def __init__(self, groups: Mapping[K, Group], intervals: Mapping[K, Interval | None]) -> None:
        """`intervals` are those of the groups whose answers to a test are several."""
        self._groups, self._intervals = groups, intervals

    def __contains__(self, key: K) -> bool:
        return key in self._groups

    def get(self, key: K) -> Rate | None:
        """None where there is no such group."""
        group = self._groups.get(key)
        if group is None:
            return None
        is_resampled = key in self._intervals
        passed, n = group.passed, group.decided
        interval = self._intervals[key] if is_resampled else wilson_interval(passed, n)
        return Rate(passed, n, passed / n if n else None, interval, is_resampled)


def rates_of(
    groups: Mapping[K, Group], reading: Reading, *, resampled: Callable[[K], bool]
) -> Rates[K]:
    """The pass rate of each group.

    Wilson's interval holds for single answers of one model. Where answers to one test are several,
    issues are resampled; these intervals are None where they are yet to come.

    Args:
        resampled: Whether the answers of a group are several to a test. Its issues must have been
            told apart.
    """
    chosen = {key: _sums(group) for key, group in groups.items() if resampled(key)}
    inputs = list(chosen.values())
    found: list[Interval | None] | None = None
    if any(len(issues) > 1 for issues in inputs):
        found = reading.computed("rates-1", inputs, lambda: [_interval(one) for one in inputs])
    return Rates(groups, dict(zip(chosen, found or [None] * len(inputs), strict=True)))


def _sums(group: Group) -> list[list[int]]:
    """[issue, passed, decided] of each issue."""
    return [[issue, *sums] for issue, sums in sorted(group.issues.items())]


def _interval(issues: Sequence[Sequence[int]]) -> Interval | None:
    """Bootstrap by issue."""
    return clustered_interval(
        [passed / n for _, passed, n in issues],
        [n for *_, n in issues],
        [issue for issue, *_ in issues],
        seed=SEED,
    )
