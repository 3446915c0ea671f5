"""What judges said of one result, judging by judging: votes on the whole, or a rubric's rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from evalhub.models import User
from issues.models import FrozenCriterion
from issues.rubrics.breakdown import Breakdown, breakdown_of
from issues.rubrics.scales import FIVE_CLASSES, Scale
from issues.rubrics.scoring import WHOLE_TEST
from runs.admin.result.page_parts import (
    EvaluationEntry,
    JudgeInfo,
    Text,
    judge_infos_of,
    repaired_by,
    text_or_none,
    verdict_label,
)
from runs.admin.result.rubric import CriterionVerdicts, Measure, Row, criterion_verdicts_of, rows_of
from runs.admin.result.score_breakdown import (
    Agreement,
    agreement_of,
    pass_rule_of,
    score_breakdown_of,
)
from runs.judging.jury import frozen_jury_without_prompts
from runs.judging.sent_prompts import JudgePrompt, prompts_of
from runs.models import JudgeRun, Judgment, Result, ResultScore
from runs.scoring.agreement import JudgeValue as HumanVerdict
from runs.scoring.agreement import scales_of
from runs.scoring.human_evaluation import rubric_scale
from runs.scoring.score import Rule

CALL_FIELDS = ("call__language_model", "judge")
"""What tells who gave a verdict on the whole, and who mended it."""


@dataclass(frozen=True)
class JudgeValue:
    """One judge's verdict on the whole. `judgment` None: it has not judged this result (yet)."""

    judge_info: JudgeInfo
    judgment: Judgment | None
    justification: Text | None
    prompt: JudgePrompt | None
    passed: bool | None

    @property
    def repaired_by(self) -> str:
        return repaired_by(self.judgment) if self.judgment else ""

    @property
    def words(self) -> str:
        verdict = self.judgment
        return verdict_label(verdict.option, verdict.value, self.passed) if verdict else ""


@dataclass(frozen=True)
class JudgeRunView:
    """One judging's verdict: `votes` on the whole, or the `rows` of a rubric.

    `agreement` None: it is not the current judging, or nobody judges.
    """

    judge_run: JudgeRun
    result_score: ResultScore | None
    votes: list[JudgeValue]
    rows: list[Row]
    agreement: Agreement | None


