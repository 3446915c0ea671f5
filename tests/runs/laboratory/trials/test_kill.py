"""The real worker command, killed in the middle of writing a benchmark and of a trial."""

import pytest

from evalhub.models import BatchState, Call
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.generation import generation_runs
from runs.laboratory.trials.judges import trial_control
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from tests.evalhub.work.processes import eventually, running
from tests.factories import make_model
from tests.provider import Provider, prompt, verdict
from tests.runs.laboratory.pairwise.rows import says
from tests.runs.laboratory.trials.generation.test_generation import order_of, small
from tests.runs.laboratory.trials.writers import write

pytestmark = [pytest.mark.kill, pytest.mark.django_db(transaction=True)]

IN_FLIGHT = 4


def answer(request):
    """Write a benchmark, or find its texts alike and the first of two the better one."""
    if request["model"] != "judge":
        return write(request)
    return says("A") if "better" in prompt(request) else verdict("7")


def test_a_killed_worker_neither_loses_nor_repeats_texts_and_judgments(tmp_path, database_url):
    def worker():
        environment = {"EVALHUB_ALLOWED_ADDRESSES": "127.0.0.1", "EVALHUB_LEASE_S": "4"}
        command = ("manage.py", "worker")
        return running(tmp_path / "log", *command, DATABASE_URL=database_url, **environment)

    load_builtin_templates()
    template = JudgeTemplate.objects.get(family="similarity")
    with Provider(latency_ms=100, script=answer) as provider:
        model, judge = (
            make_model(
                litellm_model=f"openai/{name}",
                api_base=provider.base_url,
                max_concurrency=IN_FLIGHT,
            )
            for name in ("writer", "judge")
        )
        benchmark = small()
        with worker():
            order = order_of(benchmark, model, ideas_per_topic=4, ideas_per_cluster=4)
            writing = generation_runs.start(order, by=None)
            eventually(lambda: benchmark.artifacts.count() >= 5, "the first texts")
        texts = set(benchmark.artifacts.values_list("pk", "text"))
        with worker():
            eventually(lambda: is_done(writing), "the end of the writing")
            build_claims(benchmark)
            (trial,) = trial_control.start(benchmark, [TrialJudge(judge, template)], by=None)
            judged = trial.judgments.filter(state="done")
            eventually(lambda: judged.count() >= 5, "the first judgments")
        saved = set(judged.values_list("pk", "call"))
        with worker():
            eventually(lambda: is_done(trial), "the end of the trial")

    assert texts <= set(benchmark.artifacts.values_list("pk", "text"))
    assert benchmark.artifacts.count() == 8 * 5
    assert saved <= set(trial.judgments.values_list("pk", "call"))
    assert judged.count() == 2 * benchmark.claims.count() > 0
    repeated = provider.total - Call.objects.filter(error_kind="").count()
    assert repeated <= 2 * 2 * IN_FLIGHT


def is_done(batch) -> bool:
    return bool(type(batch).objects.get(pk=batch.pk).state == BatchState.DONE)
