"""Runs with answers and verdicts, made without calling anything."""

from decimal import Decimal

from django.utils import timezone

from evalhub.llm.gateway import request_digest
from evalhub.models import BatchState, Call, CallRole, ItemState
from runs.asking import Wording, messages_for, params_for
from runs.hearing import case_of
from runs.models import Answer, Assessment, Judging, Judgment, JudgmentState, Result, Run
from runs.scoring import score_assessments
from runs.seats import panel_of
from tests.factories import make_jury, make_model, make_run, make_test


def judged_run(*tests, votes=(1, 1, 0), answer="It is **four**.", **fields):
    """A finished run; each judge gives its vote on every result, None for a failed judgment."""
    jury = fields.pop("jury", None) or make_jury(
        *[make_model(name=f"judge {n} of {make_model().pk}") for n in range(len(votes))]
    )
    run = make_run(*(tests or [make_test()]), jury=jury, **fields)
    judge(run, votes=votes, answer=answer)
    return run


def judge(run, *, votes, answer="It is **four**."):
    """Answer what is pending, and let the judges of its only judging vote."""
    judging = run.judgings.get()
    for result in run.results.filter(state=ItemState.PENDING).select_related("revision__template"):
        _answer(run, result, answer)
        for seat, vote in zip(panel_of(judging).seats, votes, strict=True):
            _vote(judging, result, seat, vote)
    assessments = Assessment.objects.filter(judging=judging)
    assessments.update(state=ItemState.DONE)
    score_assessments(list(assessments))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    Judging.objects.filter(pk=judging.pk).update(state=BatchState.DONE)


def _answer(run, result, text):
    call = _call(run.language_model, CallRole.CANDIDATE, run.work_key, result.pk, finish="length")
    turns = [{"content": text, "call": call.pk}]
    result.answer = Answer.objects.create(result=result, text=text, turns=turns, call=call)
    Result.objects.filter(pk=result.pk).update(
        state=ItemState.DONE, latency_ms=1500, tokens_in=10, tokens_out=20
    )


def _vote(judging, result, seat, vote):
    wording = seat.whole or Wording.of(result.revision.template)
    case = case_of(result, judging.run.system_prompt)
    digest = request_digest(
        seat.endpoint,
        messages_for(wording, case, ""),
        params_for(seat.endpoint, seat.params, wording.schema),
        wording.schema,
    )
    model = judging.jury["judges"] and seat.endpoint.language_model_id
    item = Assessment.objects.get(judging=judging, result=result).pk
    call = _call(model, CallRole.JUDGE, judging.work_key, item, digest=digest)
    failed = vote is None
    Judgment.objects.create(
        judging=judging,
        result=result,
        criterion=result.revision.criteria.get(key=""),
        judge_id=seat.judge_id,
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
        tokens_in=10,
        tokens_out=20,
        cost_usd=Decimal("0.001"),
        latency_ms=1500,
        started_at=timezone.now(),
    )
