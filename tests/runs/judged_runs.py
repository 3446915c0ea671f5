"""Runs with answers and verdicts, made without calling anything."""

from decimal import Decimal

from django.utils import timezone

from evalhub.llm.gateway import request_digest
from evalhub.llm.verdicts.judge_params import params_for
from evalhub.models import BatchState, Call, CallRole, ItemState
from runs.judging.jury import frozen_jury_of
from runs.judging.prompts import JudgePromptTemplate, messages_for
from runs.judging.tasks import judged_answer_of
from runs.models import Answer, JudgeRun, Judgment, JudgmentState, Result, ResultScore, Run
from runs.scoring.score import score_result_scores
from tests.factories import make_run, make_test, shared_jury


def judged_run(*tests, votes=(1, 1, 0), answer="It is **four**.", **fields):
    """A finished run; each judge gives its vote on every result, None for a failed judgment."""
    jury = fields.pop("jury", None) or shared_jury(len(votes))
    run = make_run(*(tests or [make_test()]), jury=jury, **fields)
    judge(run, votes=votes, answer=answer)
    return run


def judge(run, *, votes, answer="It is **four**."):
    """Answer what is pending, and let the judges of its only judging vote."""
    judge_run = run.judge_runs.get()
    for result in run.results.filter(state=ItemState.PENDING).select_related("revision__template"):
        _answer(run, result, answer)
        for frozen_judge, vote in zip(
            frozen_jury_of(judge_run.jury).frozen_judges, votes, strict=True
        ):
            _vote(judge_run, result, frozen_judge, vote)
    result_scores = ResultScore.objects.filter(judge_run=judge_run)
    result_scores.update(state=ItemState.DONE)
    score_result_scores(list(result_scores))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    JudgeRun.objects.filter(pk=judge_run.pk).update(state=BatchState.DONE)


def _answer(run, result, text):
    call = _call(run.language_model, CallRole.CANDIDATE, run.work_key, result.pk, finish="length")
    turns = [{"content": text, "call": call.pk}]
    result.answer = Answer.objects.create(result=result, text=text, turns=turns, call=call)
    Result.objects.filter(pk=result.pk).update(
        state=ItemState.DONE, latency_ms=1500, input_tokens=10, output_tokens=20
    )


def _vote(judge_run, result, frozen_judge, vote):
    wording = frozen_judge.whole or JudgePromptTemplate.of(result.revision.template)
    case = judged_answer_of(result, judge_run.run.system_prompt)
    digest = request_digest(
        frozen_judge.endpoint,
        messages_for(wording, case, ""),
        params_for(frozen_judge.endpoint, frozen_judge.params, wording.schema),
        wording.schema,
    )
    model = judge_run.jury["judges"] and frozen_judge.endpoint.language_model_id
    item = ResultScore.objects.get(judge_run=judge_run, result=result).pk
    call = _call(model, CallRole.JUDGE, judge_run.work_key, item, digest=digest)
    failed = vote is None
    Judgment.objects.create(
        judge_run=judge_run,
        result=result,
        criterion=result.revision.criteria.get(key=""),
        judge_id=frozen_judge.judge_id,
        template_id=wording.template_id,
        state=JudgmentState.FAILED if failed else JudgmentState.OK,
        option="" if failed else str(vote),
        value=vote,
        justification="" if failed else f"Because of {vote}.",
        failure="unreadable" if failed else "",
        failure_message="No verdict was found in the reply." if failed else "",
        call=call,
        created_at=timezone.now(),
    )


def _call(model, role, batch, item, *, digest="", finish="stop"):
    return Call.objects.create(
        language_model_id=getattr(model, "pk", model),
        role=role,
        batch=batch,
        item_id=item,
        request_digest=digest,
        reply="raw reply",
        finish_reason=finish,
        input_tokens=10,
        output_tokens=20,
        cost_usd=Decimal("0.001"),
        latency_ms=1500,
        started_at=timezone.now(),
    )
