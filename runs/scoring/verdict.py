"""A result's verdict in the judging that decides: what was found of each criterion, and by whom."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalhub.statistics.comparisons import Comparisons
from evalhub.statistics.deviation import is_split, population_deviation
from evalhub.statistics.krippendorff import Band
from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST, consensus, inverted
from runs.judging.jury import FrozenJudge, frozen_jury_of
from runs.models import JudgeRun, Judgment, Result, ResultScore
from runs.scoring.agreement import JudgeValue, agreement_on, comparisons_of, majority, scales_of
from runs.scoring.score import consensus_of, human_scores_of


@dataclass(frozen=True)
class JudgeCoverage:
    """One judge of the panel, and how many of the verdicts that it was asked for it gave."""

    frozen_judge: FrozenJudge
    is_backup: bool
    asked: int
    answered: int

    @property
    def label(self) -> str:
        """How it judges, and which model it is, such as "holistic (model a)"."""
        approach = self.frozen_judge.approach.replace("_", "-")
        return (
            f"{'backup ' if self.is_backup else ''}{approach} ({self.frozen_judge.endpoint.name})"
        )


@dataclass(frozen=True)
class CriterionVerdict:
    """What was found of one criterion.

    Attributes:
        value: Consensus of its judges, or a check's value: how far the answer shows it, in [0, 1];
            None where none gave a value.
        human_value: The same by people, which counts instead; None where nobody spoke of it.
        deviation: Population standard deviation of the judges; None with fewer than two values.
        split: How many judges gave the same value, the most first, as 2, 1.
    """

    criterion: FrozenCriterion
    value: float | None
    human_value: float | None
    deviation: float | None
    split: list[int]
    judgments: list[Judgment]

    @property
    def score(self) -> float | None:
        """How good that is: a "should not" is the better the less it is shown."""
        value = self.value if self.human_value is None else self.human_value
        return inverted(value) if self.criterion.is_inverted else value

    @property
    def is_split(self) -> bool:
        return is_split(self.deviation)


@dataclass(frozen=True)
class ResultVerdict:
    """All that the deciding judging found of one result.

    `alpha` None: it has no value, for the reason that `band` gives. `units` criteria have values
    of two judges or more. `human_value` is what people say of the whole answer.
    """

    judge_run: JudgeRun
    result_score: ResultScore
    alpha: float | None
    band: Band
    units: int
    comparisons: Comparisons
    judges: list[JudgeCoverage]
    criteria: list[CriterionVerdict]
    human_value: float | None

    @property
    def consensus(self) -> str:
        """Whose values made it, in the order of the jury; "" where nobody gave one."""
        return ", ".join(judge.label for judge in self.judges if judge.answered)


def verdict_on(result: Result) -> ResultVerdict | None:
    """The verdict of the judging that decides; None where it has not one.

    The number of queries is the same for any number of criteria and judges.
    """
    mine = result.result_scores.filter(judge_run__is_active=True).select_related("judge_run")
    if (result_score := mine.first()) is None:
        return None
    judgments = _judgments(result_score)
    votes = [JudgeValue.of(judgment) for judgment in judgments]
    agreement = agreement_on(votes, scales_of(vote.template for vote in votes))
    annotators = {
        pk: said.score for pk, said in human_scores_of([result.pk]).get(result.pk, {}).items()
    }
    criteria = list(FrozenCriterion.objects.filter(revision=result.revision_id).order_by("order"))
    rubric = [criterion for criterion in criteria if criterion.key != WHOLE_TEST]
    return ResultVerdict(
        judge_run=result_score.judge_run,
        result_score=result_score,
        alpha=agreement.alpha,
        band=agreement.band,
        units=agreement.units,
        comparisons=comparisons_of(votes),
        judges=_judge_coverages(result_score.judge_run, votes, on_rubric=bool(rubric)),
        criteria=_criterion_verdicts(rubric or criteria, votes, judgments, annotators),
        human_value=next((annotators.get(c.pk) for c in criteria if c.key == WHOLE_TEST), None),
    )


def _judgments(result_score: ResultScore) -> list[Judgment]:
    rows = Judgment.objects.filter(
        judge_run=result_score.judge_run_id, result=result_score.result_id
    )
    rows = rows.select_related("criterion", "judge__language_model", "judge__template", "template")
    return list(rows.order_by("criterion__order", "is_backup", "judge", "sample"))


def _criterion_verdicts(
    criteria: Iterable[FrozenCriterion],
    votes: Sequence[JudgeValue],
    judgments: Iterable[Judgment],
    annotators: Mapping[int, float],
) -> list[CriterionVerdict]:
    values = consensus_of(votes)
    samples: dict[int, dict[int, list[float | None]]] = defaultdict(lambda: defaultdict(list))
    rows: dict[int, list[Judgment]] = defaultdict(list)
    for judgment in judgments:
        rows[judgment.criterion_id].append(judgment)
        if judgment.judge_id is not None:
            samples[judgment.criterion_id][judgment.judge_id].append(judgment.value)
    return [
        CriterionVerdict(
            criterion=criterion,
            value=values.get(criterion.pk),
            human_value=annotators.get(criterion.pk),
            deviation=population_deviation([consensus(v) for v in samples[criterion.pk].values()]),
            split=_split(samples[criterion.pk].values()),
            judgments=rows[criterion.pk],
        )
        for criterion in criteria
    ]


def _split(samples: Iterable[Iterable[float | None]]) -> list[int]:
    given = (majority(value for value in one if value is not None) for one in samples)
    return [n for _, n in Counter(value for value in given if value is not None).most_common()]


def _judge_coverages(
    judge_run: JudgeRun, votes: Sequence[JudgeValue], *, on_rubric: bool
) -> list[JudgeCoverage]:
    """Those who were asked, or are still to be, in the order of the jury; the backup if it was."""
    frozen_jury = frozen_jury_of(judge_run)
    judges_asked = frozen_jury.judges_asked(on_rubric=on_rubric)
    asked = Counter(vote.judge for vote in votes)
    answered = Counter(vote.judge for vote in votes if vote.value is not None)
    return [
        JudgeCoverage(
            frozen_judge,
            frozen_judge is frozen_jury.backup,
            asked[frozen_judge.judge_id],
            answered[frozen_judge.judge_id],
        )
        for frozen_judge in frozen_jury.everyone
        if asked[frozen_judge.judge_id] or any(frozen_judge is other for other in judges_asked)
    ]
