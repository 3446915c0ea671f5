"""Scoring: the one place that sets score and passed, of assessments and of results.

A judge that failed is no vote. People win: where evaluations stand, they replace the judges, on
the whole test or on the criteria that they speak of.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction

from evalhub.models import ItemState
from evalhub.work.rows import overwrite
from issues.models import FrozenCriterion
from issues.revisions import scale_in
from issues.rubrics import hybrid_score
from issues.rubrics.scales import passes
from issues.rubrics.scoring import WHOLE_TEST, Point, jury_value, score_of
from runs.models import HumanEvaluation, Judgment, Result, ResultScore
from runs.scoring.active_evaluations import Evaluation, HumanScore, human_score_of
from runs.scoring.agreement import JUDGE_VALUE_FIELDS, JudgeValue, agreement_on, scales_of

RESULT_SCORE_FIELDS = ["score", "passed", "agreement", "answered", "expected"]
RESULT_FIELDS = ["score", "passed", "agreement", "is_judged", "is_overridden", "is_disputed"]

Key = tuple[int, int]
Values = Mapping[int, float | None]
"""What was found of each criterion, by its id."""


class Rule(NamedTuple):
    """How a result's score is made and when it passes, as its revision and its run froze it."""

    criteria: list[FrozenCriterion]
    similarity: float | None
    similarity_weight: float
    score_by_similarity: bool
    pass_threshold: float
    pass_rule: str
    scale: dict[str, Any] | None

    @classmethod
    def of(cls, result: Result) -> "Rule":
        """That of a result which was read with its run, revision and criteria."""
        revision = result.revision
        return cls(
            list(revision.criteria.all()),
            result.similarity,
            result.run.similarity_weight,
            result.run.score_by_similarity,
            revision.pass_threshold,
            revision.pass_rule,
            revision.template.scale if revision.template else None,
        )

    def score(self, values: Values) -> float | None:
        """The score that these values of its criteria come to; None where nothing was measured."""
        if self.is_bare(values):
            return None if self.similarity is None else hybrid_score.score_of(self.similarity)
        rubric = score_of(self.points(values), self.is_met)
        return hybrid_score.hybrid(rubric, self.similarity, self.similarity_weight)

    def ends(self, verdicts: Mapping[int, HumanScore]) -> Iterator[Values]:
        """What people found of criteria at the worst and at the best, where they differ.

        A better value of a criterion never lowers the score, so all else lies between these.
        """
        bad_to_show = {criterion.pk for criterion in self.criteria if criterion.is_inverted}
        for is_best in (False, True):
            yield {
                pk: max(verdict.values) if is_best != (pk in bad_to_show) else min(verdict.values)
                for pk, verdict in verdicts.items()
            }

    def is_bare(self, values: Values) -> bool:
        """Whether nothing judges it, and its suite asks for the similarity then."""
        return self.score_by_similarity and not values and len(self.criteria) == 1

    def is_covered(self, criteria: Collection[int]) -> bool:
        """Whether these are all that its rubric has."""
        return all(c.pk in criteria for c in self.criteria if c.key != WHOLE_TEST)

    def is_met(self, score: float) -> bool | None:
        """Whether a mandatory criterion with this score is met: by the template's own rule."""
        return scale_in(self.scale).passes(score)

    def passes(self, score: float | None) -> bool | None:
        return passes(score, self.pass_threshold, self.pass_rule)

    def points(self, values: Values) -> Iterable[Point]:
        """The criteria with what was found of each; the whole test only where it has a value."""
        for criterion in self.criteria:
            if criterion.pk in values or criterion.key != WHOLE_TEST:
                yield Point(
                    criterion.key,
                    values.get(criterion.pk),
                    criterion.weight,
                    criterion.is_inverted,
                    criterion.alternative,
                    criterion.mandatory,
                )


RULE_FIELDS = (
    "similarity",
    "run__similarity_weight",
    "run__score_by_similarity",
    "revision__pass_threshold",
    "revision__pass_rule",
    "revision__template__scale",
)
"""Where the rest of a `Rule` stands, in its order."""


def rules_of(result_ids: Collection[int]) -> dict[int, Rule]:
    """The rules of many results, from the columns that scoring needs, and no text."""
    rows = Result.objects.filter(pk__in=result_ids).order_by()
    found = list(rows.values_list("pk", "revision", *RULE_FIELDS))
    criteria: dict[int, list[FrozenCriterion]] = defaultdict(list)
    asked = FrozenCriterion.objects.filter(revision__in={revision for _, revision, *_ in found})
    for criterion in asked.order_by("revision", "order").defer("text", "arguments", "citation"):
        criteria[criterion.revision_id].append(criterion)
    return {pk: Rule(criteria[revision], *rest) for pk, revision, *rest in found}


# Judges ------------------------------------------------------------------------------------------


@transaction.atomic(savepoint=False)
def score_result_scores(
    result_scores: Collection[ResultScore], *, also: Sequence[str] = ()
) -> None:
    """Set score and passed of assessments from their judgments, and of their results.

    Args:
        assessments: Rows as they were read.
        also: Further fields in which the rows were changed, to be written in the same statement.
    """
    votes = _votes(result_scores)
    rules = rules_of({result_score.result_id for result_score in result_scores})
    scales = scales_of(vote.template for found in votes.values() for vote in found)
    for result_score in result_scores:
        found = votes[result_score.judge_run_id, result_score.result_id]
        rule = rules[result_score.result_id]
        result_score.score = rule.score(consensus_of(found))
        result_score.passed = rule.passes(result_score.score)
        result_score.agreement = agreement_on(found, scales).alpha
        result_score.answered, result_score.expected = _coverage(found)
    overwrite(list(result_scores), [*RESULT_SCORE_FIELDS, *also])
    score_results({result_score.result_id for result_score in result_scores})


