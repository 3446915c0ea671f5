"""Verdicts on requests that a judge was asked word for word before.

Such a verdict may be taken from there: it costs nothing, and answers that did not change are not
judged differently by chance. It counts in the score of its run, and in nothing that measures
judges.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.utils import timezone

from evalhub.llm import capabilities
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.gateway import request_digest
from evalhub.values.digest import digest
from evalhub.work.calls.caller import ModelCaller
from issues.judge_templates.prompts import PromptError
from runs.comparison.scoring_versions import OF_VERDICTS, VERSIONS
from runs.judging.ask_judge import judge_call
from runs.judging.tasks import JudgeRequest, JudgingTask
from runs.models import JudgeRun, Judgment, Run

KEY_LENGTH = 32
TAKEN = ("state", "option", "value", "justification", "call_id", "provenance_id", "asked_usd")
"""Columns of a judgment that are taken from another one."""


async def take_known_verdicts(job: JudgingTask, caller: ModelCaller) -> None:
    """Take the verdicts on equal requests, where the judge run may.

    Each request that is left then knows its digest, by which its verdict is found later.
    """
    for task in job.criterion_tasks:
        task.judge_requests = [await _with_digest(job, one) for one in task.judge_requests]
    asked = (one for task in job.criterion_tasks for one in task.judge_requests)
    keys = {request_key(one) for one in asked} - {""}
    if not (job.takes_known_verdicts and keys):
        return
    known = await caller.database.with_retries(known_verdicts, job, keys)
    for task in job.criterion_tasks:
        found = [one for one in task.judge_requests if request_key(one) in known]
        task.kept += [_taken(job, one, known[request_key(one)]) for one in found]
        task.judge_requests = [one for one in task.judge_requests if request_key(one) not in known]


def request_key(request: JudgeRequest) -> str:
    """Return the key of a request as it would be sent now; "" if it cannot be sent.

    An endpoint that has refused parameters since is sent another request.
    """
    if not request.digest:
        return ""
    refused = capabilities.refused_by(request.frozen_judge.endpoint.language_model_id)
    return digest([request.digest, sorted(refused)])[:KEY_LENGTH]


async def _with_digest(job: JudgingTask, request: JudgeRequest) -> JudgeRequest:
    """Add the digest of all that the verdict depends on; none if nothing can be sent."""
    judge = request.frozen_judge
    if judge.endpoint.is_scripted:
        return request
    try:
        first = await judge_call(judge, request.prompt_template, job.case, request.key)
    except PromptError:
        return request
    found = digest(
        [
            request_digest(judge.endpoint, *first),
            # Judges of one jury may ask alike; the number of samples is no part of the request.
            [judge.approach, judge.params, judge.whole and judge.whole.template_id, judge.method],
            _identity(request.repair_model),
            [VERSIONS[part] for part in OF_VERDICTS],
            [job.case.test_id, request.key, job.repeat, request.sample],
        ]
    )
    return replace(request, first=first, digest=found)


def _identity(model: Endpoint | None) -> list[object]:
    return [model.litellm_model, model.api_base, model.params] if model else []


def known_verdicts(job: JudgingTask, keys: Collection[str]) -> dict[str, Judgment]:
    """Return the newest verdict on each of these requests that the judge run may take."""
    run = Run.objects.select_related("requested_by").get(judge_runs=job.judge_run_id)
    found = _readable(run).filter(request_key__in=keys)
    since = timezone.now() - timedelta(days=settings.EVALHUB_KNOWN_VERDICTS_DAYS)
    found = found.filter(call__started_at__gte=since)
    # A second attempt must be able to differ: also from what the first one took.
    same = Run.objects.filter(release=run.release, variant_key=run.variant_key).order_by()
    theirs = Judgment.objects.filter(
        result__test=job.case.test_id, result__run__in=same.values("pk"), taken_from__isnull=False
    )
    found = found.exclude(judge_run__run__in=same.values("pk"))
    found = found.exclude(pk__in=theirs.order_by().values("taken_from"))
    return {one.request_key: one for one in found.order_by("pk")}


def _readable(run: Run) -> QuerySet[Judgment]:
    """Return the judgments that whoever launched the run may read."""
    reader = run.requested_by
    if reader and not (reader.is_active and reader.has_perm("runs.view_run")):
        return Judgment.objects.none()
    return Judgment.objects.readable_by(reader or AnonymousUser())


def _taken(job: JudgingTask, request: JudgeRequest, known: Judgment) -> Judgment:
    template = request.prompt_template
    return Judgment(
        pk=request.judgment_id,
        judge_run_id=job.judge_run_id,
        result_id=job.result_id,
        criterion_id=request.criterion_id,
        judge_id=request.frozen_judge.judge_id,
        template_id=template.template_id if template else None,
        sample=request.sample,
        taken_from=known.pk,
        created_at=timezone.now(),
        **{name: getattr(known, name) for name in TAKEN},
    )


def taken_share(judge_runs: QuerySet[JudgeRun]) -> float | None:
    """Return the share of judgments that these judge runs took from others; None without any."""
    taken = asked = 0
    for sums in judge_runs.values_list("statistics", flat=True):
        taken += sums.get("taken", {}).get("judgments", 0)
        asked += sum(sum(by_state.values()) for by_state in sums.get("judges", {}).values())
    return taken / (taken + asked) if taken + asked else None
