"""The verdicts of a result as its page shows them: judgments of the whole, or a rubric's rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from issues.rubrics.scales import FIVE_CLASSES
from runs.admin.result.evaluation_entries import EvaluationEntry
from runs.admin.result.rubric import Row, rows_of
from runs.figures.verdict_labels import verdict_label
from runs.judging.sent_prompts import JudgePrompt, prompts_of
from runs.models import Judgment
from runs.scoring.human_evaluation import rubric_scale
from runs.scoring.verdict import JudgeInfo, ResultVerdict


@dataclass(frozen=True)
class WholeJudgment:
    """A judgment of the answer as a whole; `judgment` None until its judge has replied."""

    judge: JudgeInfo
    judgment: Judgment | None
    prompt: JudgePrompt | None
    passed: bool | None

    @property
    def label(self) -> str:
        row = self.judgment
        return verdict_label(row.option, row.value, self.passed) if row else ""


@dataclass(frozen=True)
class JudgeRunView:
    """The verdict of one judge run: `judgments` of the whole, or the `rows` of a rubric."""

    verdict: ResultVerdict
    judgments: list[WholeJudgment]
    rows: list[Row]

    @property
    def has_agreement(self) -> bool:
        """Judges were asked, and judging has begun."""
        is_asked = any(criterion.replies for criterion in self.verdict.criteria)
        return is_asked and bool(self.verdict.judgments)


def view_of(
    verdict: ResultVerdict, entries: Sequence[EvaluationEntry], reader: User
) -> JudgeRunView:
    """Prepare one judge run for a reader; `entries` are the human evaluations that count in it."""
    judge_run = verdict.judge_run
    if verdict.has_rubric:
        is_active = judge_run is None or judge_run.is_active
        scale = rubric_scale(judge_run) if is_active else FIVE_CLASSES
        return JudgeRunView(verdict, [], rows_of(verdict, entries, reader, scale))
    prompts: dict[int, JudgePrompt] = {}
    if judge_run and verdict.judgments:
        prompts = prompts_of(judge_run, verdict.result, verdict.judgments, reader=reader)
    passes = verdict.result.revision.passes
    found = []
    for reply in verdict.criteria[0].replies:
        for row in reply.judgments:
            found.append(WholeJudgment(reply.judge, row, prompts.get(row.pk), passes(row.value)))
        if not reply.judgments:
            found.append(WholeJudgment(reply.judge, None, None, None))
    return JudgeRunView(verdict, found, [])
