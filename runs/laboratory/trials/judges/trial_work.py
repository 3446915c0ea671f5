"""Background work of a trial: judge each claim in each order, and save the score."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.word_vectors import NoWordVectors
from evalhub.work.calls.caller import ModelCaller
from issues.judge_templates.pairwise_prompt import Choice, PairVerdict
from issues.judge_templates.prompts import PromptError, variables_of
from runs.judging.ask_judge import UNASKABLE, JudgeReply, ask_judge, ask_pair
from runs.judging.jury import FrozenJudge
from runs.judging.prompts import JudgePromptTemplate
from runs.judging.verdict_work import VerdictKind, VerdictRequest
from runs.laboratory.trials.claims.claim_prompts import ClaimTexts
from runs.laboratory.trials.judges.metrics import METRICS, Metric
from runs.laboratory.trials.judges.trial_control import choose_threshold
from runs.laboratory.trials.judges.trial_judges import POINTS, score_of
from runs.laboratory.trials.models import ClaimJudgment, ClaimKind, Trial
from runs.models import Approach

BETTER, WORSE = 1.0 + POINTS, 1.0
"""Scores of a rank claim whose first text is better, or not."""


class MetricScore(NamedTuple):
    """The score of a metric, which has no reasons."""

    score: float
    justification: str = ""
    repaired: bool = False


class TrialKind(VerdictKind[Trial, ClaimJudgment]):
    """The work of a trial; each of its judgments is an item."""

    batch_model, item_model, batch_field = Trial, ClaimJudgment, "trial"
    value_fields = ("score",)

    def endpoints(self, batch: Trial) -> list[Endpoint]:
        return [Endpoint.from_json(batch.endpoint)] if batch.endpoint else []

    def prepare(self, batch: Trial, item_ids: Sequence[int]) -> list[VerdictRequest]:
        """Name no sealed test: a sealed benchmark is sent to trusted addresses only."""
        frozen_judge = frozen_judge_of(batch)
        ask = partial(_ask, frozen_judge) if frozen_judge else partial(measured, batch.metric)
        rows = ClaimJudgment.objects.filter(pk__in=item_ids).select_related(
            "claim__left", "claim__right", "claim__anchor", "claim__idea"
        )
        return [VerdictRequest(row.pk, partial(ask, texts_of(row))) for row in rows]

    def values_of(self, item: ClaimJudgment, verdict: Any) -> tuple[float]:
        if isinstance(verdict, PairVerdict):
            return (BETTER if verdict.choice is Choice.FIRST else WORSE,)
        return (verdict.score if isinstance(verdict, MetricScore) else score_of(verdict.value),)

    def finish(self, batch: Trial) -> None:
        if batch.tunes_threshold:
            choose_threshold(batch)


def frozen_judge_of(trial: Trial) -> FrozenJudge | None:
    """Return the judge as it was when the trial started; None: it is a metric."""
    if trial.template is None or trial.endpoint is None:
        return None
    endpoint = Endpoint.from_json(trial.endpoint)
    return FrozenJudge(
        judge_id=0,
        name=trial.judge_name,
        endpoint=endpoint,
        approach=Approach.TEMPLATE,
        params={},
        samples=1,
        whole=JudgePromptTemplate.of(trial.template),
        rubric=None,
    )


def texts_of(judgment: ClaimJudgment) -> ClaimTexts:
    """Return the texts of a judgment in the order in which they are shown."""
    claim = judgment.claim
    first, second = claim.left.text, claim.right.text
    if judgment.order:
        first, second = second, first
    is_part = claim.kind in (ClaimKind.PART, ClaimKind.CONTEXT)
    part = claim.idea.name if is_part else ""
    return ClaimTexts(claim.kind, first, second, part, claim.anchor.text if claim.anchor else "")


async def measured(metric: str, texts: ClaimTexts, caller: ModelCaller) -> JudgeReply[MetricScore]:
    """Return a metric's score, without a call."""
    try:
        return JudgeReply(MetricScore(await asyncio.to_thread(_measure, metric, texts)))
    except NoWordVectors as error:
        return JudgeReply(None, UNASKABLE, str(error))


def _measure(metric: str, texts: ClaimTexts) -> float:
    """Return the score; of a rank claim 1 if the first text is more similar, else 0."""
    measure = METRICS[Metric(metric)].measure
    if texts.kind == ClaimKind.RANK:
        first, second = (measure(texts.anchor, one) for one in (texts.first, texts.second))
        return float(first > second)
    return measure(texts.first, texts.second)


async def _ask(judge: FrozenJudge, texts: ClaimTexts, caller: ModelCaller) -> JudgeReply[Any]:
    if texts.kind == ClaimKind.RANK:
        return await ask_pair(judge.endpoint, texts.pair, caller, ties=False)
    assert judge.whole is not None
    text = judge.whole.text_for(judge.endpoint.language_model_id)
    try:
        has_reference = "reference" in variables_of(text)
    except PromptError as error:
        return JudgeReply(None, UNASKABLE, str(error))
    return await ask_judge(judge, judge.whole, texts.case(has_reference=has_reference), "", caller)
