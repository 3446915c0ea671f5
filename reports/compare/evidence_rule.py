"""What two runs show: the conclusion, and where tests changed. Pure."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from evalhub.statistics.changes.change_interval import BY_ISSUE, ChangeInterval, change_interval
from evalhub.statistics.changes.conclusion import Conclusion, Outcome, Pair, conclude
from evalhub.statistics.changes.lost_issues import LostIssues, lost_issues
from evalhub.statistics.changes.net_change import LEVEL
from evalhub.statistics.weighted_mean import weighted_mean
from reports.compare.rule import MATCHED, Compared
from runs.comparison.tested_rule import Tested

T = TypeVar("T", bound=Hashable)

FLIPPED = "exact sign flips"


@dataclass(frozen=True)
class Graded:
    """The weighted change of the mean score over tests scored in both runs.

    `interval` is None below 5 issues: a place may stand for tests of different scores.
    """

    change: float
    n: int
    interval: ChangeInterval | None


class Where(NamedTuple):
    """How sure the change of one issue or tag is, among all of its kind.

    Attributes:
        p: Two-sided, of this row alone.
        adjusted: The same among all rows, by their reachable p; at most the level: sure.
    """

    p: float
    adjusted: float
    rule: str = FLIPPED


@dataclass(frozen=True)
class Findings:
    """The figures of a comparison that take long to compute.

    Attributes:
        graded: None where no test has two scores.
        tags: By tag, issues by id: each adjusted among its kind.
    """

    conclusion: Conclusion
    graded: Graded | None
    tags: Mapping[str, Where]
    issues: Mapping[int, Where]


@dataclass(frozen=True)
class Sample:
    """The matched tests as columns: all inputs of `findings`.

    A place stands for `times` tests. `old` and `new` are shares of passed repeats, with bounds;
    `scores` are pairs of mean scores; None where either run has none.
    """

    old: tuple[Outcome, ...]
    new: tuple[Outcome, ...]
    times: tuple[int, ...]
    issues: tuple[int, ...]
    tags: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    scores: tuple[tuple[float, float] | None, ...]

    def inputs(self) -> list[object]:
        """Return the columns as JSON."""
        columns = [self.old, self.new, self.times, self.issues, self.tags, self.weights]
        return [*columns, self.scores]

    def pairs(self) -> list[Pair]:
        """Return the tests one by one."""
        columns = zip(self.issues, self.old, self.new, self.times, strict=True)
        return [Pair(issue, old, new) for issue, old, new, n in columns for _ in range(n)]

    def tests_by_issue(self) -> Counter[int]:
        """Count the tests of each issue."""
        counts: Counter[int] = Counter()
        for issue, times in zip(self.issues, self.times, strict=True):
            counts[issue] += times
        return counts

    def changes(self) -> list[tuple[int, float]]:
        """Return the places of the tests that both runs scored, one by one, with the change."""
        return [
            (place, after.share - before.share)
            for place, (before, after) in enumerate(zip(self.old, self.new, strict=True))
            if before.share is not None and after.share is not None
            for _ in range(self.times[place])
        ]


def sample_of(rows: Iterable[Compared], tags: Mapping[int, tuple[str, ...]]) -> Sample:
    """Return the matched tests among the rows; `tags` are names by tag set."""
    matched = [
        (
            *(outcome_of(one.first), outcome_of(one.second), one.times, one.latest.issue_id),
            *(tags[one.latest.tag_set_id], one.latest.weight, _scores(one)),
        )
        for one in rows
        if one.kind in MATCHED and one.first is not None and one.second is not None
    ]
    return Sample(*(zip(*matched, strict=True) if matched else [()] * 7))


def outcome_of(tested: Tested) -> Outcome:
    """Return the share of its repeats that passed, with what is missing counted either way."""
    return Outcome(tested.share, tested.lowest / tested.n, tested.highest / tested.n)


def _scores(one: Compared) -> tuple[float, float] | None:
    if one.first is None or one.second is None:
        return None
    before, after = one.first.score, one.second.score
    return None if before is None or after is None else (before, after)


def findings(sample: Sample, level: float = LEVEL) -> Findings:
    """Compute the findings; equal samples give equal findings."""
    changes = sample.changes()
    by_tag = [(name, change) for place, change in changes for name in sample.tags[place]]
    return Findings(
        conclusion=conclude(sample.pairs(), level=level),
        graded=_graded(sample),
        tags=_where(by_tag, level),
        issues=_where([(sample.issues[place], change) for place, change in changes], level),
    )


def _graded(sample: Sample) -> Graded | None:
    """Compute the change of the mean score; tests of one place share an issue."""
    with_score = [place for place, pair in enumerate(sample.scores) if pair is not None]
    pairs = [pair for pair in sample.scores if pair is not None]
    weights = [sample.weights[place] * sample.times[place] for place in with_score]
    issues = [sample.issues[place] for place in with_score]
    changes = [after - before for before, after in pairs]
    mean = weighted_mean(changes, weights)
    if mean is None:
        return None
    interval = change_interval(changes, weights, issues)
    return Graded(
        change=mean,
        n=sum(sample.times[place] for place in with_score),
        interval=interval if interval and interval.method == BY_ISSUE else None,
    )


def _where(changes: Sequence[tuple[T, float]], level: float) -> dict[T, Where]:
    """Return how sure the change of each group is, lost or won, among all groups."""
    places: dict[T, int] = {}
    groups = [places.setdefault(group, len(places)) for group, _ in changes]
    lost = lost_issues([change for _, change in changes], groups, level=level)
    won = lost_issues([-change for _, change in changes], groups, level=level)
    found: dict[int, Where] = defaultdict(lambda: Where(1.0, 1.0))
    found |= _two_sided(lost) | _two_sided(won)
    return {group: found[place] for group, place in places.items()}


def _two_sided(found: LostIssues) -> dict[int, Where]:
    return {
        one.issue: Where(min(1.0, 2 * one.p), min(1.0, 2 * one.adjusted))
        for one in (*found.found, *found.others)
    }
