"""`/metrics` for Prometheus: figures of the whole installation, read when it is scraped.

All come from the database, so that every web process gives the same ones. No label holds a text
or the name of a person or machine.
"""

import hmac
import time
from collections.abc import Iterator

from django.conf import settings
from django.db import Error, connection
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from evalhub import __version__
from evalhub.llm.models import LanguageModel
from evalhub.notifications.models import Delivery, DeliveryState
from evalhub.operations import call_tally
from evalhub.values import clock
from evalhub.work import leases
from evalhub.work.kinds import AnyKind, kinds
from evalhub.work.models import BatchState, ItemState, SharedRate, Worker
from evalhub.work.processes.queue import waiting_tasks

UNDER_WAY = """
    SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock'),
        coalesce(extract(epoch FROM max(now() - xact_start)), 0)::float
    FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
"""


def answer(request: HttpRequest) -> HttpResponse:
    """Answer a scraper that sends `EVALHUB_METRICS_TOKEN`; without that setting, nobody."""
    wanted = settings.EVALHUB_METRICS_TOKEN
    if not wanted:
        return HttpResponse("Metrics are off.\n", "text/plain", 404)
    if not hmac.compare_digest(
        request.headers.get("Authorization", "").encode(), f"Bearer {wanted}".encode()
    ):
        refusal = HttpResponse("Send the token of EVALHUB_METRICS_TOKEN.\n", "text/plain", 401)
        refusal["WWW-Authenticate"] = "Bearer"
        return refusal
    registry = CollectorRegistry()
    registry.register(Figures())
    try:
        return HttpResponse(generate_latest(registry), CONTENT_TYPE_LATEST)
    except Error:
        return HttpResponse("The database does not answer.\n", "text/plain", 503)


class Figures:
    """The collector: a few queries, whose number does not grow with the data."""

    def describe(self) -> list[Metric]:
        """Say nothing on registration, which would read everything once more."""
        return []

    def collect(self) -> Iterator[Metric]:
        info = GaugeMetricFamily("evalhub_info", "1, with the version.", labels=["version"])
        info.add_metric([__version__], 1)
        yield info
        yield from database()
        yield from work()
        yield from workers()
        yield from models()
        yield from calls()


def gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"evalhub_{name}", meaning, value=value)


def database() -> Iterator[Metric]:
    began_at = time.perf_counter()
    clock.now()
    took_s = time.perf_counter() - began_at
    yield gauge("database_round_trip_seconds", "Duration of one small query.", took_s)
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        connected, waiting, oldest_s = cursor.execute(UNDER_WAY).fetchone()
    yield gauge("database_connections", "Connections to this database.", connected)
    yield gauge("database_waiting", "Connections that wait for a lock.", waiting)
    meaning = "Age of the longest transaction."
    yield gauge("database_longest_transaction_seconds", meaning, oldest_s)


def work() -> Iterator[Metric]:
    items = GaugeMetricFamily(
        "evalhub_work_items",
        "Unfinished items of running work; in progress: a worker is at them.",
        labels=["kind", "state"],
    )
    batches = GaugeMetricFamily(
        "evalhub_work_batches", "Runs, judge runs and the like by state.", labels=["kind", "state"]
    )
    lag = GaugeMetricFamily(
        "evalhub_work_lag_seconds",
        "Age of the oldest running work at which no worker is; 0: there is none.",
        labels=["kind"],
    )
    now = clock.now()
    for kind in kinds():
        name = str(kind.batch_model._meta.verbose_name)
        live = dict(kind.batches().filter(state=BatchState.LIVE).values_list("pk", "created_at"))
        paused = kind.batches().filter(state=BatchState.PAUSED).count()
        waiting, held, idle = items_of(kind, list(live))
        items.add_metric([name, "waiting"], waiting)
        items.add_metric([name, "in progress"], held)
        batches.add_metric([name, "running"], len(live))
        batches.add_metric([name, "paused"], paused)
        ages = [(now - live[batch]).total_seconds() for batch in idle]
        lag.add_metric([name], max([0.0, *ages]))
    yield from (items, batches, lag)
    yield gauge("queue_tasks", "Tasks that wait for a worker process.", waiting_tasks().count())
    pending = Delivery.objects.filter(state=DeliveryState.PENDING).count()
    yield gauge("deliveries_pending", "Webhook deliveries and e-mails to be sent.", pending)


