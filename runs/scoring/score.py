"""Scoring: the only place that sets score and passed, of result scores and of results.

Failed judgments do not count. Active human evaluations replace the judges, on the whole test or
on single criteria.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from evalhub.models import ItemState
from evalhub.work.database import update_locked
from issues.content.revisions import scale_in
from issues.models import FrozenCriterion, JudgeTemplate
from issues.rubrics import hybrid_score
from issues.rubrics.criterion_content import SEALED
from issues.rubrics.scales import passes
from issues.rubrics.scoring import WHOLE_TEST, Point, score_of
from runs.answering.endings import Handling, handling_of
from runs.figures.run_tallies import mark_changed
from runs.models import (
    ChosenBy,
    HumanEvaluation,
    Judgment,
    Result,
    ResultScore,
)
from runs.scoring.active_evaluation_rule import Evaluation, HumanScore, human_score_of
from runs.scoring.agreement import JUDGE_VALUE_FIELDS, agreement_on, scales_of
from runs.scoring.coverage_rule import (
    Bounds,
    Coverage,
    JudgeValue,
    ScaleEnds,
    completed,
    consensus_of,
    coverage_of,
)

SCORED = ["score", "passed", "agreement", *Bounds._fields]
RESULT_SCORE_FIELDS = [*SCORED, *Coverage._fields]
OF_JUDGES = ("score", "passed", "lowest_passed", "highest_passed")
"""Fields of a result that it has twice: with overrides, and of the judges alone."""

RESULT_FIELDS = [
    *(*SCORED, "is_judged", "has_taken_verdicts", "is_overridden", "is_disputed"),
    *("judges_ended", *(f"judges_{name}" for name in OF_JUDGES)),
]

Key = tuple[int, int]
Values = Mapping[int, float | None]
"""Values by criterion id, in [0, 1]; None: not measured."""


class Rule(NamedTuple):
    """The frozen rule by which a result is scored and passes."""

    criteria: list[FrozenCriterion]
    similarity: float | None
    similarity_weight: float
    score_by_similarity: bool
    pass_threshold: float
    pass_rule: str
    scale: dict[str, Any] | None
    handling: str = Handling.JUDGED

    @classmethod
    def of(cls, result: Result) -> "Rule":
        """Return the rule of a result that was read with run, revision and criteria."""
        revision = result.revision
        return cls(
            list(revision.criteria.all()),
            result.similarity,
            result.run.similarity_weight,
            result.run.score_by_similarity,
            revision.pass_threshold,
            revision.pass_rule,
            revision.template.scale if revision.template else None,
            result.handling,
        )

    def score(self, values: Values) -> float | None:
        """Score these values of its criteria; None if nothing was measured."""
        if self.is_failed(values):
            return 0.0
        if self.is_bare(values):
            return None if self.similarity is None else hybrid_score.score_of(self.similarity)
        rubric = score_of(self.points(values), self.is_met)
        return hybrid_score.hybrid(rubric, self.similarity, self.similarity_weight)

    def outcome(self, values: Values) -> tuple[float | None, bool | None]:
        """Return the score of these values, and whether it passes."""
        score = self.score(values)
        return score, False if self.is_failed(values) else self.passes(score)

    def ends(self, verdicts: Mapping[int, HumanScore]) -> Iterator[Values]:
        """Yield the worst and the best values among differing human evaluations.

        A better value of a criterion never lowers the score, so all others lie between these.
        """
        for highest in self._highest():
            yield {
                pk: max(verdict.values) if pk in highest else min(verdict.values)
                for pk, verdict in verdicts.items()
            }

    def completions(self, votes: Sequence[JudgeValue], scales: ScaleEnds) -> Iterator[Values]:
        """Yield the worst and the best values that missing judgments allow, as `ends` does."""
        for highest in self._highest():
            yield completed(votes, scales, highest)

    def _highest(self) -> Iterator[set[int]]:
        """Yield the criteria whose values are high where the score is lowest, and highest."""
        for is_best in (False, True):
            yield {criterion.pk for criterion in self.criteria if criterion.is_inverted != is_best}

    def bounds(self, values: Values, ends: Iterable[Values] = ()) -> Bounds:
        """Return the bounds of the outcome of these values, which may also be those of `ends`."""
        every = [self.outcome(one) for one in (values, *ends)]
        if every[0][0] is None:
            return Bounds()
        known = [(score, bool(passed)) for score, passed in every if score is not None]
        (lowest, fails), (highest, passes) = min(known), max(known)
        return Bounds(lowest, highest, fails, passes)

    def is_failed(self, values: Values) -> bool:
        """Tell whether the answer broke off and fails for it, so that no judge was asked."""
        return self.handling == Handling.FAILED and not values

    def is_bare(self, values: Values) -> bool:
        """Tell whether similarity is the score because the test has no judges."""
        return self.score_by_similarity and not values and len(self.criteria) == 1

    def is_covered(self, criteria: Collection[int]) -> bool:
        """Tell whether these include every criterion of the rubric."""
        return all(c.pk in criteria for c in self.criteria if c.key != WHOLE_TEST)

    def is_met(self, score: float) -> bool | None:
        """Tell whether a mandatory criterion with this score is met, by the template's rule."""
        return scale_in(self.scale).passes(score)

    def passes(self, score: float | None) -> bool | None:
        return passes(score, self.pass_threshold, self.pass_rule)

    def points(self, values: Values) -> Iterable[Point]:
        """Yield the criteria with their values; the whole test only if it has a value."""
        for criterion in self.criteria:
            if criterion.pk in values or criterion.key != WHOLE_TEST:
                yield criterion.point(values.get(criterion.pk))