def _coverage(votes: Iterable[JudgeValue]) -> tuple[int, int]:
    """How many judgments gave a value, of how many that judges were asked for.

    A backup judge makes good for another on its own criterion, and on no other.
    """
    answered: Counter[int] = Counter()
    expected: Counter[int] = Counter()
    for vote in votes:
        if vote.judge is not None:
            answered[vote.criterion] += vote.value is not None
            expected[vote.criterion] += not vote.is_backup
    return (answered & expected).total(), expected.total()


def consensus_of(votes: Iterable[JudgeValue]) -> dict[int, float | None]:
    """What the panel (or a check) found of each criterion, by the criterion's id."""
    samples: dict[int, dict[int | None, list[float | None]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for vote in votes:
        samples[vote.criterion][vote.judge].append(vote.value)
    return {criterion: jury_value(by_judge) for criterion, by_judge in samples.items()}


def votes_on(result_score: ResultScore) -> list[JudgeValue]:
    """The judgments of one assessment; those that failed have no value."""
    return _votes([result_score])[result_score.judge_run_id, result_score.result_id]


def _votes(result_scores: Iterable[ResultScore]) -> dict[Key, list[JudgeValue]]:
    """The judgments of each assessment; those that failed have no value."""
    votes: dict[Key, list[JudgeValue]] = defaultdict(list)
    rows = Judgment.objects.filter(
        judge_run__in={result_score.judge_run_id for result_score in result_scores},
        result__in={result_score.result_id for result_score in result_scores},
    ).order_by()
    fields = ("judge_run_id", "result_id", *JUDGE_VALUE_FIELDS)
    for judge_run, result, *vote in rows.values_list(*fields):
        votes[judge_run, result].append(JudgeValue(*vote))
    return votes


# Judges and people -------------------------------------------------------------------------------


@transaction.atomic(savepoint=False)
def score_results(result_ids: Collection[int]) -> None:
    """Set score and passed of results from the current judging and from people."""
    locked = Result.objects.select_for_update(of=("self",)).order_by("pk")
    results = list(locked.filter(pk__in=result_ids))
    current = {
        result_score.result_id: result_score
        for result_score in ResultScore.objects.filter(
            judge_run__is_active=True, result__in=result_ids
        )
    }
    for result in results:
        _apply_judge_scores(result, current.get(result.pk))
    if verdicts := human_scores_of(result_ids):
        _apply_human_evaluations(
            [result for result in results if result.pk in verdicts], verdicts, current
        )
    overwrite(results, RESULT_FIELDS)


def _apply_human_evaluations(
    results: Iterable[Result],
    verdicts: Mapping[int, Mapping[int, HumanScore]],
    current: Mapping[int, ResultScore],
) -> None:
    """Let people's verdicts replace what the judges found of these results."""
    rules = rules_of(verdicts.keys())
    votes = _votes([current[pk] for pk in verdicts if pk in current])
    for result in results:
        result_score = current.get(result.pk)
        judged = votes[result_score.judge_run_id, result.pk] if result_score else []
        _apply_human_scores(result, verdicts[result.pk], consensus_of(judged), rules[result.pk])


def _apply_judge_scores(result: Result, result_score: ResultScore | None) -> None:
    ended = result_score is not None and result_score.state in (ItemState.DONE, ItemState.ERROR)
    result.is_judged = ended and result.state == ItemState.DONE
    result.score = result_score.score if result_score else None
    result.passed = result_score.passed if result_score else None
    result.agreement = result_score.agreement if result_score else None
    result.is_overridden = result.is_disputed = False


def _apply_human_scores(
    result: Result, verdicts: Mapping[int, HumanScore], judged: Values, rule: Rule
) -> None:
    """What people say replaces what the judges found, criterion by criterion or as a whole.

    A verdict on the whole outranks those on criteria. Evaluations that lie on both sides of the
    pass line decide nothing until adjudicated. While judges are still to come, and nobody has
    spoken of some of the criteria, there is no score.
    """
    whole = next((c.pk for c in rule.criteria if c.key == WHOLE_TEST and c.pk in verdicts), None)
    if whole is not None:
        verdict = verdicts[whole]
        result.score = verdict.score
        sides = {rule.passes(value) for value in verdict.values}
    else:
        result.score = rule.score({**judged, **{pk: v.score for pk, v in verdicts.items()}})
        sides = {rule.passes(rule.score({**judged, **end})) for end in rule.ends(verdicts)}
    result.passed = sides.pop() if len(sides) == 1 else None
    result.is_overridden = True
    result.is_judged |= whole is not None or rule.is_covered({*judged, *verdicts})
    if not result.is_judged:
        result.score = result.passed = None
    counting = [verdicts[whole]] if whole is not None else list(verdicts.values())
    result.is_disputed = any(verdict.is_disputed for verdict in counting)


def human_scores_of(result_ids: Collection[int]) -> dict[int, dict[int, HumanScore]]:
    """What people say of each result that they speak of, by criterion."""
    found: dict[Key, list[Evaluation]] = defaultdict(list)
    rows = HumanEvaluation.objects.filter(result__in=result_ids).order_by("pk")
    fields = ("result_id", "criterion_id", "annotator_id", "kind", "value")
    for result, criterion, annotator, kind, value in rows.values_list(*fields):
        found[result, criterion].append(Evaluation(annotator, kind, value))
    verdicts: dict[int, dict[int, HumanScore]] = defaultdict(dict)
    for (result, criterion), evaluations in found.items():
        if (verdict := human_score_of(evaluations)) is not None:
            verdicts[result][criterion] = verdict
    return verdicts
