"""A run against a provider that misbehaves at random ends, and agrees with the provider's books."""

from collections import Counter
from decimal import Decimal

import pytest
from django.db.models import Sum

from evalhub.models import BatchState, Call
from evalhub.work.calls.sent_calls import REPLY_LOST
from evalhub.work.processes.queue import request_worker
from evalhub.work.spent import spent_by
from reports.run.usage_tables import ADVICE
from runs.figures.run_figures import figures_of
from runs.models import Judgment, Outcome, Run
from tests.evalhub.work.processes import eventually, kill, running, titled
from tests.factories import make_issue, make_jury, make_run, make_template, make_test
from tests.misbehaviour import PRICES, TIMEOUT_S, Misbehaving

pytestmark = [pytest.mark.load, pytest.mark.django_db(transaction=True)]

TESTS, WIDTH = 200, 12


def test_run_ends_and_its_counts_and_cost_are_those_of_the_provider(
    provider, model_at, tmp_path, database_url
):
    provider.script = books = Misbehaving(seed=1)
    run = launched(model_at)
    environment = {"EVALHUB_ALLOWED_ADDRESSES": "127.0.0.1", "EVALHUB_LEASE_S": "4"}
    environment |= {"DATABASE_URL": database_url, "EVALHUB_WORKERS": "2"}
    request_worker()
    request_worker()
    with running(tmp_path / "log", "manage.py", "worker", **environment) as tree:
        eventually(lambda: provider.total > TESTS // 2, "the first calls")
        (worker, *_) = eventually(lambda: titled(tree.pid, "processing"), "a worker at work")
        kill(worker)
        request_worker()
        eventually(lambda: is_over(run), "the end of the run", 600)
        eventually(lambda: agrees(run, provider), "the record of the killed worker's calls", 60)

    check_results(run)
    check_calls(run, books)
    check_spent(run)


def launched(model_at):
    limits = {"max_concurrency": WIDTH, "timeout_s": TIMEOUT_S}
    candidate, judge = (model_at(name=name, **limits, **PRICES) for name in ("candidate", "judge"))
    shared = {"issue": make_issue(), "template": make_template()}
    tests = [make_test(f"What is {n} + 2?", **shared) for n in range(TESTS)]
    return make_run(*tests, model=candidate, jury=make_jury(judge))


def is_over(run):
    states = {Run.objects.get(pk=run.pk).state, run.judge_runs.get().state}
    return not states & {BatchState.LIVE, BatchState.PAUSED}


def calls_of(run):
    return Call.objects.filter(batch__in=[run.work_key, run.judge_runs.get().work_key])


def agrees(run, provider):
    return calls_of(run).count() >= provider.total


def check_results(run):
    """Each is passed, failed, or says why it is neither."""
    run.refresh_from_db()
    assert [run.state, run.judge_runs.get().state] == [BatchState.DONE] * 2
    results = list(run.results.all())
    assert len(results) == TESTS
    assert {result.outcome for result in results} == set(Outcome) - {Outcome.PENDING}
    for result in results:
        if result.outcome == Outcome.ERROR:
            assert result.error_kind in ADVICE
            assert result.error_message
        elif result.outcome == Outcome.UNSCORED:
            for failed in Judgment.objects.filter(result=result):
                assert failed.failure in ADVICE
                assert failed.failure_message


def check_calls(run, books):
    """Each call with a reply costs what the provider says; of all others the reply was lost."""
    by_id = {call.request_id: call for call in calls_of(run) if call.request_id}
    others = calls_of(run).filter(request_id="")
    assert len(by_id) + others.count() == calls_of(run).count()
    differing = {
        name: (entry, by_id[name].error_kind, by_id[name].cost_usd)
        for name, entry in books.ledger.items()
        if name in by_id and by_id[name].cost_usd != entry.usd
    }
    assert not differing
    unanswered = Counter(entry.kind for name, entry in books.ledger.items() if name not in by_id)
    lost = others.filter(error_kind=REPLY_LOST).count()
    assert 0 < lost < TESTS  # in flight, or not saved yet
    assert not others.exclude(cost_usd=None).exists()
    assert others.count() - lost <= unanswered.total() <= others.count()


def check_spent(run):
    """Pages, API, limits and calls say one number."""
    run.refresh_from_db()
    judge_run = run.judge_runs.get()
    known = calls_of(run).aggregate(n=Sum("cost_usd", default=Decimal(0)))["n"]
    unpriced = calls_of(run).filter(cost_usd=None).count()
    assert unpriced
    assert spent_by([run, judge_run]) == (known, unpriced)
    assert figures_of([run])[run.pk].spent == (known, unpriced)
    answers = run.results.aggregate(n=Sum("cost_usd"))["n"]
    scores = judge_run.result_scores.aggregate(n=Sum("cost_usd"))["n"]
    assert answers <= run.spent_usd
    assert scores <= judge_run.spent_usd
