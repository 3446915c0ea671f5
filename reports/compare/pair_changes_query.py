"""The tested changes of many pairs of runs at once, for pages that list several."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from reports.compare.evidence_rule import TagSignificance, findings, sample_of
from reports.compare.matching_rule import Tested, match, revisions_apart
from reports.compare.query import digests_of, outcomes_in
from reports.compare.rule import Compared, Tally, compared, tallies_by, tally_of

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Change:
    """The change of an issue, or of all tests, from one run to another.

    `p` is of this change alone, until whoever lists several corrects them together (Holm).
    """

    tally: Tally
    net: float | None
    p: float | None


@dataclass(frozen=True)
class PairChange:
    """A run against an earlier one.

    Attributes:
        rule: The name of the test behind the p of the whole.
        issues, tags: Those with compared tests; tags only where their names were given.
        tag_rules: The name of the test behind the p of each tag.
    """

    whole: Change
    rule: str
    issues: Mapping[int, Change]
    tags: Mapping[str, Change] = field(default_factory=dict)
    tag_rules: Mapping[str, str] = field(default_factory=dict)


def pair_changes(
    pairs: Sequence[tuple[int, int]],
    single: Sequence[bool],
    *,
    keeps: Callable[[Tested], bool] = lambda tested: True,
    tags: Mapping[int, tuple[str, ...]] | None = None,
) -> list[PairChange]:
    """Test each pair of comparable runs, the earlier one first; two queries for all of them.

    Args:
        single: Whether both runs of the pair have one repeat of each test.
        keeps: Chooses the tests that are compared.
        tags: Names by tag set, if changes by tag are wanted.
    """
    tests = outcomes_in({pk for pair in pairs for pk in pair})
    tests = {run: [tested for tested in rows if keeps(tested)] for run, rows in tests.items()}
    apart = [revisions_apart(tests[before], tests[run]) for before, run in pairs]
    digests = digests_of({pk for revisions in apart for pk in revisions})
    names: Mapping[int, tuple[str, ...]] = defaultdict(tuple, tags or {})
    changes = []
    for (before, run), is_single in zip(pairs, single, strict=True):
        rows = compared(match(tests[before], tests[run], digests))
        found = findings(sample_of(rows, names, single=is_single))
        whole = tally_of(rows)
        changes.append(
            PairChange(
                whole=Change(whole, whole.net, found.evidence.p),
                rule=found.evidence.rule,
                issues=_by(rows, lambda tested: (tested.issue_id,), found.issues),
                tags=_by(rows, lambda tested: names[tested.tag_set_id], found.tags),
                tag_rules={tag: one.rule or "" for tag, one in found.tags.items()},
            )
        )
    return changes


def _by(
    rows: Sequence[Compared],
    keys_of: Callable[[Tested], Iterable[K]],
    p_of: Mapping[K, TagSignificance],
) -> dict[K, Change]:
    tallies = tallies_by(rows, keys_of)
    return {key: Change(tally, tally.net, p_of[key].p) for key, tally in tallies.items()}
