"""Outcomes of runs test by test, and the changes from one run to another."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.db.models.fields.json import KeyTransform

from evalhub.display.formatting import counted
from evalhub.models import BatchState, User
from evalhub.values.id_in import IdIn
from issues.models import Revision
from reports.compare.attempts_query import Attempts, Runs, attempts_of
from reports.compare.matching_rule import (
    Digests,
    Matching,
    Pair,
    match,
    revisions_apart,
)
from reports.compare.rule import (
    COMPARED,
    DIGITS,
    Compared,
    Kind,
    are_scored,
    compared,
    compared_pair,
    counts_of,
    in_order,
    without_verdicts,
)
from reports.queries.names import tag_names, titles
from runs.comparison.comparability import comparability_by_test_of
from runs.comparison.comparability_rule import COMPARABLE, Comparable, versions_apart
from runs.comparison.provenance import parts_by_test
from runs.comparison.scoring_versions import Parts, merged
from runs.comparison.tested_rule import Tested
from runs.figures.run_labels import labels_of
from runs.figures.states import current_of, state_of
from runs.models import JudgeRun, Run
from runs.result_list.listing import prompt_of, texts_of


@dataclass(frozen=True)
class Side:
    """A run that is compared, with its active judge run; None: nothing judges it.

    `attempts` are given where its results are pooled with those of the other attempts.
    """

    run: Run
    judge_run: JudgeRun | None
    state: BatchState
    attempts: Attempts | None = None

    @property
    def runs(self) -> Runs:
        """The runs whose results are pooled."""
        return self.attempts.pooled if self.attempts else (self.run.pk,)

    @property
    def labels(self) -> tuple[str, ...]:
        return labels_of(self.run, self.judge_run)

    @property
    def is_done(self) -> bool:
        return self.state == BatchState.DONE


@dataclass(frozen=True)
class Comparison:
    """Two runs, and every test of either once.

    Attributes:
        rows: Worst first; most tests that stayed the same are in bundles, which come last.
        tags: The names by tag set.
        issues: The titles by issue.
        comparable: Whether the scores of the runs may be compared.
        apart: Why single tests of them may not be; true: there are none.
        is_conclusive: They may, and enough of both runs is scored; if not, no row has a direction.
    """

    first: Side
    second: Side
    rows: tuple[Compared, ...]
    tags: Mapping[int, tuple[str, ...]]
    issues: Mapping[int, str]
    comparable: Comparable
    apart: Comparable
    is_conclusive: bool

    @property
    def is_single(self) -> bool:
        """Return whether both sides have one answer to each test."""
        sides = self.first, self.second
        return all(side.run.repeats == len(side.runs) == 1 for side in sides)

    @property
    def not_compared(self) -> list[str]:
        """How many tests are not compared though the runs may be, and why, as a sentence."""
        n = counts_of(self.rows)[Kind.NOT_COMPARABLE]
        return [] if self.apart else [f"{counted(n, 'test')} not compared: {self.apart.cause}."]

    def one_by_one(self, kinds: Collection[Kind]) -> list[Compared]:
        """Return the tests of these kinds one by one, worst first."""
        rows = [one for one in self.rows if one.kind in kinds and not one.is_bundle]
        kind = Kind.SAME if self.is_conclusive else Kind.NOT_COMPARABLE
        if kind not in kinds or not any(one.is_bundle for one in self.rows):
            return rows
        pairs, *_ = one_by_one(self.first.runs, self.second.runs, bundled=True)
        bundled = tuple(map(compared_pair, pairs))
        return in_order((*rows, *(bundled if self.is_conclusive else without_verdicts(bundled))))


def sides_of(runs: Sequence[Run]) -> tuple[Side, ...]:
    """Return the runs with their judge runs, in the given order; one query."""
    judge_runs: dict[int, list[JudgeRun]] = defaultdict(list)
    for judge_run in JudgeRun.objects.filter(run__in=runs).defer("statistics"):
        judge_runs[judge_run.run_id].append(judge_run)
    return tuple(
        Side(run, current_of(judge_runs[run.pk]), state_of(run, judge_runs[run.pk])) for run in runs
    )


def pooled_sides_of(first: Run, second: Run) -> tuple[Side, ...]:
    """Return two runs as `sides_of` does, each with its attempts pooled; two queries.

    Two attempts at one release are set against each other as they are.
    """
    attempts = attempts_of([first, second])
    sides = sides_of([first, second])
    if first.pk in attempts[second.pk].pooled:
        return sides
    return tuple(replace(side, attempts=attempts[side.run.pk]) for side in sides)


def comparison_of(first: Side, second: Side) -> Comparison:
    """Compare two runs, or their pooled attempts; a constant number of queries."""
    runs = first.runs, second.runs
    comparable, as_a_whole = comparability_by_test_of(first.run, second.run)
    pairs, before, after = one_by_one(*runs, bundled=False)
    unmatched = match(before, after, digests_of(revisions_apart(before, after)))
    matching = replace(unmatched, pairs=(*pairs, *unmatched.pairs))
    apart = COMPARABLE
    if bool(comparable) == bool(as_a_whole):
        rows = (*compared(matching), *bundles(*runs))
    else:
        bundled, *_ = one_by_one(*runs, bundled=True)
        matching = replace(matching, pairs=(*matching.pairs, *bundled))
        rows, apart = _compared_one_by_one(matching, *runs)
        if not apart and not any(one.kind in COMPARED for one in rows):
            comparable, apart = apart, COMPARABLE
    is_conclusive = bool(comparable) and are_scored(rows)
    if not is_conclusive:
        rows = without_verdicts(rows)
    tags = tag_names({one.latest.tag_set_id for one in rows})
    issues = titles({one.latest.issue_id for one in rows})
    return Comparison(first, second, rows, tags, issues, comparable, apart, is_conclusive)


def _compared_one_by_one(
    matching: Matching, first: Runs, second: Runs
) -> tuple[tuple[Compared, ...], Comparable]:
    """Compare the tests whose scores the same version of EvalHub made; say why not the others."""
    made_with = parts_by_test([*first, *second])

    def parts(runs: Runs, revision: int) -> Parts:
        return merged(made_with.get((run, revision), {}) for run in runs)

    def comparable(pair: Pair) -> Comparable:
        before, after = pair.first.revision_id, pair.second.revision_id
        return versions_apart(parts(first, before), parts(second, after))

    reasons = [found for pair in matching.pairs if not (found := comparable(pair))]
    rows = compared(matching, is_apart=lambda pair: not comparable(pair))
    return rows, reasons[0] if reasons else COMPARABLE


def digests_of(revisions: Collection[int]) -> dict[int, Digests]:
    """Return the digests of these revisions; one query."""
    rows = Revision.objects.filter(pk__in=revisions).order_by()
    return {
        pk: Digests(whole, asked)
        for pk, whole, asked in rows.values_list("pk", "digest", "asked_digest")
    }


def prompts_of(revisions: Iterable[int], reader: User | AnonymousUser) -> dict[int, str]:
    """Return the prompts that the reader may read, by revision."""
    return {pk: prompt_of(messages) for pk, messages in _messages(revisions, reader)}


def with_words(words: str, revisions: Iterable[int], reader: User) -> set[int]:
    """Return the revisions whose readable prompt contains the words, ignoring case."""
    wanted = words.casefold()
    return {
        pk
        for pk, messages in _messages(revisions, reader)
        if wanted in "\n".join(texts_of(messages)).casefold()
    }


def _messages(
    revisions: Iterable[int], reader: User | AnonymousUser
) -> Iterable[tuple[int, object]]:
    rows = Revision.objects.filter(IdIn("pk", set(revisions))).readable_by(reader).order_by()
    return rows.values_list("pk", KeyTransform("messages", "content"))


OF_A_SIDE = """
    MIN(issue_id) FILTER (WHERE run_id IN ({runs})) AS issue_{side},
    MIN(tag_set_id) FILTER (WHERE run_id IN ({runs})) AS tag_set_{side},
    MIN(weight) FILTER (WHERE run_id IN ({runs})) AS weight_{side},
    MIN(id) FILTER (WHERE run_id IN ({runs})) AS result_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs})) AS n_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_outcome = 'passed') AS passed_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_outcome = 'failed') AS failed_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_outcome = 'error') AS error_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_outcome = 'unscored') AS unscored_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_lowest_passed) AS lowest_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND judges_highest_passed) AS highest_{side},
    COUNT(judges_score) FILTER (WHERE run_id IN ({runs})) AS with_score_{side},
    COALESCE(SUM(judges_score) FILTER (WHERE run_id IN ({runs})), 0.0) AS score_sum_{side},
    COUNT(*) FILTER (WHERE run_id IN ({runs}) AND is_overridden) AS overridden_{side}
