"""The tested changes of many pairs of sides at once, for pages that list several."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TypeVar

from evalhub.statistics.changes.conclusion import Conclusion
from evalhub.statistics.changes.lost_issues import LostIssues, lost_issues
from evalhub.statistics.changes.net_change import LEVEL
from reports.compare.attempts_query import Runs
from reports.compare.evidence_rule import Where, findings, sample_of
from reports.compare.matching_rule import match, revisions_apart
from reports.compare.query import digests_of
from reports.compare.rule import MATCHED, Compared, Tally, compared, tallies_by, tally_of
from runs.comparison.outcomes_by_test import outcomes_in
from runs.comparison.tested_rule import Tested, pooled

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Change:
    """The change of an issue, or of all tests, from one run to another.

    `p` is two-sided; that of an issue or tag is adjusted among those of the pair.
    """

    tally: Tally
    net: float | None
    p: float | None


@dataclass(frozen=True)
class PairChange:
    """A side against an earlier one.

    Attributes:
        conclusion: What the two sides show.
        issues, tags: Those with compared tests; tags only where their names were given.
    """

    whole: Change
    conclusion: Conclusion
    issues: Mapping[int, Change]
    tags: Mapping[str, Change] = field(default_factory=dict)


def pair_changes(
    pairs: Sequence[tuple[Runs, Runs]],
    *,
    level: float = LEVEL,
    keeps: Callable[[Tested], bool] = lambda tested: True,
    tags: Mapping[int, tuple[str, ...]] | None = None,
) -> list[PairChange]:
    """Test each pair of comparable sides, the earlier one first; two queries for all of them.

    Args:
        pairs: Of runs; several of one side are pooled.
        keeps: Chooses the tests that are compared.
        tags: Names by tag set, if changes by tag are wanted.
    """
    names: Mapping[int, tuple[str, ...]] = defaultdict(tuple, tags or {})
    changes = []
    for rows in _compared(pairs, keeps):
        found = findings(sample_of(rows, names), level)
        whole = tally_of(rows)
        changes.append(
            PairChange(
                whole=Change(whole, whole.net, found.conclusion.p),
                conclusion=found.conclusion,
                issues=_by(rows, lambda tested: (tested.issue_id,), found.issues),
                tags=_by(rows, lambda tested: names[tested.tag_set_id], found.tags),
            )
        )
    return changes


def lost_in_all(pairs: Sequence[tuple[int, int]]) -> LostIssues:
    """Return the issues lost in all pairs together: of models in two releases; two queries.

    The models are repeats of a test: its change is the mean over them.
    """
    changes: dict[int, list[float]] = defaultdict(list)
    issues: dict[int, int] = {}
    for rows in _compared([((before,), (now,)) for before, now in pairs]):
        for one in rows:
            before, after = (side and side.share for side in (one.first, one.second))
            if one.kind in MATCHED and before is not None and after is not None:
                changes[one.latest.test_id].append(after - before)
                issues[one.latest.test_id] = one.latest.issue_id
    means = [fmean(changes[test]) for test in issues]
    return lost_issues(means, list(issues.values()))


def _compared(
    pairs: Sequence[tuple[Runs, Runs]], keeps: Callable[[Tested], bool] = lambda tested: True
) -> Iterator[Sequence[Compared]]:
    """Yield the tests of each pair, those chosen by `keeps`; two queries."""
    results = outcomes_in({run for pair in pairs for runs in pair for run in runs})
    tests = {
        runs: [one for one in pooled([results[run] for run in runs]) if keeps(one)]
        for pair in pairs
        for runs in pair
    }
    apart = [revisions_apart(tests[before], tests[now]) for before, now in pairs]
    digests = digests_of({pk for revisions in apart for pk in revisions})
    for before, now in pairs:
        yield compared(match(tests[before], tests[now], digests))


def _by(
    rows: Sequence[Compared],
    keys_of: Callable[[Tested], Iterable[K]],
    p_of: Mapping[K, Where],
) -> dict[K, Change]:
    tallies = tallies_by(rows, keys_of)
    return {key: Change(tally, tally.net, p_of[key].adjusted) for key, tally in tallies.items()}
