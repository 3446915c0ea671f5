"""Pass rates of groups of results: counted in one query, resampled intervals put off."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from django.db.models import Count

from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from reports.documents.reading import Reading
from reports.queries.exposure import only
from runs.figures.tallies import SEED, Rate
from runs.models import Outcome, Result

K = TypeVar("K", bound=Hashable)


class Tally(NamedTuple):
    """Results of a run, those of one issue or with one set of tags, counted.

    `tag_set` and `issue` are 0 where they were not told apart; `others` are those not decided, by
    outcome.
    """

    run: int
    tag_set: int
    issue: int
    passed: int
    scored: int
    others: dict[str, int]


@dataclass(slots=True)
class Group:
    """Results that make one rate. `issues` has (passed, decided) of each; `others` by outcome."""

    passed: int = 0
    scored: int = 0
    others: dict[str, int] = field(default_factory=dict)
    issues: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, tally: Tally) -> None:
        self.passed += tally.passed
        self.scored += tally.scored
        for outcome, n in tally.others.items():
            self.others[outcome] = self.others.get(outcome, 0) + n
        if tally.issue and tally.scored:
            passed, scored = self.issues.get(tally.issue, (0, 0))
            self.issues[tally.issue] = (passed + tally.passed, scored + tally.scored)


def tallies_of(
    runs: Collection[int],
    *,
    by_tags: bool = True,
    by_issue: bool = False,
    issue: int | None = None,
    tag_sets: Collection[int] | None = None,
    tests: str = "",
) -> list[Tally]:
    """The results of these runs, counted in one query.

    Args:
        by_tags: Whether sets of tags are told apart.
        by_issue: Whether issues are told apart: rates by issue and resampling need it.
        issue: Only its results; None: those of all.
        tag_sets: Only results with one of these; None: all.
        tests: Which tests, one of `reports.queries.exposure.CHOICES`.
    """
    rows = only(Result.objects.filter(run__in=runs).order_by(), tests)
    if issue is not None:
        rows = rows.filter(issue=issue)
    if tag_sets is not None:
        rows = rows.filter(tag_set__in=tag_sets)
    parts = {"tag_set": by_tags, "issue": by_issue}
    apart = [name for name, is_apart in parts.items() if is_apart]
    groups = ["run_id", *(f"{name}_id" for name in apart), "outcome"]
    outcomes: dict[tuple[int, ...], dict[str, int]] = defaultdict(dict)
    for *place, outcome, n in rows.values_list(*groups).annotate(n=Count("pk")):
        outcomes[tuple(place)][outcome] = n
    return [_tally(place, apart, found) for place, found in outcomes.items()]


def _tally(place: tuple[int, ...], apart: Sequence[str], outcomes: dict[str, int]) -> Tally:
    run, *rest = place
    parts = dict(zip(apart, rest, strict=True))
    passed = outcomes.pop(Outcome.PASSED, 0)
    scored = passed + outcomes.pop(Outcome.FAILED, 0)
    return Tally(run, parts.get("tag_set", 0), parts.get("issue", 0), passed, scored, outcomes)


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
        passed, n = group.passed, group.scored
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
