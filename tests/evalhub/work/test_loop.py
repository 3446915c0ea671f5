"""Loops, alone and in pairs, on real batches against a real provider."""

import threading
import time
from itertools import pairwise

import pytest
from django.db import OperationalError, connection, transaction

from evalhub.models import BatchState, Call, ItemState
from evalhub.work import batches, database, leases, loop, saver
from evalhub.work.models import Worker as WorkerRow
from runs.lifecycle import control
from runs.models import Answer, Judgment, Result, Run
from tests import provider as scripted
from tests.evalhub.work.processes import eventually
from tests.factories import first_result, make_issue, make_jury, make_run, make_template, make_test
from tests.provider import is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)


def some_tests(n, word="Question"):
    template, issue = make_template(), make_issue()
    return [make_test(f"{word} {k}?", template=template, issue=issue) for k in range(n)]


def slowly(provider, latency_s):
    provider._latencies_ms = iter(lambda: latency_s * 1000, None)


def states(run):
    return set(run.results.values_list("state", flat=True))


def is_paused(worker):
    return not any(live.gate.is_open for live in worker.loop.live_batches.values())


def announced():
    """Return the calls in flight of each worker that told the others that it uses a model."""
    uses = WorkerRow.objects.values_list("models_in_use", flat=True)
    return [use["in_flight"] for some in uses for use in some.values() if use["since"]]


# Two workers -------------------------------------------------------------------------------------


def test_two_workers_do_nothing_twice(provider, model_at, start):
    slowly(provider, 0.05)
    jury = make_jury(model_at(), model_at())
    run = make_run(*some_tests(40), model=model_at(), jury=jury)

    one, two = start(), start()
    one.end()
    two.end()

    assert states(run) == {ItemState.DONE}
    assert provider.total == 40 * 3
    assert max(provider.counts.values()) == 1
    assert Judgment.objects.count() == 80


@pytest.mark.parametrize("limit", [1, 3])
def test_two_workers_that_start_together_keep_to_one_limit(provider, model_at, start, limit):
    slowly(provider, 0.1)
    run = make_run(*some_tests(10), model=model_at(max_concurrency=limit))

    one, two = start(), start()
    one.end()
    two.end()

    assert states(run) == {ItemState.DONE}
    assert provider.max_in_flight <= limit


def test_second_worker_joins_without_exceeding_the_limit(provider, model_at, start):
    provider.may_reply.clear()
    slowly(provider, 0.05)
    run = make_run(*some_tests(40), model=model_at(max_concurrency=4))
    one = start()
    eventually(lambda: announced() == [4], "a busy first worker that told so")

    two = start()
    eventually(lambda: len(announced()) == 2, "the second worker's announcement")
    slowly(provider, 0.5)
    provider.may_reply.set()
    eventually(lambda: len(two.loop._tasks()) > 0, "the second worker's part")
    one.end()
    two.end()

    assert states(run) == {ItemState.DONE}
    assert provider.max_in_flight == 4


def test_a_model_left_idle_is_announced_again_before_it_is_used(provider, model_at, start):
    """A judge is silent between answers: both workers would take all of it, unless they tell."""
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four."
    judge = model_at(max_concurrency=1)
    slowly(provider, 0.1)
    run = make_run(*some_tests(10), model=model_at(max_concurrency=4), jury=make_jury(judge))
    one, two = start(), start()
    one.end()
    two.end()

    calls = sorted(
        (call.started_at.timestamp(), call.latency_ms / 1000)
        for call in Call.objects.filter(language_model=judge)
    )
    overlaps = [a for a, b in pairwise(calls) if a[0] + a[1] > b[0] + 0.02]
    assert states(run) == {ItemState.DONE}
    assert overlaps == []


def test_requests_per_minute_hold_across_workers_and_restarts(provider, model_at, start):
    make_run(*some_tests(30), model=model_at(requests_per_minute=6))

    first = start()
    eventually(lambda: provider.total == 6, "the first minute's calls")
    first.stop()
    first.end()
    for worker in (start(seconds=1), start(seconds=1)):
        worker.end()

    assert provider.total == 6


# Pause, cancel, stop -----------------------------------------------------------------------------