RULE_FIELDS = (
    *("similarity", "run__similarity_weight", "run__score_by_similarity"),
    *("revision__pass_threshold", "revision__pass_rule", "revision__template__scale"),
)
"""The columns of a `Rule` after its criteria and before its handling, in order."""
HANDLING = ("ending", "run__cut_off_answers", "run__broken_off_answers")


def rules_of(result_ids: Collection[int]) -> dict[int, Rule]:
    """Read the rules of many results, without texts."""
    rows = Result.objects.filter(pk__in=result_ids).order_by()
    found = list(rows.values_list("pk", "revision", *RULE_FIELDS, *HANDLING))
    criteria: dict[int, list[FrozenCriterion]] = defaultdict(list)
    asked = FrozenCriterion.objects.filter(revision__in={revision for _, revision, *_ in found})
    for criterion in asked.order_by("revision", "order").defer(*SEALED):
        criteria[criterion.revision_id].append(criterion)
    n = len(HANDLING)
    return {
        pk: Rule(criteria[revision], *rest[:-n])._replace(handling=handling_of(*rest[-n:]))
        for pk, revision, *rest in found
    }


# Judges ------------------------------------------------------------------------------------------


@transaction.atomic(savepoint=False)
def score_result_scores(
    result_scores: Collection[ResultScore], *, also: Sequence[str] = ()
) -> None:
    """Set score and passed of result scores from their judgments, and of their results.

    Args:
        also: Further changed fields to write in the same statement.
    """
    votes = _votes(result_scores)
    result_ids = {row.result_id for row in result_scores}
    rules, ends = rules_of(result_ids), _ends_of(votes.values())
    scales = scales_of(vote.template for found in votes.values() for vote in found)
    for row in result_scores:
        found, rule = votes[row.judge_run_id, row.result_id], rules[row.result_id]
        values = consensus_of(found)
        row.score, row.passed = rule.outcome(values)
        is_partial = any(vote.is_missing for vote in found)
        _set(row, rule.bounds(values, rule.completions(found, ends) if is_partial else ()))
        _set(row, coverage_of(found))
        row.agreement = agreement_on(found, scales).alpha
    update_locked(list(result_scores), [*RESULT_SCORE_FIELDS, *also])
    score_results(result_ids)


def _ends_of(votes: Iterable[Iterable[JudgeValue]]) -> ScaleEnds:
    """Return the ends of the scales of missing judgments by judge template id."""
    missing = [vote for found in votes for vote in found if vote.is_missing]
    asked = {vote.template for vote in missing if vote.template}
    rows = JudgeTemplate.objects.filter(pk__in=asked).values_list("pk", "scale") if asked else ()
    return {pk: scale_in(scale).ends for pk, scale in rows}


def _set(row: Result | ResultScore, values: Bounds | Coverage) -> None:
    for name, value in values._asdict().items():
        setattr(row, name, value)


def votes_on(result_score: ResultScore) -> list[JudgeValue]:
    """Return the judgments behind one result score; failed ones have no value."""
    return _votes([result_score])[result_score.judge_run_id, result_score.result_id]


def _votes(result_scores: Iterable[ResultScore]) -> dict[Key, list[JudgeValue]]:
    votes: dict[Key, list[JudgeValue]] = defaultdict(list)
    rows = Judgment.objects.filter(
        judge_run__in={row.judge_run_id for row in result_scores},
        result__in={row.result_id for row in result_scores},
    ).order_by()
    fields = ("judge_run_id", "result_id", *JUDGE_VALUE_FIELDS)
    for judge_run, result, *vote in rows.values_list(*fields):
        votes[judge_run, result].append(JudgeValue(*vote))
    return votes


# Judges and annotators ---------------------------------------------------------------------------


@transaction.atomic(savepoint=False)
def score_results(result_ids: Collection[int]) -> None:
    """Set score and passed of results from the active judge run and human evaluations."""
    mark_changed(rescore(result_ids))


