"""The cost of calls, cost limits, and failures."""

import asyncio
import threading
import time
from decimal import Decimal
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from django.db.models import Sum

from evalhub.llm.completion import Completion
from evalhub.llm.costs.token_estimates import estimate_usd
from evalhub.llm.endpoint import Endpoint
from evalhub.models import BatchState, Call, CallRole, ItemState, SharedRate
from evalhub.operations import metrics
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.calls.errors import GivenBack
from evalhub.work.limits.budget import Budget, Gate
from evalhub.work.limits.rate_limiter import RateLimiters
from runs.lifecycle import control
from runs.models import Judgment, Run
from tests import provider as scripted
from tests.evalhub.work.test_loop import is_judge, slowly, some_tests
from tests.factories import make_jury, make_run
from tests.provider import verdict

# Money in one process ----------------------------------------------------------------------------


def gate(limit=1.0, spent=0.0):
    return Gate(Budget(allowance_usd=limit - spent))


def test_call_that_could_pass_the_limit_is_refused():
    one = gate(limit=1.0, spent=0.8)
    with pytest.raises(GivenBack), one.reserve(0.3):
        pass
    assert one.refused_usd == 0.3


def test_what_is_in_flight_counts():
    one = gate()
    with one.reserve(0.6), pytest.raises(GivenBack), one.reserve(0.6):
        pass


def test_batches_that_share_a_limit_count_each_others_calls():
    run = gate()
    judge_run = Gate(run.budget)
    with run.reserve(0.6), pytest.raises(GivenBack), judge_run.reserve(0.6):
        pass


def test_cost_counts_before_and_after_it_is_saved():
    budget = Budget(allowance_usd=1.0)
    budget.add_unsaved(0.7)
    assert not budget.affords(0.4)
    budget.mark_saved(0.7)
    assert budget.affords(0.3)
    assert not budget.affords(0.4)


def test_estimate_goes_by_the_most_that_may_be_answered():
    endpoint = Endpoint(
        language_model_id=1,
        name="m",
        litellm_model="openai/m",
        input_usd_per_mtok=Decimal(0),
        output_usd_per_mtok=Decimal(1000),
        params={"max_tokens": 50},
    )
    assert estimate_usd(endpoint, [], {}) == pytest.approx(0.05)
    assert estimate_usd(endpoint, [], {"max_tokens": 10}) == pytest.approx(0.01)


# Interrupted -------------------------------------------------------------------------------------


async def free(estimate_usd):
    """There is no limit."""


async def no_sealed_test(sealed, endpoint, role):
    """Nothing has to be recorded before it is sent."""


def test_reply_that_came_before_its_item_was_stopped_is_kept(monkeypatch):
    """It is paid for: the item's next try takes it."""
    endpoint = Endpoint(language_model_id=1, name="m", litellm_model="openai/m")
    saved = []

    async def complete(*request):
        asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)
        return Completion(text="Four.")

    def save(content, calls, after):
        saved.extend(calls)
        return asyncio.get_running_loop().create_future()

    async def story():
        limiters = RateLimiters()
        limiters.limiter(1).width, limiters.limiter(1).is_joined = 1, True
        caller = ModelCaller(
            work_key="run 1",
            item_id=7,
            worker_id=1,
            gate=Gate(),
            limiters=limiters,
            queue_save=save,
            database=None,
            random=Random(1),
            sendings=SimpleNamespace(note=no_sealed_test),
            sent=Mock(),
            fund=free,
            may_hold=lambda: True,
        )
        asking = asyncio.create_task(caller.call(endpoint, [], {}, role=CallRole.CANDIDATE))
        await asyncio.wait([asking])
        return asking.cancelled()

    monkeypatch.setattr("evalhub.llm.gateway.complete", complete)
    assert asyncio.run(story())
    assert [(call.error_kind, call.kept_completion().text) for call in saved] == [("", "Four.")]


# Money of a run ----------------------------------------------------------------------------------

PRICED = {
    "input_usd_per_mtok": 0,
    "output_usd_per_mtok": 1000,
    "params": {"max_tokens": 5},
    "max_concurrency": 8,
}
FIVE_TOKENS = "one two three four five"