def test_run_resumed_before_its_calls_ended_goes_on(provider, model_at, start):
    provider.may_reply.clear()
    run = make_run(*some_tests(6), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "calls in flight")
    control.pause_run(run)
    eventually(lambda: is_paused(worker), "the pause")
    control.resume_run(run)

    provider.may_reply.set()
    worker.end(15)

    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1


def test_pause_lets_calls_in_flight_end_and_saves_them(provider, model_at, start):
    provider.may_reply.clear()
    run = make_run(*some_tests(6), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "calls in flight")
    control.pause_run(run)
    eventually(lambda: is_paused(worker), "the pause")
    provider.may_reply.set()
    worker.end(10)

    assert provider.total == Answer.objects.count() == 2
    assert not Call.objects.exclude(error_kind="").exists()
    assert set(run.results.values_list("attempts", flat=True)) <= {0, 1}
    assert not run.results.filter(state=ItemState.PENDING).exclude(worker=None, attempts=0).exists()


def test_pause_keeps_the_verdicts_of_judges_that_were_faster(provider, model_at, start):
    """A judge waits for its turn when the pause comes; calls to the other are paid for."""
    narrow, wide = model_at(max_concurrency=1), model_at(max_concurrency=8)
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four."
    run = make_run(*some_tests(4), model=model_at(), jury=make_jury(narrow, wide))
    slowly(provider, 0.5)
    worker = start()
    eventually(lambda: sum(map(is_judge, provider.requests)) >= 4, "judges at work")
    control.pause_run(run)
    worker.end(15)
    control.resume_run(run)
    slowly(provider, 0)
    start().end()

    assert not Call.objects.filter(error_kind="cancelled").exists()
    assert max(provider.counts.values()) == 1
    assert Judgment.objects.filter(state="ok").count() == 8


def test_cancel_ends_calls_in_flight_at_once_and_records_them(provider, model_at, start):
    provider.script = lambda request: scripted.HANG
    run = make_run(*some_tests(6), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "calls in flight")

    control.cancel_run(run)
    worker.end(4)

    assert states(run) == {ItemState.CANCELLED}
    assert list(Call.objects.values_list("error_kind", "cost_usd")) == [("cancelled", None)] * 2


def test_stop_ends_within_eight_seconds_and_gives_all_back(provider, model_at, start):
    provider.script = lambda request: scripted.HANG
    run = make_run(*some_tests(6), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "calls in flight")

    worker.stop()
    worker.end(8)

    assert not run.results.exclude(state=ItemState.PENDING, worker=None, attempts=0).exists()
    assert worker.error is None


def test_stop_after_the_time_is_over_ends_as_soon(provider, model_at, start, monkeypatch):
    """At the end of its time a worker waits for calls in flight, but SIGTERM does not."""
    monkeypatch.setattr(loop, "SETTLE_S", 0.1)
    provider.script = lambda request: scripted.HANG
    run = make_run(*some_tests(2), model=model_at())
    worker = start(seconds=1)
    eventually(lambda: provider.in_flight == 2, "calls in flight")
    eventually(lambda: time.monotonic() > worker.loop.ends_at + 0.2, "the end of its time")

    worker.stop()
    worker.end(8)

    assert not run.results.exclude(state=ItemState.PENDING, worker=None, attempts=0).exists()


def test_end_of_time_saves_what_is_in_flight_and_gives_the_rest_back(provider, model_at, start):
    slowly(provider, 0.4)
    run = make_run(*some_tests(30), model=model_at(max_concurrency=2))
    start(seconds=1).end(6)

    assert Answer.objects.count() == provider.total > 0
    left = run.results.filter(state=ItemState.PENDING)
    assert left.exists()
    assert not left.exclude(worker=None, attempts=0).exists()
    assert WorkerRow.objects.get().stopped_at is not None


def test_cancel_is_seen_after_the_time_is_over(provider, model_at, start):
    provider.script = lambda request: scripted.HANG
    run = make_run(*some_tests(2), model=model_at())
    worker = start(seconds=0.5)
    eventually(lambda: provider.in_flight == 2, "calls in flight")
    eventually(lambda: time.monotonic() > worker.loop.ends_at + 0.2, "the end of its time")

    control.cancel_run(run)
    worker.end(4)

    assert set(run.results.values_list("state", flat=True)) == {ItemState.CANCELLED}


