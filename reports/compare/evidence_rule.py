"""The significance of a comparison: tests, intervals and detectable changes. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from evalhub.statistics.clustered_error import clustered_error
from evalhub.statistics.detectable import detectable_change, detectable_of_difference
from evalhub.statistics.holm import holm
from evalhub.statistics.interval import Interval
from evalhub.statistics.mcnemar import mcnemar
from evalhub.statistics.paired_bootstrap import paired_interval
from evalhub.statistics.sign_flip import sign_flip
from evalhub.statistics.weighted_mean import weighted_mean
from reports.compare.rule import COMPARED, Compared

T = TypeVar("T", bound=Hashable)

SEED = 1
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Evidence:
    """The significance of a change.

    Attributes:
        p: Two-sided; None where nothing was compared.
        rule: The name of the test.
        moved: Number of tests (or issues, where whole issues are flipped) that changed.
        if_independent: The p if tests did not share issues; None where that is `p` itself.
        independent_rule: The name of that test.
    """

    p: float | None
    rule: str
    moved: int = 0
    if_independent: float | None = None
    independent_rule: str = ""


MCNEMAR = "exact McNemar"
FLIPPED_TESTS = "sign flips of tests"
FLIPPED_ISSUES = "sign flips of whole issues"

MIN_MOVED = 6
"""With fewer changes, even all in one direction, p is at least 2 / 2**5, above 0.05."""


def evidence_of(
    changes: Sequence[float], issues: Sequence[Hashable], *, single: bool, seed: int = SEED
) -> Evidence:
    """Test whether these changes have a direction.

    Args:
        changes: Of compared tests, shape (n,), each in [-1, 1].
        issues: Of the same tests. Where two of them share one, whole issues are flipped.
        single: Both runs have one repeat of each test, so that McNemar's test applies.
    """
    if single:
        worse = sum(change < 0 for change in changes)
        better = sum(change > 0 for change in changes)
        p, rule = mcnemar(worse, better) if changes else None, MCNEMAR
    else:
        p, rule = sign_flip(changes, seed=seed), FLIPPED_TESTS
    if len(set(issues)) == len(issues):
        return Evidence(p, rule, sum(change != 0 for change in changes))
    sums: dict[Hashable, float] = defaultdict(float)
    for change, issue in zip(changes, issues, strict=True):
        sums[issue] += change
    moved = sum(abs(total) > TOLERANCE for total in sums.values())
    flipped = sign_flip(changes, seed=seed, clusters=issues)
    return Evidence(flipped, FLIPPED_ISSUES, moved, p, rule)


@dataclass(frozen=True)
class Graded:
    """The weighted change of the mean score over tests scored in both runs."""

    change: float
    n: int
    interval: Interval | None
    standard_error: float | None


class TagSignificance(NamedTuple):
    """The p of one row among several, plain and corrected for their number (Holm)."""

    p: float | None
    holm: float | None


@dataclass(frozen=True)
class Findings:
    """The figures of a comparison that take long to compute.

    Attributes:
        interval: 95 % interval of the net change, resampled by issue.
        standard_error: Of the net change, clustered by issue.
        detectable: The net change that these tests detect with 80 % power, in (0, 1], at the
            observed discordance (single answers) or spread (repeats). None: none.
        graded: None where no test has two scores.
        tags: By tag, issues by id: each corrected among its kind.
    """

    evidence: Evidence
    interval: Interval | None
    standard_error: float | None
    detectable: float | None
    graded: Graded | None
    tags: Mapping[str, TagSignificance]
    issues: Mapping[int, TagSignificance]


@dataclass(frozen=True)
class Sample:
    """The compared tests as columns: all inputs of `findings`.

    A place stands for `times` tests. `scores` are pairs of mean scores; None where either run has
    none.
    """

    changes: tuple[float, ...]
    times: tuple[int, ...]
    issues: tuple[int, ...]
    tags: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    scores: tuple[tuple[float, float] | None, ...]
    single: bool

    def inputs(self) -> list[object]:
        """Return the columns as JSON."""
        columns = [self.changes, self.times, self.issues, self.tags, self.weights, self.scores]
        return [*columns, self.single]

    def spread(self, column: Sequence[T], places: Sequence[int] | None = None) -> list[T]:
        """Repeat the values of a column, or of some of its places, once for each test."""
        places = range(len(column)) if places is None else places
        return [column[place] for place in places for _ in range(self.times[place])]


def sample_of(
    rows: Iterable[Compared], tags: Mapping[int, tuple[str, ...]], *, single: bool
) -> Sample:
    """Return the compared tests among the rows; `tags` are names by tag set."""
    kept = [one for one in rows if one.kind in COMPARED]
    return Sample(
        changes=tuple(one.change or 0.0 for one in kept),
        times=tuple(one.times for one in kept),
        issues=tuple(one.latest.issue_id for one in kept),
        tags=tuple(tags[one.latest.tag_set_id] for one in kept),
        weights=tuple(one.latest.weight for one in kept),
        scores=tuple(_scores(one) for one in kept),
        single=single,
    )


def _scores(one: Compared) -> tuple[float, float] | None:
    if one.first is None or one.second is None:
        return None
    before, after = one.first.score, one.second.score
    return None if before is None or after is None else (before, after)


def findings(sample: Sample) -> Findings:
    """Compute the findings; equal samples give equal findings."""
    changes, issues = sample.spread(sample.changes), sample.spread(sample.issues)
    n = len(changes)
    ones = [1.0] * n
    error = clustered_error(changes, ones, issues)
    if sample.single and n:
        detectable = detectable_change(n, sum(change != 0 for change in changes) / n)
    else:
        detectable = detectable_of_difference(error) if n else None
    by_issue: dict[int, list[int]] = defaultdict(list)
    by_tag: dict[str, list[int]] = defaultdict(list)
    for place, (issue, names) in enumerate(zip(sample.issues, sample.tags, strict=True)):
        by_issue[issue].append(place)
        for name in names:
            by_tag[name].append(place)
    return Findings(
        evidence=evidence_of(changes, issues, single=sample.single),
        interval=paired_interval([0.0] * n, changes, ones, issues, seed=SEED),
        standard_error=error,
        detectable=detectable,
        graded=_graded(sample),
        tags=_sure(sample, by_tag, clustered=True),
        issues=_sure(sample, by_issue, clustered=False),
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
    first, second = zip(*pairs, strict=True)
    return Graded(
        change=mean,
        n=sum(sample.times[place] for place in with_score),
        interval=paired_interval(first, second, weights, issues, seed=SEED),
        standard_error=clustered_error(changes, weights, issues),
    )


def _sure(
    sample: Sample, groups: Mapping[T, Sequence[int]], *, clustered: bool
) -> dict[T, TagSignificance]:
    """Return the p of each group of tests; within one issue there are no clusters."""
    found = []
    for places in groups.values():
        changes = sample.spread(sample.changes, places)
        issues = sample.spread(sample.issues, places) if clustered else range(len(changes))
        found.append(evidence_of(changes, issues, single=sample.single).p)
    return dict(zip(groups, map(TagSignificance, found, holm(found)), strict=True))
