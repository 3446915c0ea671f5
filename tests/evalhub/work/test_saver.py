"""Saving in shared transactions, fenced by leases."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import IntegrityError, OperationalError
from django.utils import timezone

from evalhub.llm.completion import Completion
from evalhub.models import Call, ItemState
from evalhub.work import database, leases, saver
from evalhub.work.database import Database
from evalhub.work.kinds import Save, kinds
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.saver import Saver, store
from runs.answering.work import Turn
from runs.judging.work import Finished
from runs.models import Answer, Judgment
from tests.factories import make_jury, make_model, make_run, make_test

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERING, JUDGING, *_ = kinds()
TOO_MANY_TOKENS = 10**30
"""No database takes this number."""


@pytest.fixture
def leased():
    """A run of three results, all leased to a worker."""
    run = make_run(*[make_test(f"Question {k}") for k in range(3)], jury=make_jury(make_model()))
    worker = leases.register()
    leases.claim(ANSWERING, run.pk, worker, 3, alone=True)
    return run, worker


def call_of(run, **fields):
    defaults = {"language_model": run.language_model, "role": "candidate", "request_digest": "d"}
    return Call(**(defaults | {"batch": run.work_key, "started_at": timezone.now()} | fields))


def judgment_of(judge_run, result, **fields):
    return Judgment(
        judge_run=judge_run,
        result=result,
        criterion=result.revision.criteria.get(),
        judge_id=judge_run.jury["judges"][0]["judge"],
        state="ok",
        created_at=timezone.now(),
        **fields,
    )


def turn(run, result, text="Four.", **fields):
    call = call_of(run, item_id=result.pk, cost_usd=Decimal("0.01"))
    content = Turn(Completion(text=text, **fields), call, [], is_last=True)
    return Save(ANSWERING, run.pk, result.pk, content, [call])


def saved_by(worker, *saves):
    """Return the outcome of each save: True, False or its error."""

    async def story():
        database = Database()
        own = Saver(database, worker, RateLimiters())
        task = asyncio.create_task(own.run())
        outcomes = await asyncio.gather(*map(own.add, saves), return_exceptions=True)
        task.cancel()
        await database.close()
        return outcomes

    return asyncio.run(story())


def test_answer_and_its_call_are_saved_together(leased):
    run, worker = leased
    result = run.results.first()
    assert saved_by(worker, turn(run, result)) == [True]
    result.refresh_from_db()
    assert (result.state, result.worker_id) == (ItemState.DONE, None)
    assert result.answer.call == Call.objects.get()


def test_late_zombie_changes_nothing_but_its_call_is_recorded_and_paid(leased):
    run, zombie = leased
    result = run.results.first()
    leases.free([zombie])
    leases.claim(ANSWERING, run.pk, leases.register(), 3, alone=True)

    assert saved_by(zombie, turn(run, result)) == [False]

    result.refresh_from_db()
    run.refresh_from_db()
    assert result.state == ItemState.PENDING
    assert not Answer.objects.exists()
    assert Call.objects.get().cost_usd == run.spent_usd == Decimal("0.01")


def test_bad_row_does_not_take_its_neighbours_answers_with_it(leased):
    run, worker = leased
    one, bad, three = run.results.order_by("pk")
    outcomes = saved_by(
        worker, turn(run, one), turn(run, bad, input_tokens=TOO_MANY_TOKENS), turn(run, three)
    )
    assert outcomes[0] is outcomes[2] is True
    assert isinstance(outcomes[1], Exception)
    assert set(Answer.objects.values_list("result", flat=True)) == {one.pk, three.pk}


@pytest.fixture
def judged(leased):
    """A judgment of a leased result, to be saved with `value`, and the end of its result."""
    run, worker = leased
    judge_run, result = run.judge_runs.get(), run.results.first()
    judge_run.result_scores.update(worker=worker)
    item = judge_run.result_scores.get(result=result)

    def saves(value=1.0):
        judgment = judgment_of(judge_run, result, value=value)
        one = Save(JUDGING, judge_run.pk, item.pk, judgment, [call_of(run, item_id=item.pk)])
        return one, Save(JUDGING, judge_run.pk, item.pk, Finished(None))

    return worker, item, saves


def saved_in_order(worker, first, second, *, apart):
    """Save two, of which the second needs the first; `apart`: once the first has ended."""

    async def story():
        database = Database()
        own = Saver(database, worker, RateLimiters())
        task = asyncio.create_task(own.run())
        futures = [own.add(first)]
        if apart:
            await asyncio.wait(futures)
        futures.append(own.add(replace(second, after=[futures[0]])))
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        task.cancel()
        await database.close()
        return outcomes

    return asyncio.run(story())


@pytest.mark.parametrize("apart", [False, True])
def test_item_ends_together_with_its_last_judgment(judged, apart):
    worker, item, saves = judged
    assert saved_in_order(worker, *saves(), apart=apart) == [True, True]
    item.refresh_from_db()
    assert (item.state, item.score) == (ItemState.DONE, 1.0)


@pytest.mark.parametrize("apart", [False, True])
def test_item_without_one_of_its_judgments_does_not_end(judged, apart):
    worker, item, saves = judged
    first, second = saved_in_order(worker, *saves(value=2.0), apart=apart)
    assert isinstance(first, IntegrityError)
    assert second is first
    item.refresh_from_db()
    assert item.state == ItemState.PENDING


@pytest.mark.parametrize("apart", [False, True])
def test_item_of_another_worker_does_not_end(judged, apart):
    worker, item, saves = judged
    leases.free([worker])
    assert saved_in_order(worker, *saves(), apart=apart) == [False, False]
    item.refresh_from_db()
    assert item.state == ItemState.PENDING


def test_call_of_what_cannot_be_saved_is_recorded_all_the_same(leased):
    run, worker = leased
    result = run.results.first()
    saved_by(worker, turn(run, result, input_tokens=TOO_MANY_TOKENS))
    run.refresh_from_db()
    assert Call.objects.get().item_id == result.pk
    assert run.spent_usd == Decimal("0.01")


def test_rows_that_were_rolled_back_are_not_saved_over_others(leased, monkeypatch):
    """Their keys may have gone to other rows meanwhile: on SQLite they do."""
    run, worker = leased
    judge_run, result = run.judge_runs.get(), run.results.first()
    judge_run.result_scores.update(worker=worker)
    call = call_of(run)
    judgment = judgment_of(judge_run, result, value=1, call=call)
    item = judge_run.result_scores.get(result=result)
    save = Save(JUDGING, judge_run.pk, item.pk, judgment, [call])
    with monkeypatch.context() as patch:
        patch.setattr(JUDGING, "store", lambda saves: (type(JUDGING).store(JUDGING, saves), 1 / 0))
        with pytest.raises(ZeroDivisionError):
            store([save], worker.pk)
    assert (call.pk, judgment.pk) == (None, None)
    other = call_of(run, reply="another call that came between")
    other.save()

    store([save], worker.pk)

    assert Call.objects.count() == 2
    assert Judgment.objects.get().call == call
    assert Call.objects.get(pk=other.pk).reply == other.reply


def test_flush_waits_for_what_is_being_saved(leased):
    run, worker = leased
    result = run.results.first()

    async def story():
        database = Database()
        own = Saver(database, worker, RateLimiters())
        task = asyncio.create_task(own.run())
        own.add(turn(run, result))
        await asyncio.sleep(0.03)  # being written now
        await own.flush()
        found = await database(Answer.objects.exists)
        task.cancel()
        await database.close()
        return found

    assert asyncio.run(story())


def test_saver_waits_for_a_database_that_cannot_be_reached(leased, monkeypatch):
    run, worker = leased
    monkeypatch.setattr(database, "AGAIN_S", 0.01)
    failures = iter([True] * 5)

    def unreachable(function):
        def attempt(*args):
            if next(failures, False):
                raise OperationalError("server closed the connection unexpectedly")
            return function(*args)

        return attempt

    for module, name in ((saver, "store"), (database, "_begin_and_end")):
        monkeypatch.setattr(module, name, unreachable(getattr(module, name)))

    assert saved_by(worker, turn(run, run.results.first())) == [True]
    assert next(failures, None) is None


def test_error_that_only_looks_like_a_lost_database_is_raised_in_the_end(leased, monkeypatch):
    """Such as a row that is too large for an index: waiting would not help it."""
    run, worker = leased
    monkeypatch.setattr(database, "AGAIN_S", 0.01)

    def refuse(saves):
        raise OperationalError("index row size 3000 exceeds maximum")

    monkeypatch.setattr(ANSWERING, "store", refuse)

    (outcome,) = saved_by(worker, turn(run, run.results.first()))

    assert isinstance(outcome, OperationalError)
    assert Call.objects.count() == 1


def test_many_saves_share_a_transaction(leased, monkeypatch):
    run, worker = leased
    groups = []

    def counting(saves, worker_id):
        groups.append(len(saves))
        return store(saves, worker_id)

    monkeypatch.setattr(saver, "store", counting)
    saved_by(worker, *[turn(run, result) for result in run.results.all()])
    assert groups == [3]
