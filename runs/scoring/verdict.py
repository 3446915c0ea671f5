"""A result's verdict: judgments, checks and human evaluations by criterion, and their score.

The API, the result page and the review queue read it from here, and from nowhere else.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalhub.models import LanguageModel
from evalhub.statistics.agreement.pair_coverage import Comparisons
from evalhub.statistics.deviation import is_split, population_deviation
from issues.models import FrozenCriterion
from issues.rubrics.breakdown import Breakdown, breakdown_of
from issues.rubrics.scoring import WHOLE_TEST, consensus, inverted, jury_value
from runs.figures.run_labels import judges_itself
from runs.judging.jury import FrozenJudge, frozen_jury_of
from runs.models import HumanEvaluation, JudgeRun, Judgment, Result, ResultScore
from runs.scoring.active_evaluation_rule import HumanScore, human_score_of
from runs.scoring.agreement import (
    Agreement,
    agreement_on,
    comparisons_of,
    judge_value_of,
    majority,
    scales_of,
)
from runs.scoring.coverage_rule import JudgeValue, consensus_of, counting
from runs.scoring.score import Rule
from runs.scoring.verdict_rows import JUDGED_WITH, evaluations_of, judgments_of


class CriterionValue(NamedTuple):
    """The consensus on one criterion, in [0, 1], and the judges' population deviation.

    `consensus` None: no judge or check gave a value. `deviation` None: fewer than two judges did.
    """

    consensus: float | None
    deviation: float | None

    @classmethod
    def of(cls, values: Iterable[tuple[int | None, float | None]]) -> "CriterionValue":
        """From pairs of judge and value, one per sample; judge None is a check."""
        samples: dict[int | None, list[float | None]] = defaultdict(list)
        for judge, value in values:
            samples[judge].append(value)
        judges = [consensus(given) for judge, given in samples.items() if judge is not None]
        return cls(jury_value(samples), population_deviation(judges))

    @property
    def is_split(self) -> bool:
        return is_split(self.deviation)


@dataclass(frozen=True)
class JudgeInfo:
    """A judge of a judge run, by copy. `note` is the note on its model as it is now."""

    frozen_judge: FrozenJudge
    is_backup: bool
    is_candidate: bool
    note: str

    @property
    def judge_id(self) -> int:
        return self.frozen_judge.judge_id

    @property
    def name(self) -> str:
        return self.frozen_judge.name

    @property
    def is_scripted(self) -> bool:
        return self.frozen_judge.endpoint.is_scripted

    @property
    def label(self) -> str:
        """Approach and model, as in "holistic (model a)"."""
        approach = self.frozen_judge.approach.replace("_", "-")
        return (
            f"{'backup ' if self.is_backup else ''}{approach} ({self.frozen_judge.endpoint.name})"
        )


class JudgeCoverage(NamedTuple):
    """The number of judgments asked of a judge, and of those that gave a value."""

    judge: JudgeInfo
    asked: int
    answered: int


@dataclass(frozen=True)
class JudgeReply:
    """A judge's judgments of one criterion, one per sample; empty until it has judged."""

    judge: JudgeInfo
    judgments: list[Judgment]

    @property
    def values(self) -> list[float]:
        return [row.value for row in self.judgments if row.value is not None]

    @property
    def value(self) -> float | None:
        return consensus(self.values)

    @property
    def failed(self) -> int:
        return len(self.judgments) - len(self.values)

    @property
    def shares(self) -> list[tuple[str, int]]:
        """Options with the number of samples that chose each, most frequent first."""
        return Counter(row.option for row in self.judgments if row.value is not None).most_common()

    @property
    def certainty(self) -> float | None:
        """The share of the most frequent option; None for a single sample."""
        is_sampled = len(self.judgments) > 1 and self.values
        return self.shares[0][1] / len(self.values) if is_sampled else None