@dataclass(frozen=True)
class ResultJudgeRuns:
    """A result with all that judges said of it, and people; the revision's criteria at hand."""

    result: Result
    reader: User
    said: Sequence[EvaluationEntry]
    judge_runs: Sequence[JudgeRun]
    judge_infos: dict[int, dict[int, JudgeInfo]]
    judgments: dict[int, list[Judgment]]

    @classmethod
    def of(cls, result: Result, said: Sequence[EvaluationEntry], reader: User) -> Self:
        """Read the judgments. What a rubric's judges were asked is a page of its own."""
        rows = JudgeRun.objects.filter(run=result.run_id).select_related("run").order_by("number")
        judge_runs = list(rows)
        found = Judgment.objects.filter(result=result).select_related("criterion", "template")
        has_rubric = any(criterion.key for criterion in result.revision.criteria.all())
        judgments: dict[int, list[Judgment]] = defaultdict(list)
        for row in (found if has_rubric else found.select_related(*CALL_FIELDS)).order_by("pk"):
            judgments[row.judge_run_id].append(row)
        return cls(result, reader, said, judge_runs, judge_infos_of(judge_runs), judgments)

    @cached_property
    def rule(self) -> Rule:
        return Rule.of(self.result)

    @cached_property
    def criteria(self) -> list[FrozenCriterion]:
        """Those that are judged: the rubric, or the test as a whole where it has none."""
        rubric = [criterion for criterion in self.rule.criteria if criterion.key]
        return rubric or self.rule.criteria

    @property
    def has_rubric(self) -> bool:
        return bool(self.criteria[0].key)

    @cached_property
    def current(self) -> JudgeRun | None:
        return next((judge_run for judge_run in self.judge_runs if judge_run.is_active), None)

    @cached_property
    def judges_asked(self) -> dict[int, list[int]]:
        """Who is asked in each judging about a criterion, or about a test as a whole."""
        frozen_juries = {
            judge_run.pk: frozen_jury_without_prompts(judge_run) for judge_run in self.judge_runs
        }
        return {
            pk: [
                frozen_judge.judge_id
                for frozen_judge in frozen_jury.judges_asked(on_rubric=self.has_rubric)
            ]
            for pk, frozen_jury in frozen_juries.items()
        }

    @cached_property
    def verdicts_by_criterion(self) -> CriterionVerdicts:
        """What counts: what the current judging found, and people."""
        return self._criterion_verdicts(self.current, self.said)

    @property
    def whole(self) -> float | None:
        """What people say of the whole answer; None where nobody does."""
        (pk,) = [criterion.pk for criterion in self.rule.criteria if criterion.key == WHOLE_TEST]
        verdict = self.verdicts_by_criterion.verdicts.get(pk)
        return verdict.score if verdict else None

    @cached_property
    def rows(self) -> list[Row]:
        """The rubric as it counts; empty where there is none."""
        if not self.has_rubric:
            return []
        return self._rows(self.verdicts_by_criterion, rubric_scale(self.current))

    def judging_tasks(self) -> list[JudgeRunView]:
        result_scores = {row.judge_run_id: row for row in self.result.result_scores.all()}
        return [
            self._judge_run_view(judge_run, result_scores.get(judge_run.pk))
            for judge_run in self.judge_runs
        ]

    def score_breakdown(self) -> list[str]:
        """How the score came about."""
        return score_breakdown_of(
            self.rule, self._breakdown(self.verdicts_by_criterion), self.rows, whole=self.whole
        )

    def pass_rule(self) -> str:
        return pass_rule_of(self.rule)

    def _judge_run_view(
        self, judge_run: JudgeRun, result_score: ResultScore | None
    ) -> JudgeRunView:
        votes = [] if self.has_rubric else self._votes(judge_run)
        if judge_run is self.current:
            return JudgeRunView(judge_run, result_score, votes, self.rows, self._agreement())
        rows = (
            self._rows(self._criterion_verdicts(judge_run, ()), FIVE_CLASSES)
            if self.has_rubric
            else []
        )
        return JudgeRunView(judge_run, result_score, votes, rows, None)

    def _rows(self, verdicts_by_criterion: CriterionVerdicts, scale: Scale) -> list[Row]:
        shares = {} if self.whole is not None else self._breakdown(verdicts_by_criterion).shares
        measure = Measure(shares, self.rule.is_met, scale)
        return rows_of(self.criteria, verdicts_by_criterion, measure, self.reader)

    def _breakdown(self, verdicts_by_criterion: CriterionVerdicts) -> Breakdown:
        return breakdown_of(self.rule.points(verdicts_by_criterion.counting), self.rule.is_met)

    def _criterion_verdicts(
        self, judge_run: JudgeRun | None, said: Sequence[EvaluationEntry]
    ) -> CriterionVerdicts:
        if judge_run is None:
            return criterion_verdicts_of(self.criteria, (), (), {}, said)
        return criterion_verdicts_of(
            self.criteria,
            self.judgments[judge_run.pk],
            self.judges_asked[judge_run.pk],
            self.judge_infos[judge_run.pk],
            said,
        )

    def _agreement(self) -> Agreement | None:
        judgments = self.judgments[self.current.pk] if self.current else []
        judge_verdict = [
            h
            for criterion in self.criteria
            if (h := self.verdicts_by_criterion.judge_verdict[criterion.pk])
        ]
        if not judge_verdict or not judgments:
            return None
        human_verdicts = [HumanVerdict.of(judgment) for judgment in judgments]
        return agreement_of(
            human_verdicts,
            scales_of(human_verdict.template for human_verdict in human_verdicts),
            judge_verdict,
        )

    def _votes(self, judge_run: JudgeRun) -> list[JudgeValue]:
        judgments = self.judgments[judge_run.pk]
        prompts = (
            prompts_of(judge_run, self.result, judgments, reader=self.reader) if judgments else {}
        )
        given: dict[int | None, list[Judgment]] = defaultdict(list)
        for judgment in judgments:
            given[judgment.judge_id].append(judgment)
        return [
            self._vote(judge_info, judgment, prompts)
            for judge_info in self.judge_infos[judge_run.pk].values()
            for judgment in given[judge_info.judge_id]
            or self._pending_judges(judge_run, judge_info)
        ]

    def _pending_judges(self, judge_run: JudgeRun, judge_info: JudgeInfo) -> list[None]:
        return [None] if judge_info.judge_id in self.judges_asked[judge_run.pk] else []

    def _vote(
        self, judge_info: JudgeInfo, judgment: Judgment | None, prompts: dict[int, JudgePrompt]
    ) -> JudgeValue:
        value = judgment.value if judgment else None
        return JudgeValue(
            judge_info=judge_info,
            judgment=judgment,
            justification=text_or_none(judgment.justification) if judgment else None,
            prompt=prompts.get(judgment.pk) if judgment else None,
            passed=self.result.revision.passes(value),
        )