@pytest.fixture
def priced_run(provider, model_at):
    """Answers and verdicts cost half a cent each; a verdict's limit is what its judge sets."""

    def make(n, limit):
        provider.script = lambda r: verdict(1, "x y") if is_judge(r) else FIVE_TOKENS
        jury = make_jury(model_at(**PRICED))
        judge = jury.judges.get()
        type(judge).objects.filter(pk=judge.pk).update(params={"max_tokens": 5})
        run = make_run(*some_tests(n), model=model_at(**PRICED), jury=jury, cost_limit_usd=limit)
        slowly(provider, 0.02)
        return run

    return make


def spent():
    return Call.objects.aggregate(total=Sum("cost_usd"))["total"]


@pytest.mark.django_db(transaction=True)
def test_answers_and_judgments_together_keep_to_the_limit(priced_run, work):
    run = priced_run(30, "0.1")

    work()

    run.refresh_from_db()
    judge_run = run.judge_runs.get()
    assert run.state == judge_run.state == BatchState.PAUSED
    assert "cost limit" in run.reason
    assert Decimal("0.08") < spent() <= Decimal("0.1")


@pytest.mark.django_db(transaction=True)
def test_raised_limit_and_resume_do_the_rest_and_nothing_twice(priced_run, provider, work):
    run = priced_run(12, "0.03")
    work()
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(cost_limit_usd="5")

    control.resume_run(run)
    work()

    assert set(run.results.values_list("outcome", flat=True)) == {"passed"}
    assert max(provider.counts.values()) == 1
    run.refresh_from_db()
    assert spent() == run.spent_usd + run.judge_runs.get().spent_usd


@pytest.mark.django_db(transaction=True)
def test_items_refused_by_the_limit_lose_no_attempt(priced_run, work):
    run = priced_run(12, "0.03")
    work()
    left = run.results.filter(state=ItemState.PENDING)
    assert left.exists()
    assert not left.exclude(attempts=0, worker=None).exists()


@pytest.mark.django_db(transaction=True)
def test_first_reply_of_a_repair_is_paid_though_the_repair_was_never_asked(
    provider, priced_run, work
):
    run = priced_run(1, "0.012")  # an answer and one reply of the judge
    provider.script = lambda r: "I like it." if is_judge(r) else FIVE_TOKENS

    work()

    roles = sorted(Call.objects.values_list("role", flat=True))
    judge_run = run.judge_runs.get()
    assert roles == ["candidate", "judge"]
    assert judge_run.state == BatchState.PAUSED
    assert judge_run.spent_usd > 0


# Failures ----------------------------------------------------------------------------------------


class Crowded:
    """A provider that takes so many requests at once, and says 429 to the others."""

    def __init__(self, provider, most):
        self.provider, self.most, self.refused = provider, most, 0

    def __call__(self, request):
        if self.provider.in_flight > self.most:
            self.refused += 1
            return scripted.RATE_LIMITED
        return "Four."


@pytest.mark.django_db(transaction=True)
def test_provider_that_takes_fewer_at_once_costs_no_result(provider, model_at, work, monkeypatch):
    monkeypatch.setattr("evalhub.llm.retry.LONGEST_PAUSE_S", 0.1)
    monkeypatch.setattr("evalhub.work.limits.shared_rate.CUT_EVERY_S", 0.2)
    slowly(provider, 0.05)
    provider.script = crowded = Crowded(provider, 3)
    run = make_run(*some_tests(40), model=model_at(max_concurrency=40))

    work()

    assert set(run.results.values_list("state", flat=True)) == {ItemState.DONE}
    assert crowded.refused
    assert SharedRate.objects.get().share < 0.5


@pytest.mark.django_db(transaction=True)
def test_provider_that_refuses_for_ever_is_an_error_in_the_end(
    provider, model_at, work, monkeypatch
):
    monkeypatch.setattr("evalhub.llm.retry.LONGEST_PAUSE_S", 0.1)
    monkeypatch.setattr("evalhub.work.limits.shared_rate.CUT_EVERY_S", 0.05)
    provider.script = lambda request: scripted.RATE_LIMITED
    run = make_run(*some_tests(2), model=model_at())

    work()

    assert set(run.results.values_list("error_kind", flat=True)) == {"rate_limited"}
    assert set(run.results.values_list("outcome", flat=True)) == {"error"}


