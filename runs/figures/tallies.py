"""Results counted by run, issue, tags and outcome; every pass rate and score is added up from here.

Only `Result`, which is narrow, is read, and all labels are those frozen at launch.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from operator import sub
from typing import Any, Generic, NamedTuple, TypeVar

from django.db.models import Q, QuerySet

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import mean_interval
from runs.comparison.completeness import is_enough
from runs.figures.rate import Rate, rate_of_issues
from runs.figures.run_tallies import GROUPS, JUDGES, OF_JUDGES, OUTCOMES, summed, sums_over
from runs.models import Result, Run

K = TypeVar("K", bound=Hashable)

BY = ("run_id", *GROUPS)
SUMS = OF_JUDGES
MORE = (
    *("similar", "overridden", "disputed", "sum_in", "sum_out", "sum_cost"),
    *("with_tokens", "with_cost", "answered"),
)
"""`SUMS` and `MORE` together follow the fields of `Tally`."""


class Tally(NamedTuple):
    """Results of one run, issue, set of tags and origin, added up.

    `lowest_passed` and `highest_passed` of them pass at least and at most, whatever is missing.
    `with_score` of them have a score: `weight` is their Σ w and `weighted_score` their Σ w·s.
    Only `cells_of` fills the fields from `similar` on: `similar` have a measured similarity,
    `answered` an answer, or they ended in an error. None: no result has a value.
    """

    run_id: int
    issue_id: int
    tag_set_id: int
    origin: str
    passed: int
    failed: int
    unscored: int
    error: int
    pending: int
    lowest_passed: int = 0
    highest_passed: int = 0
    with_score: int = 0
    weight: float = 0.0
    weighted_score: float = 0.0
    similar: int = 0
    overridden: int = 0
    disputed: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None
    with_tokens: int = 0
    with_cost: int = 0
    answered: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        return self[: len(BY)]

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.unscored + self.error + self.pending

    def without(self, part: "Tally") -> "Tally":
        """Return the tally, without what `cells_of` adds, of the results that are in no part."""
        n = len(BY) + len(SUMS)
        return Tally(*self.key, *map(sub, self[len(BY) : n], part[len(BY) : n]))


@dataclass(slots=True)
class Counts:
    """Results by outcome. Errors, unscored and pending ones are in no rate's denominator.

    `lowest_passed` and `highest_passed` of all pass at least and at most, whatever is missing.
    """

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    error: int = 0
    pending: int = 0
    lowest_passed: int = 0
    highest_passed: int = 0

    @property
    def total(self) -> int:
        return self.scored + self.unscored + self.error + self.pending

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def is_enough(self) -> bool:
        """Enough is scored to conclude anything from it."""
        return is_enough(self.scored, self.total)

    @property
    def excluded(self) -> dict[str, int]:
        """The results that are in no rate, by outcome."""
        return {"error": self.error, "unscored": self.unscored, "pending": self.pending}

    def as_dict(self) -> dict[str, int]:
        return {outcome: getattr(self, outcome) for outcome in OUTCOMES}


@dataclass(slots=True)
class Group(Counts):
    """Results that make one rate, with (passed, scored) of each issue."""

    issues: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, tally: Tally) -> None:
        self.passed += tally.passed
        self.failed += tally.failed
        self.unscored += tally.unscored
        self.error += tally.error
        self.pending += tally.pending
        self.lowest_passed += tally.lowest_passed
        self.highest_passed += tally.highest_passed
        passed, scored = self.issues.get(tally.issue_id, (0, 0))
        scored += tally.passed + tally.failed
        self.issues[tally.issue_id] = passed + tally.passed, scored

    def rate(self, *, answers: int) -> Rate:
        """Return the pass rate; `answers` are those to each test."""
        return rate_of_issues(self.issues.values(), answers=answers, total=self.total)


@dataclass(frozen=True)
class Score:
    """The score of a run, Σ w·s / Σ w over its results with a score, with its 95% interval.

    Attributes:
        mean: In [0, 1]; None where nothing has a score.
        n: How many results have one.
        interval: By issue; None below 5 issues, and where the spread is unknown.
        total: All results of the run.
    """

    mean: float | None
    n: int
    interval: Interval | None
    total: int


# Counted -----------------------------------------------------------------------------------------


def tallies_of_runs(
    runs: Iterable[Run | int], which: Q | None = None, *, of_judges: bool = False
) -> list[Tally]:
    """Count the results of these runs: enough for rates and scores.

    Args:
        which: Condition on issue and tags.
        of_judges: Count what the judges alone said, without overrides. Whatever sets runs side by
            side does, for annotators review one of them more than the other.
    """
    return [Tally(*row) for row in summed(runs, BY, _sums(of_judges), which)]


def tallies_over(results: QuerySet[Result], *, of_judges: bool = False) -> list[Tally]:
    """Count these results, as `tallies_of_runs` does; one query."""
    return [Tally(*row) for row in sums_over(results, BY, _sums(of_judges))]


def _sums(of_judges: bool) -> tuple[str, ...]:
    return tuple(JUDGES + name for name in SUMS) if of_judges else SUMS


def cells_of(runs: Iterable[Run | int]) -> list[Tally]:
    """Count the results of these runs with all that is added up."""
    return [Tally(*row) for row in summed(runs, BY, (*SUMS, *MORE))]


def group_of(tallies: Iterable[Tally]) -> Group:
    group = Group()
    for tally in tallies:
        group.add(tally)
    return group


def groups_of(tallies: Iterable[Tally], keys_of: Callable[[Tally], Iterable[K]]) -> dict[K, Group]:
    """Group the tallies, each by all its keys."""
    groups: dict[K, Group] = defaultdict(Group)
    for tally in tallies:
        for key in keys_of(tally):
            groups[key].add(tally)
    return dict(groups)


# Rates and scores --------------------------------------------------------------------------------


class Rates(Generic[K]):
    """The pass rates of groups, each made when it is first asked for: most pages show a part."""

    def __init__(self, groups: Mapping[K, Group], answers: Callable[[K], int]) -> None:
        """`answers` are those to each test of a group; its issues must be counted apart."""
        self._groups, self._answers = groups, answers
        self._made: dict[K, Rate] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._groups

    def __getitem__(self, key: K) -> Rate:
        if key not in self._made:
            self._made[key] = self._groups[key].rate(answers=self._answers(key))
        return self._made[key]

    def get(self, key: K) -> Rate | None:
        """Return the rate of this group; None where there is no such group."""
        return self[key] if key in self._groups else None


def score_of(tallies: Iterable[Tally]) -> Score:
    """Return the score of these results as a whole, with its interval by issue."""
    issues: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    n, every = 0, 0
    for tally in tallies:
        n, every = n + tally.with_score, every + tally.total
        if tally.weight:
            issues[tally.issue_id][0] += tally.weighted_score
            issues[tally.issue_id][1] += tally.weight
    sums = [(total, weight) for total, weight in issues.values()]
    total, weight = sum(total for total, _ in sums), sum(weight for _, weight in sums)
    return Score(total / weight if weight else None, n, mean_interval(sums), every)