@transaction.atomic(savepoint=False)
def rescore(result_ids: Collection[int]) -> set[int]:
    """Do what `score_results` does, and return the runs that the caller has to mark as changed.

    For many portions of results in one transaction: marked after the first of them, a run would
    be locked before the results of the others, and an annotator does it the other way round.
    """
    locked = Result.objects.select_for_update(of=("self",)).order_by("pk")
    results = list(locked.filter(pk__in=result_ids))
    active = ResultScore.objects.filter(judge_run__is_active=True, result__in=result_ids)
    current = {row.result_id: row for row in active}
    human = human_scores_of(result_ids)
    rules = rules_of(human.keys())
    votes = _votes([current[pk] for pk in human if pk in current])
    ends = _ends_of(votes.values())
    for result in results:
        result_score = current.get(result.pk)
        _apply_judge_scores(result, result_score)
        if result.pk in human:
            judged = votes[result_score.judge_run_id, result.pk] if result_score else []
            _apply_human_scores(result, human[result.pk], judged, rules[result.pk], ends)
        if result.score is None or result.state == ItemState.ERROR:
            _set(result, Bounds())
    update_locked(results, RESULT_FIELDS)
    return {result.run_id for result in results}


def _apply_judge_scores(result: Result, result_score: ResultScore | None) -> None:
    ended = result_score is not None and result_score.state in (ItemState.DONE, ItemState.ERROR)
    result.is_judged = ended and result.state == ItemState.DONE
    result.score = result_score.score if result_score else None
    result.passed = result_score.passed if result_score else None
    result.agreement = result_score.agreement if result_score else None
    result.has_taken_verdicts = bool(result_score and result_score.taken)
    has_bounds = result.score is not None and result.state != ItemState.ERROR
    known = [getattr(result_score, name) for name in Bounds._fields] if has_bounds else []
    _set(result, Bounds(*known))
    result.judges_ended = result.is_judged
    for name in OF_JUDGES:
        setattr(result, f"judges_{name}", getattr(result, name))
    result.is_overridden = result.is_disputed = False


def _apply_human_scores(
    result: Result,
    verdicts: Mapping[int, HumanScore],
    votes: Sequence[JudgeValue],
    rule: Rule,
    scales: ScaleEnds,
) -> None:
    """Replace the judges by human evaluations, criterion by criterion or as a whole.

    A verdict on the whole outranks those on criteria. Evaluations on both sides of the pass
    threshold leave the result unscored until adjudicated. There is no score while some criteria
    have neither a judgment nor a human evaluation. Of what annotators decide nothing is missing.
    """
    judged = consensus_of(votes)
    whole = next((c.pk for c in rule.criteria if c.key == WHOLE_TEST and c.pk in verdicts), None)
    if whole is not None:
        verdict = verdicts[whole]
        result.score = verdict.score
        sides = {rule.passes(value) for value in verdict.values}
        low, high = min(verdict.values), max(verdict.values)
        bounds = Bounds(low, high, bool(rule.passes(low)), bool(rule.passes(high)))
    else:
        values = {**judged, **{pk: v.score for pk, v in verdicts.items()}}
        result.score = rule.score(values)
        ends = list(rule.ends(verdicts))
        sides = {rule.passes(rule.score({**judged, **end})) for end in ends}
        worst_and_best = zip(rule.completions(votes, scales), ends, strict=True)
        bounds = rule.bounds(values, [{**judges, **human} for judges, human in worst_and_best])
    _set(result, bounds)
    result.passed = sides.pop() if len(sides) == 1 else None
    result.is_overridden, result.has_taken_verdicts = True, False
    result.is_judged |= whole is not None or rule.is_covered({*judged, *verdicts})
    if not result.is_judged:
        result.score = result.passed = None
    counting = [verdicts[whole]] if whole is not None else list(verdicts.values())
    result.is_disputed = any(verdict.is_disputed for verdict in counting)


def human_scores_of(result_ids: Collection[int]) -> dict[int, dict[int, HumanScore]]:
    """Return human scores by result and criterion id."""
    found = evaluations_in(HumanEvaluation.objects.filter(result__in=result_ids))
    scores = {
        result: {pk: score for pk, rows in by_pk.items() if (score := human_score_of(rows))}
        for result, by_pk in found.items()
    }
    return {result: by_pk for result, by_pk in scores.items() if by_pk}


def evaluations_in(rows: QuerySet[HumanEvaluation]) -> dict[int, dict[int, list[Evaluation]]]:
    """Read human evaluations, the oldest first, by result and criterion id."""
    found: dict[int, dict[int, list[Evaluation]]] = defaultdict(lambda: defaultdict(list))
    fields = ("result_id", "criterion_id", "annotator_id", "kind", "value", "chosen_by", "blind")
    for result, criterion, who, kind, value, by, blind in rows.order_by("pk").values_list(*fields):
        evaluation = Evaluation(who, kind, value, blind and by == ChosenBy.QUEUE_RANDOM)
        found[result][criterion].append(evaluation)
    return found