"""
"""The results of a test on one side, added up, as judges scored them; all NULL or 0 where it has
none."""

TESTS = f"""
WITH tests AS (
    SELECT revision_id, MIN(test_id) AS test_id, {OF_A_SIDE.format(side="a", runs="{first}")},
           {OF_A_SIDE.format(side="b", runs="{second}")}
    FROM runs_result
    WHERE run_id IN ({{first}}, {{second}})
    GROUP BY revision_id
)
"""
TIMES_NAMED = OF_A_SIDE.count("{runs}")

ALIKE = """
(passed_a + failed_a > 0 AND passed_b + failed_b > 0
 AND passed_a * (passed_b + failed_b) = passed_b * (passed_a + failed_a)
 AND with_score_a > 0 AND with_score_b > 0
 AND lowest_a = highest_a AND lowest_b = highest_b)
"""
"""Both runs scored it with nothing missing, and an equal share passed; without division."""

COUNTED = ("n", "passed", "failed", "error", "unscored", "lowest", "highest")
COUNTS = ", ".join(f"{name}_{side}" for side in "ab" for name in COUNTED)
BUNDLES = f"""
{TESTS}
SELECT issue_b, tag_set_b, COUNT(*), SUM(weight_b), SUM(weight_b * score_sum_a / with_score_a),
       SUM(weight_b * score_sum_b / with_score_b), {COUNTS}