def test_worker_that_joins_gets_what_the_first_has_not_begun(provider, model_at, start):
    provider.may_reply.clear()
    run = make_run(*some_tests(24), model=model_at(max_concurrency=8))
    one = start()
    eventually(lambda: provider.in_flight == 8, "calls in flight")
    eventually(lambda: len(one.loop._tasks()) == 14, "what waits behind them")
    eventually(lambda: announced() == [8], "that it told so")

    two = start()
    eventually(lambda: len(one.loop._tasks()) <= 8, "what was given back")
    assert provider.total == 8  # nothing has ended yet
    provider.may_reply.set()
    one.end()
    two.end()

    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1


if connection.vendor == "postgresql":  # SQLite has one writer at a time

    def test_cancelling_survives_a_deadlock_with_a_worker():
        """A worker holds a later row and asks for an earlier one, against the order."""
        run = make_run(*some_tests(4))
        first, *_, last = run.results.order_by("pk").values_list("pk", flat=True)
        holds, asked = threading.Event(), threading.Event()
        problems = []

        def lock(pk):
            Result.objects.select_for_update().get(pk=pk)

        def against_the_order():
            try:
                with transaction.atomic():
                    lock(last)
                    holds.set()
                    asked.wait(60)
                    time.sleep(0.3)  # the act waits for the last row by now
                    lock(first)
            except OperationalError as error:
                problems.append(error)
            finally:
                connection.close()

        other = threading.Thread(target=against_the_order)
        other.start()
        holds.wait(60)
        asked.set()
        control.cancel_run(run)
        other.join()

        assert states(run) == {ItemState.CANCELLED}


# One batch and the others ------------------------------------------------------------------------


def test_new_run_is_seen_while_the_old_one_goes_on(provider, model_at, start):
    slowly(provider, 0.3)
    old = make_run(*some_tests(60), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 2, "a busy worker")
    make_run(*some_tests(1, "New"), model=model_at())
    eventually(lambda: any("New" in prompt(r) for r in provider.requests), "the new run")

    assert old.results.filter(state=ItemState.PENDING).count() > 20
    worker.stop()


def test_small_run_is_not_kept_waiting_by_a_huge_one(provider, model_at, start):
    slowly(provider, 0.05)
    model = model_at(max_concurrency=2)
    huge = make_run(*some_tests(150, "Huge"), model=model)
    worker = start()
    eventually(lambda: provider.total > 5, "the huge run's start")
    small = make_run(*some_tests(5, "Small"), model=model)

    eventually(lambda: states(small) == {ItemState.DONE}, "the small run")

    assert huge.results.filter(state=ItemState.PENDING).count() > 75
    worker.stop()


def test_batch_that_cannot_be_read_fails_alone_and_says_why(model_at, work):
    broken, sound = make_run(model=model_at()), make_run(model=model_at())
    Run.objects.filter(pk=broken.pk).update(endpoint={"name": "lost"})

    work()

    broken.refresh_from_db()
    assert states(sound) == {ItemState.DONE}
    assert broken.state == BatchState.FAILED
    assert "not an endpoint" in broken.reason


def test_item_that_cannot_be_prepared_is_an_error_alone(model_at, work):
    run = make_run(*some_tests(5), model=model_at())
    bad = first_result(run)
    bad.revision.content = {}
    bad.revision.save()

    work()

    bad.refresh_from_db()
    assert (bad.state, bad.error_kind) == (ItemState.ERROR, "internal")
    assert run.results.filter(state=ItemState.DONE).count() == 4


def test_deleted_run_does_not_end_the_work_of_others(provider, model_at, start):
    provider.may_reply.clear()
    doomed = make_run(*some_tests(4), model=model_at(max_concurrency=2))
    sound = make_run(*some_tests(8), model=model_at(max_concurrency=2))
    worker = start()
    eventually(lambda: provider.in_flight == 4, "both at work")

    doomed.delete()
    provider.may_reply.set()
    worker.end()

    assert states(sound) == {ItemState.DONE}
    assert worker.error is None


def test_finishing_that_fails_fails_the_judge_run_only(provider, model_at, work, monkeypatch):
    monkeypatch.setattr("runs.judging.work.statistics_of", lambda pk: 1 / 0)
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four."
    run = make_run(model=model_at(), jury=make_jury(model_at()))

    work()

    judge_run = run.judge_runs.get()
    assert judge_run.state == BatchState.FAILED
    assert "division by zero" in judge_run.reason
    assert first_result(run).outcome == "passed"


