"""Facts of a run's answers that may be reasons for review."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evalhub.models import ItemState
from evalhub.statistics.deviation import is_split, population_deviation
from issues.rubrics.scoring import consensus
from runs.baselines import opponent_of
from runs.models import JudgeRun, Judgment, Outcome, Result, ResultScore, Run
from runs.review.reasons import Facts
from runs.scoring.score import Rule, rules_of

Votes = Mapping[int | None, Mapping[int, Sequence[float | None]]]
"""Values of one answer by judge (None: checks), and by criterion; a failed one is None."""


class Before(NamedTuple):
    """The run that flips are counted against, and its name."""

    run: Run
    name: str


def before(run: Run) -> Before | None:
    """Return the run that flips are counted against; None: there is nothing to compare with."""
    opponent = opponent_of(run)
    return Before(opponent, name_of(opponent)) if opponent else None


def name_of(run: Run) -> str:
    return run.release or run.label


FIELDS = (
    "pk",
    "revision_id",
    "repeat",
    "weight",
    "passed",
    "agreement",
    "is_disputed",
    "outcome",
)


class Row(NamedTuple):
    """The columns of a result with facts."""

    pk: int
    revision: int
    repeat: int
    weight: float
    passed: bool | None
    agreement: float | None
    is_disputed: bool
    outcome: str


def answered(run: Run) -> list[int]:
    """Return the ids of the run's results with an answer."""
    done = run.results.filter(state=ItemState.DONE).order_by("pk")
    return list(done.values_list("pk", flat=True))


def facts_of(run: Run, result_ids: Collection[int], compared: Before | None) -> dict[int, Facts]:
    """Read the facts of these results, in a constant number of queries."""
    rows = [Row(*row) for row in Result.objects.filter(pk__in=result_ids).values_list(*FIELDS)]
    judge_run = JudgeRun.objects.filter(run=run, is_active=True).first()
    votes = _votes(judge_run, result_ids)
    coverage = _coverage(judge_run, result_ids)
    rules = rules_of(votes.keys())
    earlier = _passed_in(compared, rows)
    facts = {}
    sides = _Sides()
    for row in rows:
        passing, failing, split = sides.of(row, votes.get(row.pk), rules.get(row.pk))
        expected, given = coverage.get(row.pk, (0, 0))
        facts[row.pk] = Facts(
            is_disputed=row.is_disputed,
            passing=passing,
            failing=failing,
            split=split,
            expected=expected,
            answered=given,
            is_unscored=row.outcome == Outcome.UNSCORED and not row.is_disputed,
            agreement=row.agreement,
            weight=row.weight,
            passed=row.passed,
            passed_before=earlier.get((row.revision, row.repeat)),
            before=compared.name if compared else "",
        )
    return facts


NONE = (0, 0, 0)


def _votes(judge_run: JudgeRun | None, result_ids: Collection[int]) -> dict[int, Votes]:
    found: dict[int, dict[int | None, dict[int, list[float | None]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    rows = Judgment.objects.filter(judge_run=judge_run, result__in=result_ids).order_by()
    fields = ("result_id", "judge_id", "criterion_id", "value")
    for result, judge, criterion, value in rows.values_list(*fields):
        found[result][judge][criterion].append(value)
    return dict(found)


def _coverage(
    judge_run: JudgeRun | None, result_ids: Collection[int]
) -> dict[int, tuple[int, int]]:
    """Return the numbers of judgments expected and given, by judged result."""
    ended = ResultScore.objects.filter(judge_run=judge_run, result__in=result_ids)
    ended = ended.filter(state__in=(ItemState.DONE, ItemState.ERROR)).order_by()
    rows = ended.values_list("result_id", "expected", "answered", "state")
    # An error may have ended judging before all expected judgments were counted.
    return {
        pk: (max(expected, given + 1) if state == ItemState.ERROR else expected, given)
        for pk, expected, given, state in rows
    }


class _Sides:
    """Sides of many results; equal judgments are computed once."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, int, int]] = {}

    def of(self, row: Row, votes: Votes | None, rule: Rule | None) -> tuple[int, int, int]:
        if not votes or rule is None:
            return NONE
        given = frozenset(
            (judge, criterion, tuple(values))
            for judge, by_criterion in votes.items()
            for criterion, values in by_criterion.items()
        )
        key = (row.revision, rule.similarity, given)
        if key not in self._known:
            self._known[key] = _sides(votes, rule)
        return self._known[key]


def _sides(votes: Votes, rule: Rule) -> tuple[int, int, int]:
    """Count judges that pass and fail it, and criteria on which they are split.

    A judge that did not answer every criterion has no side: its score would be of another rubric.
    """
    checks = _values(votes.get(None, {}))
    judges = {judge: _values(given) for judge, given in votes.items() if judge is not None}
    if len(judges) < 2:
        return NONE
    asked = set().union(*judges.values())
    sides = [
        rule.passes(rule.score({**checks, **values}))
        for values in judges.values()
        if values.keys() == asked and None not in values.values()
    ]
    split = sum(
        is_split(population_deviation([values.get(criterion) for values in judges.values()]))
        for criterion in asked
    )
    return sides.count(True), sides.count(False), split


def _values(given: Mapping[int, Sequence[float | None]]) -> dict[int, float | None]:
    return {criterion: consensus(values) for criterion, values in given.items()}


def _passed_in(compared: Before | None, rows: Iterable[Row]) -> dict[tuple[int, int], bool | None]:
    """Return whether the same revisions and repetitions passed in the run compared with."""
    if compared is None:
        return {}
    revisions = {row.revision for row in rows}
    found = Result.objects.filter(run=compared.run, revision__in=revisions).order_by()
    return {
        (revision, repeat): passed
        for revision, repeat, passed in found.values_list("revision_id", "repeat", "passed")
    }
