"""What Prometheus reads: one answer for the whole installation."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from evalhub.models import Call, CallRole, Worker
from evalhub.operations import call_tally
from evalhub.operations.system_checks import check_metrics_token
from evalhub.values import clock
from runs.models import Result, Run
from tests.factories import make_model, make_run, make_test, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.both_engines]
TOKEN = "a scraper's token, long enough"


@pytest.fixture
def scrape(client, settings):
    """Return the figures by name and labels, as Prometheus reads them."""
    settings.EVALHUB_METRICS_TOKEN = TOKEN

    def read():
        response = client.get(
            "/metrics", headers={"authorization": f"Bearer {TOKEN}", "host": "10.1.2.3"}
        )
        assert response.status_code == 200, response.content
        return {
            (sample.name, frozenset(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(response.content.decode())
            for sample in family.samples
        }

    return read


def make_call(model, **fields):
    shown = {"role": CallRole.JUDGE, "request_digest": "0" * 64, "started_at": timezone.now()}
    return Call.objects.create(language_model=model, **shown | fields)


def test_metrics_are_off_and_then_need_their_token(client, settings):
    client.force_login(make_user("admin"))
    assert client.get("/metrics").status_code == 404
    settings.EVALHUB_METRICS_TOKEN = TOKEN
    assert client.get("/metrics").status_code == 401
    wrong = {"authorization": f"Bearer {TOKEN}."}
    assert client.get("/metrics", headers=wrong).status_code == 401


def test_a_short_token_is_refused_at_start(settings):
    settings.EVALHUB_METRICS_TOKEN = "short"
    assert [problem.id for problem in check_metrics_token(None)] == ["evalhub.E006"]


def test_calls_count_by_model_role_and_error(scrape):
    model = make_model(name="GPT")
    make_call(model, latency_ms=90, cost_usd=Decimal("0.25"), input_tokens=7, output_tokens=3)
    make_call(model, latency_ms=2000, error_kind="rate_limit")
    make_call(model)  # none of its figures was measured

    found = scrape()

    assert found["evalhub_calls_total", frozenset(["GPT", "judge", ""])] == 2
    assert found["evalhub_calls_total", frozenset(["GPT", "judge", "rate_limit"])] == 1
    assert found["evalhub_cost_usd_total", frozenset(["GPT", "judge"])] == 0.25
    assert found["evalhub_tokens_total", frozenset(["GPT", "judge", "input"])] == 7
    assert found["evalhub_call_latency_seconds_count", frozenset(["GPT", "judge"])] == 2
    assert found["evalhub_call_latency_seconds_sum", frozenset(["GPT", "judge"])] == 2.09
    assert found["evalhub_call_latency_seconds_bucket", frozenset(["GPT", "judge", "1.0"])] == 1


def test_a_counted_call_is_not_read_again_and_none_is_lost(scrape, time_machine):
    """Counters never fall: Prometheus would take that for a restart."""
    model, seen = make_model(name="GPT"), []
    for _ in range(4):
        make_call(model, latency_ms=10, cost_usd=Decimal("0.1"))
        seen.append(scrape()["evalhub_cost_usd_total", frozenset(["GPT", "judge"])])
        time_machine.move_to(timezone.now() + call_tally.SETTLES_AFTER, tick=False)

    assert seen == [0.1, 0.2, 0.3, 0.4]
    settled = Call.objects.order_by("pk")[2].pk
    Call.objects.filter(pk__lt=settled).update(cost_usd=100)
    assert scrape()["evalhub_cost_usd_total", frozenset(["GPT", "judge"])] == 0.4


def test_work_that_nobody_does_shows_as_lag(scrape):
    run = make_run(make_test(), make_test())
    Run.objects.filter(pk=run.pk).update(created_at=clock.ago(90))

    found = scrape()

    assert found["evalhub_work_items", frozenset(["run", "waiting"])] == 2
    assert 90 <= found["evalhub_work_lag_seconds", frozenset(["run"])] < 120
    worker = Worker.objects.create(name="w", started_at=clock.now(), beat_at=clock.now())
    first = run.results.first()
    Result.objects.filter(pk=first.pk).update(worker=worker)
    found = scrape()
    assert found["evalhub_work_items", frozenset(["run", "in progress"])] == 1
    assert found["evalhub_work_lag_seconds", frozenset(["run"])] == 0
    assert found["evalhub_workers", frozenset(["responding"])] == 1


def test_silent_workers_show(scrape):
    long_ago = timezone.now() - timedelta(minutes=5)
    Worker.objects.create(name="gone", started_at=long_ago, beat_at=long_ago)

    found = scrape()

    assert found["evalhub_workers", frozenset(["silent"])] == 1
    assert found["evalhub_worker_oldest_heartbeat_seconds", frozenset([])] > 290


def test_a_scrape_costs_few_queries_whatever_there_is(scrape, django_assert_max_num_queries):
    for number in range(3):
        make_call(make_model(name=f"Model {number}"))
        make_run(make_test())
    scrape()
    with django_assert_max_num_queries(40):
        scrape()
    if connection.vendor == "postgresql":
        assert ("evalhub_database_waiting", frozenset()) in scrape()