@dataclass(frozen=True)
class CriterionVerdict:
    """The verdict on one criterion, or on the test as a whole (key "").

    `replies` has the judges that are asked about it, in the order of the jury; none for a check.
    `human` replaces the judges' values.
    """

    criterion: FrozenCriterion
    judgments: list[Judgment]
    replies: list[JudgeReply]
    human: HumanScore | None

    @cached_property
    def _judged(self) -> CriterionValue:
        return CriterionValue.of((row.judge_id, row.value) for row in counting(self.judgments))

    @property
    def value(self) -> float | None:
        """The consensus of the judges, or the check's value."""
        return self._judged.consensus

    @property
    def deviation(self) -> float | None:
        return self._judged.deviation

    @property
    def is_split(self) -> bool:
        return self._judged.is_split

    @property
    def human_value(self) -> float | None:
        return self.human.score if self.human else None

    @property
    def extent(self) -> float | None:
        """The extent to which the answer shows it, by annotators or else by judges."""
        return self.value if self.human is None else self.human.score

    @property
    def score(self) -> float | None:
        """The extent, inverted for a "should not"."""
        return inverted(self.extent) if self.criterion.is_inverted else self.extent

    @property
    def split(self) -> list[int]:
        """The numbers of judges that gave the same value, largest first."""
        counted = {row.judge_id for row in counting(self.judgments)}
        replies = [reply for reply in self.replies if reply.judge.judge_id in counted]
        values = [majority(reply.values) for reply in replies]
        return [n for _, n in Counter(v for v in values if v is not None).most_common()]

    @property
    def split_label(self) -> str:
        """The split as "2 : 1" or "3 : 0"; "" with fewer than two values."""
        split = self.split if len(self.split) > 1 else [*self.split, 0]
        return " : ".join(map(str, split)) if sum(split) > 1 else ""

    @property
    def failed(self) -> int:
        """The number of judgments without a value."""
        return sum(row.value is None for row in self.judgments)

    @property
    def check(self) -> Judgment | None:
        return next((row for row in self.judgments if row.judge_id is None), None)

    @property
    def is_judged(self) -> bool:
        return bool(self.judgments) or self.human is not None


@dataclass(frozen=True)
class ResultVerdict:
    """A result's verdict in one judge run.

    `criteria` are those of the rubric, or the test as a whole where there is none. `human` has the
    annotators' scores by criterion id, in the active judge run only. `judge_run` None: the run has
    no active judge run. `result_score` None: the judge run does not cover the result.
    """

    result: Result
    judge_run: JudgeRun | None
    result_score: ResultScore | None
    judges: list[JudgeInfo]
    judgments: list[Judgment]
    criteria: list[CriterionVerdict]
    human: Mapping[int, HumanScore]
    whole: HumanScore | None

    @property
    def has_rubric(self) -> bool:
        return self.criteria[0].criterion.key != WHOLE_TEST

    @property
    def single_split(self) -> str:
        """The split of judges, if they are asked about a single criterion; else ""."""
        asked = [criterion for criterion in self.criteria if criterion.replies]
        return asked[0].split_label if len(asked) == 1 else ""

    @property
    def human_value(self) -> float | None:
        """The annotators' score of the whole answer, which outranks everything else."""
        return self.whole.score if self.whole else None

    @cached_property
    def rule(self) -> Rule:
        return Rule.of(self.result)

    @cached_property
    def breakdown(self) -> Breakdown:
        """The parts of the score: human values where given, else those of judges and checks."""
        human = {pk: found.score for pk, found in self.human.items()}
        points = self.rule.points({**consensus_of(self._judge_values), **human})
        return breakdown_of(points, self.rule.is_met)

    @cached_property
    def agreement(self) -> Agreement:
        return agreement_on(
            self._judge_values,
            scales_of((row.template_id for row in self.judgments), self.result.revision.template),
        )

    @cached_property
    def comparisons(self) -> Comparisons:
        return comparisons_of(self._judge_values)

    @cached_property
    def _judge_values(self) -> list[JudgeValue]:
        return [judge_value_of(judgment) for judgment in self.judgments]

    @cached_property
    def coverage(self) -> list[JudgeCoverage]:
        asked = Counter(row.judge_id for row in self.judgments)
        answered = Counter(row.judge_id for row in self.judgments if row.value is not None)
        return [JudgeCoverage(j, asked[j.judge_id], answered[j.judge_id]) for j in self.judges]

    @property
    def consensus(self) -> str:
        """The judges behind the consensus, in the order of the jury; "" if none gave a value."""
        counted = [row for verdict in self.criteria for row in counting(verdict.judgments)]
        behind = {row.judge_id for row in counted if row.value is not None}
        return ", ".join(judge.label for judge in self.judges if judge.judge_id in behind)


