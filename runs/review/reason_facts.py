"""Facts of a run's answers that may be reasons for review."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.db.models import F

from evalhub.models import ItemState
from evalhub.statistics.deviation import is_split, population_deviation
from issues.rubrics.scoring import consensus
from runs.models import JudgeRun, Judgment, Outcome, Result, ResultScore, Run
from runs.review.reasons import Facts
from runs.scoring.score import Rule, rules_of

Votes = Mapping[int | None, Mapping[int, Sequence[float | None]]]
"""Values of one answer by judge (None: checks), and by criterion; a failed one is None."""
Sides = tuple[int, int, int]


def facts_of(run: Run, result_ids: Collection[int], opponent: Run | None) -> dict[int, Facts]:
    """Read the facts of these results, in a constant number of queries.

    `opponent` is the run that flips are counted against, if any.
    """
    rows = Result.objects.filter(pk__in=result_ids).values_list(
        "pk",
        "revision_id",
        "repeat",
        "weight",
        "judges_passed",
        "agreement",
        "is_disputed",
        "outcome",
        named=True,
    )
    judge_run = JudgeRun.objects.filter(run=run, is_active=True).first()
    votes = _votes(judge_run, result_ids)
    coverage = _coverage(judge_run, result_ids)
    sides = _sides_of(votes, {row.pk: row.revision_id for row in rows})
    earlier = _passed_in(opponent, {row.revision_id for row in rows}) if opponent else {}
    facts = {}
    for row in rows:
        passing, failing, split = sides.get(row.pk, (0, 0, 0))
        expected, answered = coverage.get(row.pk, (0, 0))
        facts[row.pk] = Facts(
            is_disputed=row.is_disputed,
            passing=passing,
            failing=failing,
            split=split,
            expected=expected,
            answered=answered,
            is_unscored=row.outcome == Outcome.UNSCORED and not row.is_disputed,
            agreement=row.agreement,
            weight=row.weight,
            passed=row.judges_passed,
            passed_before=earlier.get((row.revision_id, row.repeat)),
            before=opponent.release or opponent.label if opponent else "",
        )
    return facts


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
    given = F("answered") + F("replaced")
    rows = ended.values_list("result_id", "expected", given, "state")
    # An error may have ended judging before all expected judgments were counted.
    return {
        pk: (max(expected, given + 1) if state == ItemState.ERROR else expected, given)
        for pk, expected, given, state in rows
    }


def _sides_of(votes: Mapping[int, Votes], revisions: Mapping[int, int]) -> dict[int, Sides]:
    """Return the sides by result; equal judgments are computed once."""
    rules = rules_of(votes.keys())
    known: dict[Any, Sides] = {}
    found = {}
    for pk, by_judge in votes.items():
        given = frozenset(
            (judge, criterion, tuple(values))
            for judge, by_criterion in by_judge.items()
            for criterion, values in by_criterion.items()
        )
        key = revisions[pk], rules[pk].similarity, given
        if key not in known:
            known[key] = _sides(by_judge, rules[pk])
        found[pk] = known[key]
    return found


def _sides(votes: Votes, rule: Rule) -> Sides:
    """Count judges that pass and fail it, and criteria on which they are split.

    A judge that did not answer every criterion has no side: its score would be of another rubric.
    """
    judges = {
        judge: {criterion: consensus(values) for criterion, values in given.items()}
        for judge, given in votes.items()
    }
    checks = judges.pop(None, {})
    if len(judges) < 2:
        return 0, 0, 0
    criteria = set().union(*judges.values())
    sides = [
        rule.passes(rule.score({**checks, **values}))
        for values in judges.values()
        if values.keys() == criteria and None not in values.values()
    ]
    split = sum(
        is_split(population_deviation([values.get(criterion) for values in judges.values()]))
        for criterion in criteria
    )
    return sides.count(True), sides.count(False), split


def _passed_in(opponent: Run, revisions: Collection[int]) -> dict[tuple[int, int], bool | None]:
    """Return whether these revisions passed for the judges of the run, by revision and repeat."""
    rows = Result.objects.filter(run=opponent, revision__in=revisions).order_by()
    return {
        (revision, repeat): passed
        for revision, repeat, passed in rows.values_list("revision_id", "repeat", "judges_passed")
    }
