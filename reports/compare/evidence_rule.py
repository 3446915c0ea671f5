"""The significance of a comparison: tests, intervals and detectable changes. Pure."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from evalhub.statistics.changes.change_interval import BY_ISSUE, ChangeInterval, change_interval
from evalhub.statistics.changes.change_test import ChangeTest, change_test
from evalhub.statistics.changes.detectable import Detectable, detectable_of
from evalhub.statistics.changes.holm import holm
from evalhub.statistics.weighted_mean import weighted_mean
from reports.compare.rule import COMPARED, Compared

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Graded:
    """The weighted change of the mean score over tests scored in both runs.

    `interval` is None below 5 issues: a place may stand for tests of different scores.
    """

    change: float
    n: int
    interval: ChangeInterval | None


class TagSignificance(NamedTuple):
    """The p of one row among several, plain and corrected (Holm), and the name of its test."""

    p: float | None
    holm: float | None
    rule: str | None


@dataclass(frozen=True)
class Findings:
    """The figures of a comparison that take long to compute.

    Attributes:
        interval: Of the net change; None: nothing is known of the spread.
        detectable: What these tests detect if as many of them change again; None: none compared.
        graded: None where no test has two scores.
        tags: By tag, issues by id: each corrected among its kind.
    """

    evidence: ChangeTest
    interval: ChangeInterval | None
    detectable: Detectable | None
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
    kept = [
        (
            *(one.change or 0.0, one.times, latest.issue_id, tags[latest.tag_set_id]),
            *(latest.weight, _scores(one)),
        )
        for one in rows
        if one.kind in COMPARED
        for latest in [one.latest]
    ]
    columns = zip(*kept, strict=True) if kept else [()] * 6
    changes, times, issues, names, weights, scores = columns
    return Sample(changes, times, issues, names, weights, scores, single)


def _scores(one: Compared) -> tuple[float, float] | None:
    if one.first is None or one.second is None:
        return None
    before, after = one.first.score, one.second.score
    return None if before is None or after is None else (before, after)


def findings(sample: Sample) -> Findings:
    """Compute the findings; equal samples give equal findings."""
    changes, issues = sample.spread(sample.changes), sample.spread(sample.issues)
    by_issue: dict[int, list[int]] = defaultdict(list)
    by_tag: dict[str, list[int]] = defaultdict(list)
    for place, (issue, names) in enumerate(zip(sample.issues, sample.tags, strict=True)):
        by_issue[issue].append(place)
        for name in names:
            by_tag[name].append(place)
    return Findings(
        evidence=change_test(changes, issues, single=sample.single),
        interval=change_interval(changes, [1.0] * len(changes), issues),
        detectable=detectable_of(issues, changes),
        graded=_graded(sample),
        tags=_significance_of(sample, by_tag),
        issues=_significance_of(sample, by_issue),
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


def _significance_of(sample: Sample, groups: Mapping[T, Sequence[int]]) -> dict[T, TagSignificance]:
    """Return the p of each group of tests, by the test that the headline uses."""
    found = []
    for places in groups.values():
        changes, issues = (
            sample.spread(sample.changes, places),
            sample.spread(sample.issues, places),
        )
        found.append(change_test(changes, issues, single=sample.single))
    corrected = holm([one.p for one in found])
    return {
        group: TagSignificance(one.p, p, one.rule)
        for group, one, p in zip(groups, found, corrected, strict=True)
    }
