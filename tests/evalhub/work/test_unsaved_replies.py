"""Paid replies that could not be saved are used by the next try of their item."""

import asyncio
from decimal import Decimal

import pytest
from django.db import IntegrityError

from evalhub.models import BatchState, Call, ItemState, Worker
from evalhub.work import leases, unsaved_replies
from evalhub.work.database import Database
from evalhub.work.kinds import kinds
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.saver import Saver, store
from runs.lifecycle import control
from runs.models import Answer, Judgment, Run
from tests.evalhub.work.processes import eventually
from tests.evalhub.work.test_loop import is_judge, some_tests, states
from tests.evalhub.work.test_saver import call_of, leased, turn
from tests.factories import first_result, make_jury, make_run
from tests.provider import verdict

__all__ = ["leased"]

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERING, JUDGING, *_ = kinds()


def test_retry_after_a_failure_to_save_asks_nothing_again(provider, model_at, work, monkeypatch):
    """As after a column was added that the worker does not fill."""
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four."
    run = make_run(*some_tests(6), model=model_at(), jury=make_jury(model_at()))

    def refuse(saves):
        raise IntegrityError("null value in column 'new' violates not-null constraint")

    with monkeypatch.context() as patch:
        patch.setattr(JUDGING, "store", refuse)
        work()
    assert not Judgment.objects.exists()
    assert provider.total == Call.objects.count() == 12

    control.retry_errors(run)
    work()

    assert Judgment.objects.filter(state="ok").count() == 6
    assert provider.total == Call.objects.count() == 12
    assert not Call.objects.filter(unsaved__isnull=False).exists()


def test_reply_that_fails_to_save_again_is_not_used_for_ever(provider, model_at, work, monkeypatch):
    run = make_run(model=model_at())

    def refuse(saves):
        raise IntegrityError("it is the reply itself")

    with monkeypatch.context() as patch:
        patch.setattr(ANSWERING, "store", refuse)
        work()
        control.retry_errors(run)
        work()
    assert provider.total == 1

    control.retry_errors(run)
    work()

    assert provider.total == 2
    assert first_result(run).state == ItemState.DONE


def completed(save):
    """Let a save's call know its reply, as one that was just made does."""
    save.calls[0].completion = save.content.completion
    return save


def test_worker_wrongly_taken_for_dead_asks_nothing_again(provider, model_at, start):
    provider.may_reply.clear()
    run = make_run(*some_tests(6), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "calls in flight")

    eventually(lambda: leases.free([Worker.objects.get()]), "that it is taken for dead")
    provider.may_reply.set()
    worker.end()

    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1


def test_reply_to_an_item_of_another_worker_is_used_by_that_one(provider, model_at, work):
    run = make_run(*some_tests(3), model=model_at())
    work()
    result = run.results.order_by("pk").first()
    zombie, other = leases.register(), leases.register()
    run.results.filter(pk=result.pk).update(state=ItemState.PENDING, worker=other)
    save = completed(turn(run, result, "From the zombie."))
    save.calls[0].request_digest = Call.objects.get(item_id=result.pk).request_digest
    Answer.objects.filter(result=result).delete()

    assert store([save], zombie.pk) == [False]
    leases.sign_off(other, {})
    Run.objects.filter(pk=run.pk).update(state=BatchState.LIVE)
    work()

    assert provider.total == 3
    assert Answer.objects.get(result=result).text == "From the zombie."


def test_reply_that_waits_when_a_worker_ends_is_kept_in_a_file(leased, data_folder):
    run, worker = leased
    result = run.results.first()

    async def story():
        database = Database()
        saver = Saver(database, worker, RateLimiters())
        saver.add(completed(turn(run, result)))
        task = asyncio.create_task(saver.run())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await database.close()

    asyncio.run(story())
    (path,) = unsaved_replies.folder().iterdir()
    assert path.is_relative_to(data_folder)
    assert path.stat().st_mode & 0o077 == 0
    assert not Call.objects.exists()

    copy = path.read_text()
    unsaved_replies.take_in()
    path.write_text(copy)
    unsaved_replies.take_in()

    run.refresh_from_db()
    assert Call.objects.get().unsaved["content"] == "Four."
    assert run.spent_usd == Decimal("0.01")
    assert not list(unsaved_replies.folder().iterdir())


@pytest.mark.parametrize("content", ["no JSON", "of a model that is gone"])
def test_file_that_cannot_be_taken_in_is_put_aside_and_ends_no_worker(leased, content):
    run, _ = leased
    call = call_of(run)
    unsaved_replies.write([call])
    (path,) = unsaved_replies.folder().iterdir()
    before = f'"language_model": {run.language_model_id}'
    text = path.read_text().replace(before, '"language_model": 999999')
    path.write_text("{" if content == "no JSON" else text)

    unsaved_replies.take_in()

    assert [found.name for found in path.parent.iterdir()] == [f"{path.name}.refused"]
    assert not Call.objects.exists()