FROM tests WHERE {ALIKE}
GROUP BY issue_b, tag_set_b, {COUNTS}
ORDER BY issue_b, tag_set_b, {COUNTS}
"""

COLUMNS = (
    *("issue", "tag_set", "weight", "result", "n"),
    *("passed", "failed", "error", "unscored", "lowest", "highest"),
    *("with_score", "score_sum", "overridden"),
)
ONE_BY_ONE = f"""
{TESTS}
SELECT revision_id, test_id, {", ".join(f"{name}_{side}" for side in "ab" for name in COLUMNS)}
FROM tests
"""
BUNDLED = f"{ONE_BY_ONE} WHERE {ALIKE} ORDER BY test_id, revision_id"
OTHERS = f"{ONE_BY_ONE} WHERE NOT {ALIKE} ORDER BY test_id, revision_id"


def bundles(first: Runs, second: Runs) -> list[Compared]:
    """Return the tests with equal outcomes on both sides, added up; one query."""
    found = []
    for issue, tag_set, times, weight, *rest in _rows(BUNDLES, first, second):
        labels = (0, 0, issue, tag_set, round(weight / times, DIGITS), 0)
        # Databases add in any order: the last digits carry no information.
        scores = [round(score / weight, DIGITS) if weight else 0.0 for score in rest[:2]]
        counts = rest[2:]
        middle = len(COUNTED)
        before = Tested._make((*labels, *counts[:middle], 1, scores[0], 0))
        after = Tested._make((*labels, *counts[middle:], 1, scores[1], 0))
        found.append(Compared(Kind.SAME, before, after, 0.0, times))
    return found


def one_by_one(
    first: Runs, second: Runs, *, bundled: bool
) -> tuple[list[Pair], list[Tested], list[Tested]]:
    """Return the tests of the bundles, or the tests outside of them; one query.

    Returns:
        The pairs of both sides; revisions of the first side only; of the second only.
    """
    pairs, only_first, only_second = [], [], []
    middle = 2 + len(COLUMNS)
    for row in _rows(BUNDLED if bundled else OTHERS, first, second):
        before, after = Tested._make(row[:middle]), Tested._make(row[:2] + row[middle:])
        if before.n and after.n:
            pairs.append(Pair(before, after))
        elif before.n:
            only_first.append(before)
        else:
            only_second.append(after)
    return pairs, only_first, only_second


def _rows(sql: str, first: Runs, second: Runs) -> list[tuple[Any, ...]]:
    named = [*first * TIMES_NAMED, *second * TIMES_NAMED, *first, *second]
    places = [", ".join(["%s"] * len(runs)) for runs in (first, second)]
    with connection.cursor() as cursor:
        cursor.execute(sql.format(first=places[0], second=places[1]), named)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
