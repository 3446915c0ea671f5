"""Background work of a trial: judge each claim in each order, and save the score."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.word_vectors import NoWordVectors
from evalhub.models import Call, ItemState
from evalhub.work.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from issues.judge_templates.pairwise_prompt import Choice
from issues.judge_templates.prompts import PromptError, variables_of
from runs.judging.ask_judge import UNASKABLE, JudgeReply, ask_judge
from runs.judging.jury import FrozenJudge
from runs.judging.prompts import JudgePromptTemplate
from runs.models import Approach, JudgmentState
from runs.pairwise.ask_pair import PairReply, ask_pair
from runs.trials.claims.claim_prompts import ClaimTexts
from runs.trials.judges.metrics import METRICS, Metric
from runs.trials.judges.trial_control import choose_threshold
from runs.trials.judges.trial_judges import POINTS, score_of
from runs.trials.models import ClaimJudgment, ClaimKind, Trial

BETTER, WORSE = 1.0 + POINTS, 1.0
"""Scores of a rank claim whose first text is better, or not."""

ENDED_FIELDS = [
    *("state", "worker", "next_try_at", "score", "justification"),
    *("was_repaired", "error_kind", "error_message", "call"),
]


@dataclass
class ClaimRequest:
    """A missing judgment. Either `metric`, or `frozen_judge`, is set."""

    item_id: int
    texts: ClaimTexts
    metric: str = ""
    frozen_judge: FrozenJudge | None = None


@dataclass(frozen=True)
class ClaimReply:
    """A score, or why there is none: the kind of a call's error, "unreadable" or "unaskable"."""

    score: float | None = None
    justification: str = ""
    was_repaired: bool = False
    failure: str = ""
    message: str = ""
    call: Call | None = None
    unsaved: list[Call] = field(default_factory=list)


class TrialKind(Kind[Trial, ClaimJudgment, ClaimRequest]):
    """The work of a trial; each of its judgments is an item."""

    batch_model, item_model, batch_field = Trial, ClaimJudgment, "trial"

    def endpoints(self, batch: Trial) -> list[Endpoint]:
        return [Endpoint.from_json(batch.endpoint)] if batch.endpoint else []

    def prepare(self, batch: Trial, item_ids: Sequence[int]) -> list[ClaimRequest]:
        frozen_judge = frozen_judge_of(batch)
        rows = ClaimJudgment.objects.filter(pk__in=item_ids).select_related(
            "claim__left", "claim__right", "claim__anchor", "claim__idea"
        )
        return [ClaimRequest(row.pk, texts_of(row), batch.metric, frozen_judge) for row in rows]

    def sealed_tests(self, job: ClaimRequest) -> list[int]:
        """Return none: a sealed benchmark is sent to trusted addresses only."""
        return []

    async def perform(self, job: ClaimRequest, caller: ModelCaller) -> None:
        if job.frozen_judge is None:
            reply = await asyncio.to_thread(measured, job.metric, job.texts)
        elif job.texts.kind == ClaimKind.RANK:
            found = await ask_pair(job.frozen_judge.endpoint, job.texts.pair, caller, ties=False)
            reply = _of_pair(found)
        else:
            reply = _of_judge(await _ask(job.frozen_judge, job.texts, caller))
        await caller.save(reply, *reply.unsaved)

    def store(self, saves: list[Save]) -> None:
        replies = {one.item_id: one.content for one in saves if isinstance(one.content, ClaimReply)}
        judgments = list(ClaimJudgment.objects.filter(pk__in=replies).order_by("pk"))
        for judgment in judgments:
            _fill(judgment, replies[judgment.pk])
        ClaimJudgment.objects.bulk_update(judgments, ENDED_FIELDS)

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


def measured(metric: str, texts: ClaimTexts) -> ClaimReply:
    """Return a metric's score; of a rank claim 1 if the first text is more similar, else 0."""
    measure = METRICS[Metric(metric)].measure
    try:
        if texts.kind == ClaimKind.RANK:
            first, second = (measure(texts.anchor, one) for one in (texts.first, texts.second))
            return ClaimReply(float(first > second))
        return ClaimReply(measure(texts.first, texts.second))
    except NoWordVectors as error:
        return ClaimReply(failure=UNASKABLE, message=str(error))


async def _ask(judge: FrozenJudge, texts: ClaimTexts, caller: ModelCaller) -> JudgeReply:
    assert judge.whole is not None
    text = judge.whole.text_for(judge.endpoint.language_model_id)
    try:
        has_reference = "reference" in variables_of(text)
    except PromptError as error:
        return JudgeReply(JudgmentState.FAILED, None, UNASKABLE, str(error))
    return await ask_judge(judge, judge.whole, texts.case(has_reference=has_reference), "", caller)


def _of_judge(reply: JudgeReply) -> ClaimReply:
    verdict = reply.verdict
    return ClaimReply(
        score=score_of(verdict.value) if verdict else None,
        justification=verdict.justification if verdict else "",
        was_repaired=reply.state == JudgmentState.REPAIRED,
        failure=reply.failure,
        message=reply.message,
        call=reply.call,
        unsaved=reply.calls,
    )


def _of_pair(reply: PairReply) -> ClaimReply:
    verdict = reply.verdict
    score = (BETTER if verdict.choice is Choice.FIRST else WORSE) if verdict else None
    return ClaimReply(
        score=score,
        justification=verdict.justification if verdict else "",
        was_repaired=reply.was_repaired,
        failure=reply.failure,
        message=reply.message,
        call=reply.call,
        unsaved=reply.calls,
    )


def _fill(judgment: ClaimJudgment, reply: ClaimReply) -> None:
    judgment.state = ItemState.ERROR if reply.score is None else ItemState.DONE
    judgment.worker = judgment.next_try_at = None
    judgment.score, judgment.justification = reply.score, reply.justification
    judgment.was_repaired = reply.was_repaired
    judgment.error_kind, judgment.error_message = reply.failure, reply.message
    judgment.call = reply.call