def test_run_left_unmarked_by_a_dead_worker_is_marked_as_done(model_at, work):
    run = make_run(model=model_at())
    run.results.update(state=ItemState.ERROR)
    run.judge_runs.get().result_scores.update(state=ItemState.ERROR)

    assert leases.is_work_waiting()
    work()

    run.refresh_from_db()
    assert run.state == BatchState.DONE
    assert not leases.is_work_waiting()


# Suspects ----------------------------------------------------------------------------------------


def test_suspect_is_done_with_nothing_else_in_flight(provider, model_at, work):
    beside = []

    def script(request):
        if "Suspect" in prompt(request):
            beside.append(provider.in_flight)
        return "Four."

    provider.script = script
    slowly(provider, 0.1)
    suspect = make_run(*some_tests(1, "Suspect"), model=model_at())
    suspect.results.update(attempts=2)
    other = make_run(*some_tests(10), model=model_at())

    work()

    assert beside == [1]
    assert states(suspect) == states(other) == {ItemState.DONE}


def test_third_death_is_an_error_with_words(provider, model_at, work):
    run = make_run(*some_tests(2), model=model_at(), jury=make_jury(model_at()))
    Result.objects.filter(pk=first_result(run).pk).update(attempts=3)

    work()

    result = first_result(run)
    assert (result.outcome, result.error_kind) == ("error", "worker_died")
    assert "died three times" in result.error_message
    run.refresh_from_db()
    assert run.state == BatchState.DONE


# Trouble -----------------------------------------------------------------------------------------


def test_dead_saver_ends_the_worker_instead_of_hanging_it(model_at, start, monkeypatch):
    async def broken(self, waiting):
        raise RuntimeError("no saver any more")

    monkeypatch.setattr(saver.Saver, "_store", broken)
    make_run(*some_tests(3), model=model_at())
    worker = start()
    worker.end(12)

    assert "no saver any more" in str(worker.error)


def test_short_loss_of_the_database_loses_and_repeats_nothing(
    provider, model_at, start, monkeypatch
):
    slowly(provider, 0.1)
    jury = make_jury(model_at(max_concurrency=2))
    run = make_run(*some_tests(20), model=model_at(max_concurrency=2), jury=jury)
    monkeypatch.setattr(database, "AGAIN_S", 0.2)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], *SHORT_PATIENCE[connection.vendor])
    worker = start()
    eventually(lambda: provider.total > 6, "a worker at work")

    lose_database(seconds=1)
    worker.end()

    assert states(run) == {ItemState.DONE}
    assert Answer.objects.count() == Judgment.objects.count() == 20
    assert max(provider.counts.values()) == 1
    assert worker.error is None


def test_claim_committed_as_the_connection_broke_leaves_no_item_behind(
    provider, model_at, start, monkeypatch
):
    run = make_run(*some_tests(10), model=model_at(max_concurrency=2))
    claim, broken = batches.claim, list[leases.Claim]()

    def claim_and_break(*args):
        claimed = claim(*args)
        if claimed.item_ids and len(broken) < 2:
            broken.append(claimed)
            raise OperationalError("server closed the connection unexpectedly")
        return claimed

    monkeypatch.setattr(batches, "claim", claim_and_break)

    start().end()

    assert len(broken) == 2
    assert states(run) == {ItemState.DONE}
    assert max(provider.counts.values()) == 1
    assert set(run.results.values_list("attempts", flat=True)) == {1}


SHORT_PATIENCE = {"sqlite": ("timeout", 0.05), "postgresql": ("connect_timeout", 2)}


def lose_database(seconds):
    """SQLite: locked by another process. PostgreSQL: every other connection is cut."""
    until = time.monotonic() + seconds
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            cursor.execute("ROLLBACK")
            return
        while time.monotonic() < until:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            time.sleep(0.05)


def test_judge_run_goes_on_while_answers_still_come(provider, model_at, start):
    provider.script = lambda r: verdict(1) if is_judge(r) else "Four."
    slowly(provider, 0.2)
    jury = make_jury(model_at())
    run = make_run(*some_tests(20), model=model_at(max_concurrency=1), jury=jury)
    worker = start()

    eventually(lambda: Judgment.objects.exists(), "a judgment")

    assert run.results.filter(state=ItemState.PENDING).count() > 5
    worker.stop()