def items_of(kind: AnyKind, batches: list[int]) -> tuple[int, int, list[int]]:
    """Return unfinished items that wait, those in progress, and batches that only wait."""
    if not batches:
        return 0, 0, []
    unfinished = kind.items().filter(
        **{f"{kind.batch_field}__in": batches}, state=ItemState.PENDING
    )
    rows = list(
        unfinished.order_by().values_list(kind.batch_field).annotate(Count("pk"), Count("worker"))
    )
    held = sum(row[2] for row in rows)
    return sum(row[1] for row in rows) - held, held, [row[0] for row in rows if not row[2]]


def workers() -> Iterator[Metric]:
    running = Worker.objects.filter(stopped_at=None).aggregate(
        alive=Count("pk", filter=leases.alive()), every=Count("pk"), oldest=Min("beat_at")
    )
    states = GaugeMetricFamily(
        "evalhub_workers", "Worker processes that are at work, by heartbeat.", labels=["state"]
    )
    states.add_metric(["responding"], running["alive"])
    states.add_metric(["silent"], running["every"] - running["alive"])
    yield states
    oldest = running["oldest"]
    age_s = (clock.now() - oldest).total_seconds() if oldest else 0.0
    yield gauge("worker_oldest_heartbeat_seconds", "Age of the oldest of their heartbeats.", age_s)
    refusing = Worker.objects.filter(leases.alive()).exclude(problem="").count()
    yield gauge(
        "workers_refusing", "Workers that take no work, such as after a migration.", refusing
    )


def models() -> Iterator[Metric]:
    down = GaugeMetricFamily("evalhub_model_down", "1: its provider is down.", labels=["model"])
    share = GaugeMetricFamily(
        "evalhub_model_rate_share", "Share of its own rate limits in use now.", labels=["model"]
    )
    for rate in SharedRate.objects.select_related("language_model"):
        down.add_metric([rate.language_model.name], rate.down_since is not None)
        share.add_metric([rate.language_model.name], rate.share)
    yield from (down, share)


def calls() -> Iterator[Metric]:
    by_role = ["model", "role"]
    made = CounterMetricFamily("evalhub_calls", "Calls by outcome.", labels=[*by_role, "error"])
    tokens = CounterMetricFamily("evalhub_tokens", "Tokens.", labels=[*by_role, "direction"])
    cost = CounterMetricFamily(
        "evalhub_cost_usd", "US dollars, of the calls with known prices.", labels=by_role
    )
    latency = HistogramMetricFamily(
        "evalhub_call_latency_seconds", "Duration of calls, failed ones included.", labels=by_role
    )
    names = dict(LanguageModel.objects.values_list("pk", "name"))
    tally = call_tally.read()
    for group, totals in tally.items():
        made.add_metric(
            [names[group.language_model_id], group.role, group.error_kind], totals.calls
        )
    for (model, role), totals in by_model_and_role(tally).items():
        labels = [names[model], role]
        tokens.add_metric([*labels, "input"], totals.input_tokens)
        tokens.add_metric([*labels, "output"], totals.output_tokens)
        cost.add_metric(labels, float(totals.cost_usd))
        bounds = zip(map(str, call_tally.BUCKETS_S), totals.below, strict=True)
        latency.add_metric(labels, [*bounds, ("+Inf", totals.timed)], totals.latency_ms / 1000)
    yield from (made, tokens, cost, latency)


def by_model_and_role(tally: call_tally.Tally) -> dict[tuple[int, str], call_tally.Totals]:
    found: dict[tuple[int, str], call_tally.Totals] = {}
    for group, totals in tally.items():
        key = (group.language_model_id, group.role)
        found[key] = found[key] + totals if key in found else totals
    return found
