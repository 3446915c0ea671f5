from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from evalhub.schedules import BadCron, _done
from runs.launching import schedules
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchSpec
from runs.launching.schedules import launch_again, launch_scheduled
from runs.models import Launch, Run
from tests.factories import make_model, make_test

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday


def make_launch(**fields):
    spec = LaunchSpec(label="nightly", tests=[make_test().pk], models=[make_model().pk])
    record = launch(spec, by=None)
    due = {"cron": "0 6 * * *", "next_at": NOW - timedelta(hours=6)}
    for name, value in (due | fields).items():
        setattr(record, name, value)
    record.save()
    return record


def test_what_is_due_is_launched_and_its_outcome_kept():
    record = make_launch()

    assert launch_scheduled(NOW) == 1

    record.refresh_from_db()
    assert record.runs.count() == 2
    assert record.last_outcome == "Launched 1 run."
    assert record.last_at == NOW
    assert record.next_at == datetime(2026, 3, 3, 6, 0, tzinfo=UTC)


def test_times_that_were_missed_fire_once():
    make_launch(next_at=NOW - timedelta(days=9))

    assert [launch_scheduled(NOW), launch_scheduled(NOW)] == [1, 0]


@pytest.mark.parametrize(
    "fields",
    [{"is_paused": True}, {"cron": ""}, {"next_at": NOW + timedelta(seconds=1)}, {"next_at": None}],
)
def test_what_is_not_due_is_left_alone(fields):
    make_launch(**fields)

    assert launch_scheduled(NOW) == 0


def test_of_two_processes_one_launches():
    record = make_launch()
    stale = Launch.objects.get(pk=record.pk)

    assert launch_scheduled(NOW) == 1
    assert _done(stale, schedules._launch, NOW) is False
    assert record.runs.count() == 2


def test_a_refused_launch_says_why_and_recurs():
    record = make_launch()
    model = record.runs.get().language_model
    model.is_active = False
    model.save()

    assert launch_scheduled(NOW) == 1

    record.refresh_from_db()
    assert record.last_outcome == f"Refused: These models are inactive: {model.name}."
    assert record.next_at is not None
    assert record.runs.count() == 1


def test_an_error_is_kept_in_words_and_others_are_still_launched(monkeypatch):
    broken, sound = make_launch(), make_launch()
    real = schedules.launch

    def launch_or_break(spec, *, by, record):
        if record.pk == broken.pk:
            raise RuntimeError("the disk is full")
        return real(spec, by=by, record=record)

    monkeypatch.setattr(schedules, "launch", launch_or_break)
    assert launch_scheduled(NOW) == 2
    broken.refresh_from_db()
    assert broken.last_outcome == "Failed: the disk is full"
    assert sound.runs.count() == 2


def test_pausing_stops_it_and_resuming_takes_the_next_time():
    record = make_launch()

    record.pause()
    assert (launch_scheduled(NOW), record.next_at) == (0, None)
    with time_machine.travel(NOW, tick=False):
        record.resume()
    assert record.next_at == datetime(2026, 3, 3, 6, 0, tzinfo=UTC)


def test_launching_again_adds_runs_to_the_same_launch():
    record = make_launch(cron="", next_at=None)

    launch_again(record, by=None)

    assert Run.objects.filter(launch=record).count() == 2
    assert record.last_outcome == "Launched 1 run."


def test_a_bad_expression_is_not_stored():
    record = make_launch(cron="", next_at=None)

    with pytest.raises(BadCron):
        record.start_schedule("every day")
    record.refresh_from_db()
    assert record.cron == ""