class ResultVerdicts(NamedTuple):
    """A result's verdicts: in the active judge run, and in the others, newest first.

    `evaluations` are all human evaluations, withdrawals included, oldest first.
    """

    active: ResultVerdict
    inactive: list[ResultVerdict]
    evaluations: list[HumanEvaluation]


def verdicts_on(
    result: Result, *, with_calls: bool = False, with_judges: bool = False
) -> ResultVerdicts:
    """Read the verdicts on a result; the number of queries does not depend on their size.

    Args:
        with_calls: Read the judges' calls too, for a test without a rubric.
        with_judges: Read the judges of judgments too, with what names them.
    """
    every = list(result.revision.criteria.all())
    rubric = [criterion for criterion in every if criterion.key != WHOLE_TEST]
    judge_runs = list(JudgeRun.objects.filter(run=result.run_id).order_by("-number"))
    for one in judge_runs:
        one.run = result.run
    related = [*JUDGED_WITH] if with_judges else []
    related += ["call"] if with_calls and not rubric else []
    judgments = judgments_of(result, judge_runs, every, related)
    scores = {row.judge_run_id: row for row in ResultScore.objects.filter(result=result).order_by()}
    judges = judge_infos_of(judge_runs)
    evaluations = evaluations_of(result, every)

    def verdict(judge_run: JudgeRun | None, human: Mapping[int, HumanScore]) -> ResultVerdict:
        pk = judge_run.pk if judge_run else 0
        ids = {row.judge_id for row in judgments[pk]}
        if judge_run:
            jury = frozen_jury_of(judge_run.jury, with_templates=False)
            ids |= {judge.judge_id for judge in jury.judges_asked(on_rubric=bool(rubric))}
        asked = [judge for judge_id, judge in judges.get(pk, {}).items() if judge_id in ids]
        return ResultVerdict(
            result=result,
            judge_run=judge_run,
            result_score=scores.get(pk),
            judges=asked,
            judgments=judgments[pk],
            criteria=_criterion_verdicts(rubric or every, asked, judgments[pk], human),
            human=human,
            whole=next((human.get(c.pk) for c in every if c.key == WHOLE_TEST), None),
        )

    active = next((judge_run for judge_run in judge_runs if judge_run.is_active), None)
    inactive = [verdict(judge_run, {}) for judge_run in judge_runs if judge_run is not active]
    return ResultVerdicts(verdict(active, _human_scores(evaluations)), inactive, evaluations)


def _human_scores(evaluations: Iterable[HumanEvaluation]) -> Mapping[int, HumanScore]:
    """Return the score by annotators of each criterion that has one."""
    by_criterion: dict[int, list[HumanEvaluation]] = defaultdict(list)
    for evaluation in evaluations:
        by_criterion[evaluation.criterion_id].append(evaluation)
    return {pk: score for pk, rows in by_criterion.items() if (score := human_score_of(rows))}


def _criterion_verdicts(
    criteria: Iterable[FrozenCriterion],
    judges: Sequence[JudgeInfo],
    judgments: Iterable[Judgment],
    human: Mapping[int, HumanScore],
) -> list[CriterionVerdict]:
    given: dict[int, list[Judgment]] = defaultdict(list)
    for row in judgments:
        given[row.criterion_id].append(row)
    verdicts = []
    for criterion in criteria:
        mine, replies = given[criterion.pk], []
        for judge in [] if criterion.check_name else judges:
            replied = [row for row in mine if row.judge_id == judge.judge_id]
            if replied or not judge.is_backup:
                replies.append(JudgeReply(judge, replied))
        verdicts.append(CriterionVerdict(criterion, mine, replies, human.get(criterion.pk)))
    return verdicts


def judge_infos_of(judge_runs: Iterable[JudgeRun]) -> dict[int, dict[int, JudgeInfo]]:
    """Return the judges of each judge run by id, in the order of the jury, the backup last.

    One query. The judge runs were read with their run.
    """
    juries = [(one, frozen_jury_of(one.jury, with_templates=False)) for one in judge_runs]
    ids = {j.endpoint.language_model_id for _, jury in juries for j in jury.everyone}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    return {
        judge_run.pk: {
            judge.judge_id: JudgeInfo(
                judge,
                judge is jury.backup,
                judges_itself(judge_run.run, judge.endpoint.to_json()),
                notes.get(judge.endpoint.language_model_id, ""),
            )
            for judge in jury.everyone
        }
        for judge_run, jury in juries
    }
