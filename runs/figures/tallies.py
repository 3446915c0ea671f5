"""Results counted by run, issue, tags and outcome; every pass rate and score is added up from here.

Only `Result`, which is narrow, is read, and all labels are those frozen at launch.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, NamedTuple, TypeVar

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import mean_interval
from runs.completeness import is_enough
from runs.figures.rate import Rate, rate_of_issues
from runs.figures.run_tallies import summed
from runs.models import Outcome, Run

OUTCOMES = tuple(Outcome.values)
"""Listing the members of a class of choices takes longer than adding up a line."""

PASSED, SCORED = Outcome.PASSED.value, (Outcome.PASSED.value, Outcome.FAILED.value)

K = TypeVar("K", bound=Hashable)


class Tally(NamedTuple):
    """Results of one run and outcome, added up.

    `issue_id` is 0 if not counted apart. `with_score` of the `n` results have a score: `weight` is
    their Σ w and `weighted_score` their Σ w·s.
    """

    run_id: int
    issue_id: int
    outcome: str
    n: int
    with_score: int = 0
    weight: float = 0.0
    weighted_score: float = 0.0


class Cell(NamedTuple):
    """The results of one run, set of tags, issue, outcome and origin, with all that is added up.

    `answered` have an answer or ended in an error. `similar` have a measured similarity.
    """

    run_id: int
    tag_set_id: int
    issue_id: int
    outcome: str
    origin: str
    n: int
    with_score: int
    weight: float
    weighted_score: float
    similar: int
    overridden: int
    disputed: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    with_tokens: int
    with_cost: int
    answered: int


@dataclass(frozen=True)
class Counts:
    """Results by outcome. Errors, unscored and pending ones are in no rate's denominator."""

    passed: int = 0
    failed: int = 0
    unscored: int = 0
    error: int = 0
    pending: int = 0

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.unscored + self.error + self.pending

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


@dataclass(slots=True)
class Group:
    """Results that make one rate.

    `others` are the excluded ones by outcome; `issues` holds (passed, scored) of each issue.
    """

    passed: int = 0
    scored: int = 0
    others: dict[str, int] = field(default_factory=dict)
    issues: dict[int, tuple[int, int]] = field(default_factory=dict)

    def add(self, issue: int, outcome: str, n: int) -> None:
        if outcome not in SCORED:
            self.others[outcome] = self.others.get(outcome, 0) + n
            return
        passed = n if outcome == PASSED else 0
        self.passed += passed
        self.scored += n
        if n:
            before, scored = self.issues.get(issue, (0, 0))
            self.issues[issue] = (before + passed, scored + n)

    @property
    def counts(self) -> Counts:
        return Counts(passed=self.passed, failed=self.scored - self.passed, **self.others)

    def rate(self, *, answers: int) -> Rate:
        """Return the pass rate; its issues must be counted apart."""
        total = self.scored + sum(self.others.values())
        return rate_of_issues(self.issues.values(), answers=answers, total=total)


# Counted -----------------------------------------------------------------------------------------

SCORES = ("with_score", "weights", "weighted_score")
SUMS = (
    *("similar", "overridden", "disputed", "sum_in", "sum_out", "sum_cost"),
    *("with_tokens", "with_cost", "answered"),
)
"""The sums of a tally and the further ones of a cell, in the order of their fields."""


def tallies_of_runs(
    runs: Iterable[Run | int], *, by_issue: bool = True, with_scores: bool = True
) -> list[Tally]:
    """Count the results of these runs, by default by issue: enough for rates and scores."""
    by = ("run_id", *(("issue_id",) if by_issue else ()), "outcome")
    rows = summed(runs, by, ("n", *(SCORES if with_scores else ())))
    if by_issue:
        return [Tally(*row) for row in rows]
    return [Tally(run, 0, *rest) for run, *rest in rows]


def cells_of(runs: Iterable[Run | int]) -> list[Cell]:
    """Count the results of these runs."""
    by = ("run_id", "tag_set_id", "issue_id", "outcome", "origin")
    return [Cell(*row) for row in summed(runs, by, ("n", *SCORES, *SUMS))]


def counts_of(tallies: Iterable[Tally | Cell]) -> Counts:
    return group_of(tallies).counts


def group_of(tallies: Iterable[Tally | Cell]) -> Group:
    group = Group()
    for tally in tallies:
        group.add(tally.issue_id, tally.outcome, tally.n)
    return group


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


def rate_of(tallies: Iterable[Tally | Cell], *, answers: int) -> Rate:
    """Return the pass rate of these results as one group."""
    return group_of(tallies).rate(answers=answers)


def score_of(tallies: Iterable[Tally | Cell]) -> Score:
    """Return the score of these results as a whole, with its interval by issue."""
    issues: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    n, every = 0, 0
    for tally in tallies:
        n, every = n + tally.with_score, every + tally.n
        if tally.weight:
            issues[tally.issue_id][0] += tally.weighted_score
            issues[tally.issue_id][1] += tally.weight
    sums = [(total, weight) for total, weight in issues.values()]
    total, weight = sum(total for total, _ in sums), sum(weight for _, weight in sums)
    return Score(total / weight if weight else None, n, mean_interval(sums), every)
