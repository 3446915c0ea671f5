"""A run against a provider that misbehaves at random ends, and agrees with the provider's books."""

from collections import Counter
from decimal import Decimal

import pytest
from django.db.models import Sum
from django.utils import timezone

from evalhub.models import BatchState, Call
from evalhub.work.calls.sent_calls import REPLY_LOST
from evalhub.work.cost_total import spent_by
from evalhub.work.processes.queue import request_worker
from reports.run.usage_tables import ADVICE
from runs.figures.run_figures import figures_of
from runs.models import Judgment, Outcome, Run
from tests.evalhub.work.processes import eventually, kill, running, titled
from tests.factories import make_issue, make_jury, make_run, make_template, make_test
from tests.misbehaviour import NO_REPLY, NUMBER, PRICES, TIMEOUT_S, Misbehaving

pytestmark = [pytest.mark.load, pytest.mark.django_db(transaction=True)]

TESTS, WIDTH = 200, 12


def test_run_ends_and_its_counts_and_cost_are_those_of_the_provider(
    provider, model_at, tmp_path, database_url
):
    provider.script = books = Misbehaving(seed=1)
    run = launched(model_at)
    environment = {"EVALHUB_ALLOWED_ADDRESSES": "127.0.0.1", "EVALHUB_LEASE_S": "4"}
    environment |= {"DATABASE_URL": database_url, "EVALHUB_WORKERS": "2"}
    environment["EVALHUB_DATA_DIR"] = str(tmp_path)
    request_worker()
    request_worker()
    with running(tmp_path / "log", "manage.py", "worker", **environment) as tree:
        eventually(lambda: provider.total > TESTS // 2, "the first calls")
        (worker, *_) = eventually(lambda: titled(tree.pid, "processing"), "a worker at work")
        recorded = calls_of(run).count()
        kill(worker)
        killed_at, open_at_most = timezone.now(), provider.total - recorded + 2 * WIDTH
        request_worker()
        eventually(lambda: is_over(run), "the end of the run", 600)
        eventually(lambda: agrees(run, provider), "the record of the killed worker's calls")

    calls = list(calls_of(run))
    lost = [call for call in calls if call.error_kind == REPLY_LOST]
    assert 0 < len(lost) <= open_at_most  # in flight or not saved, at the provider or on the way
    assert all(call.started_at <= killed_at for call in lost)
    check_calls(run, calls, books)
    check_results(run, books)
    check_spent(run, calls, books)


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


def check_calls(run, calls, books):
    """Each request has one call: with its reply, of that cost and kind, or without any.

    Lost calls alone may have had a reply, or may never have arrived.
    """
    judge_run = run.judge_runs.get()
    items = {(run.work_key, one.pk): (number_of(one), False) for one in run.results.all()}
    items |= {
        (judge_run.work_key, one.pk): (number_of(one.result), True)
        for one in judge_run.result_scores.all()
    }
    replied = {call.request_id: call for call in calls if call.request_id}
    silent = [call for call in calls if not call.request_id]
    assert len(replied) + len(silent) == len(calls)
    differing = {}
    for name, call in replied.items():
        entry = books.ledger[name]
        right = (entry.usd, entry.error_kind, entry.of)
        found = (call.cost_usd, call.error_kind, items[call.batch, call.item_id])
        if found != right:
            differing[name] = entry.kind, found, right
    assert not differing

    silent_of: dict[str, Counter[tuple[str, bool]]]
    silent_of = {kind: Counter() for kind in (REPLY_LOST, "timed_out", "unreachable")}
    for call in silent:
        assert call.cost_usd is None
        silent_of[call.error_kind][items[call.batch, call.item_id]] += 1
    lost, timed_out, unreachable = silent_of.values()
    requests = [entry for name, entry in books.ledger.items() if name not in replied]
    unanswered = Counter(entry.of for entry in requests)
    for of in unanswered | lost | timed_out | unreachable:
        seen = timed_out[of] + unreachable[of]
        assert seen <= unanswered[of] <= seen + lost[of], of
    in_vain = Counter(entry.of for entry in requests if entry.kind not in NO_REPLY)
    assert in_vain <= lost + timed_out


def number_of(result):
    (number,) = NUMBER.findall(result.revision.content["messages"][0]["content"])
    return number


def check_results(run, books):
    """Each is what was said about it, or says why it is neither passed nor failed."""
    run.refresh_from_db()
    assert [run.state, run.judge_runs.get().state] == [BatchState.DONE] * 2
    results = list(run.results.all())
    assert len(results) == TESTS
    assert {result.outcome for result in results} == set(Outcome) - {Outcome.PENDING}
    for result in results:
        if result.outcome == Outcome.ERROR:
            assert result.error_kind in ADVICE
            assert result.error_message
            continue
        entry = books.ledger[result.answer.call.request_id]
        if entry.kind not in ("tool call", "length"):
            assert result.answer.text == entry.said
        judgment = Judgment.objects.get(result=result)
        if result.outcome == Outcome.UNSCORED:
            assert judgment.failure in ADVICE
            assert judgment.failure_message
        else:
            said = books.ledger[judgment.call.request_id].said
            assert (result.outcome, judgment.value) == (("failed", "passed")[said], said)


def check_spent(run, calls, books):
    """Pages, API, limits and calls say one number: that of the provider, but for lost replies."""
    run.refresh_from_db()
    judge_run = run.judge_runs.get()
    replies = [books.ledger[call.request_id].usd for call in calls if call.request_id]
    known = sum((usd for usd in replies if usd is not None), Decimal(0))
    unpriced = replies.count(None) + sum(not call.request_id for call in calls)
    assert spent_by([run, judge_run]) == (known, unpriced)
    assert figures_of([run])[run.pk].spent == (known, unpriced)
    answers = run.results.aggregate(n=Sum("cost_usd"))["n"]
    scores = judge_run.result_scores.aggregate(n=Sum("cost_usd"))["n"]
    assert answers <= run.spent_usd
    assert scores <= judge_run.spent_usd