@pytest.mark.django_db(transaction=True)
def test_retry_after_silences_the_others_too_at_once(provider, model_at, work):
    refused_at, begun, lock = [], [], threading.Lock()

    def script(request):
        with lock:
            begun.append(time.monotonic())
            if len(begun) == 10:
                refused_at.append(begun[-1])
                return scripted.RATE_LIMITED_WAIT  # two seconds
        return "Four."

    provider.script = script
    slowly(provider, 0.05)
    run = make_run(*some_tests(30), model=model_at(max_concurrency=2))

    work()

    silent = [at for at in begun if refused_at[0] + 0.8 < at < refused_at[0] + 1.9]
    assert silent == []
    assert set(run.results.values_list("state", flat=True)) == {ItemState.DONE}


@pytest.mark.django_db(transaction=True)
def test_wrong_key_of_a_judge_stops_the_judge_run_and_not_the_answers(provider, model_at, work):
    bad, good = model_at(), model_at()

    def script(request):
        if not is_judge(request):
            return "Four."
        return scripted.UNAUTHORIZED if request["model"] in bad.litellm_model else verdict(1)

    provider.script = script
    run = make_run(*some_tests(20), model=model_at(), jury=make_jury(bad, good))

    work()

    run.refresh_from_db()
    judge_run = run.judge_runs.get()
    assert (run.state, judge_run.state) == (BatchState.DONE, BatchState.FAILED)
    assert bad.name in judge_run.reason
    assert set(run.results.values_list("state", flat=True)) == {ItemState.DONE}


@pytest.mark.django_db(transaction=True)
def test_judge_run_of_a_failed_run_is_no_work_and_goes_on_with_it(provider, model_at, work):
    candidate, wrong = model_at(), True

    def script(request):
        if is_judge(request):
            return verdict(1)
        return scripted.UNAUTHORIZED if wrong else "Four."

    provider.script = script
    run = make_run(*some_tests(5), model=candidate, jury=make_jury(model_at()))
    work()

    run.refresh_from_db()
    judge_run = run.judge_runs.get()
    assert (run.state, judge_run.state) == (BatchState.FAILED, BatchState.FAILED)
    assert "resume" in judge_run.reason
    busy = [sample for metric in metrics.work() for sample in metric.samples if sample.value]
    assert [sample for sample in busy if sample.labels.get("kind") in ("run", "judge run")] == []

    wrong = False
    control.resume_run(run)
    work()

    assert Judgment.objects.filter(state="ok").count() == 5
    states = {run.judge_runs.get().state, Run.objects.get().state}
    assert states == {BatchState.DONE}


@pytest.mark.django_db(transaction=True)
def test_judge_run_goes_on_after_its_key_was_repaired_and_asks_nothing_twice(
    provider, model_at, work
):
    bad, good = model_at(), model_at()
    wrong = True

    def script(request):
        if not is_judge(request):
            return "Four."
        is_bad = request["model"] in bad.litellm_model
        return scripted.UNAUTHORIZED if wrong and is_bad else verdict(1)

    provider.script = script
    slowly(provider, 0.05)
    run = make_run(*some_tests(10), model=model_at(), jury=make_jury(bad, good))
    work()
    wrong = False

    control.resume_run(run)
    work()

    assert Judgment.objects.filter(state="ok").count() == 20
    of_good = Call.objects.filter(language_model=good)
    assert of_good.count() == of_good.values("request_digest").distinct().count() == 10


@pytest.mark.django_db(transaction=True)
def test_failed_tries_are_recorded_one_by_one(provider, model_at, work):
    provider.script = scripted.sequence(
        scripted.SERVER_ERROR, scripted.RESET, scripted.EMPTY, "Four."
    )
    make_run(model=model_at())

    work()

    calls = Call.objects.order_by("pk").values_list("attempt", "error_kind")
    assert [attempt for attempt, _ in calls] == [1, 2, 3, 4]
    assert [kind for _, kind in calls][-1] == ""
    assert all(kind for _, kind in list(calls)[:-1])
