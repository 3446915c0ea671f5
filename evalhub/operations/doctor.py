"""The health of an installation, from the place where it is asked: each check yields findings."""

from collections.abc import Iterator

from django.core.checks import ERROR, WARNING, run_checks
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from evalhub.display.formatting import counted
from evalhub.llm.connection_check import probe
from evalhub.llm.models import LanguageModel
from evalhub.operations.engines import engine
from evalhub.operations.findings import Finding, Level, error, ok, warning
from evalhub.operations.machine import disk, versions
from evalhub.operations.secrets import keys
from evalhub.values.database_cache import NEVER, CachedValue
from evalhub.work import clock, leases, schema
from evalhub.work.overview import dead_workers, outages, running_workers

MANY_CONNECTIONS = 0.8
"""Share of the server's connections in use from which there is a warning."""

DRIFT_WARNING_S, DRIFT_ERROR_S = 2.0, 60.0
HINTS = {
    **dict.fromkeys(
        ("security.W004", "security.W008", "security.W012", "security.W016"),
        "Set EVALHUB_HTTPS=true behind a proxy that speaks HTTPS.",
    ),
    "security.W009": "Set EVALHUB_SECRET_KEY to at least 50 random characters.",
    "security.W018": "Unset EVALHUB_DEBUG.",
}
"""EvalHub's own settings behind Django's checks."""

CONNECTIONS = """
    SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
        current_setting('max_connections')::int
        - current_setting('superuser_reserved_connections')::int
"""


def findings(*, ask_models: bool = False) -> Iterator[Finding]:
    """Yield the findings of all checks; those of the database only if it can be reached.

    Args:
        ask_models: Send each active model one short question, which may cost money.
    """
    yield from settings_()
    yield from versions()
    yield from disk()
    try:
        yield from of_database(ask_models=ask_models)
    except DatabaseError as problem:
        message = f"It does not answer: {problem}"
        yield error("database", message, "Check DATABASE_URL, and that its server runs.")


def of_database(*, ask_models: bool) -> Iterator[Finding]:
    yield from database()
    yield from clocks()
    if problem := schema.mismatch():
        yield error("database", problem)
        return
    yield ok("database", "All migrations are applied.")
    yield writable()
    yield from workers()
    yield from keys()
    yield from models() if ask_models else not_asked()


def settings_() -> Iterator[Finding]:
    """Yield what Django's checks find, those of a deployment too."""
    levels = {ERROR: Level.ERROR, WARNING: Level.WARNING}
    found = [one for one in run_checks(include_deployment_checks=True) if not one.is_silenced()]
    for one in found:
        sentence = str(one.msg).partition(". ")[0].rstrip(".")
        hint = HINTS.get(str(one.id), one.hint or "")
        level = levels.get(min(one.level, ERROR), Level.OK)
        yield Finding("settings", level, f"{sentence} ({one.id}).", hint)
    if not found:
        yield ok("settings", "Django's checks for deployment find nothing.")


def database() -> Iterator[Finding]:
    yield ok("database", f"{engine().server} answers.")
    if connection.vendor == "postgresql":
        yield connections_used()


def writable() -> Finding:
    """Write a row and take it back."""
    try:
        with transaction.atomic():
            CachedValue.objects.create(key="doctor", value="0", expires_at=NEVER)
            transaction.set_rollback(True)
    except DatabaseError as problem:
        hint = "Workers wait until it can. Check its disk, and that it is no standby."
        return error("database", f"It cannot be written: {problem}", hint)
    return ok("database", "It can be written.")


def connections_used() -> Finding:
    with connection.cursor() as cursor:
        used, limit = cursor.execute(CONNECTIONS).fetchone()
    message = f"{used} of {limit} connections are in use."
    if used < MANY_CONNECTIONS * limit:
        return ok("database", message)
    return warning("database", message, "Raise max_connections, or run fewer processes.")


def workers() -> Iterator[Finding]:
    running = running_workers()
    beating = [one for one in running if one.is_responding]
    for one in beating:
        if one.row.problem:
            yield error("workers", f"{one.row} takes no work: {one.row.problem}")
    for one in running:
        if not one.is_responding:
            message = f"{one.row} has had no heartbeat since {one.row.beat_at:%Y-%m-%d %H:%M:%S}."
            yield warning("workers", message, "Others take over its items; look at its log.")
    if died := dead_workers().count():
        message = f"{counted(died, 'worker')} died within a week."
        yield warning("workers", message, "Look at the logs, and at the memory of the machine.")
    if beating:
        yield ok("workers", f"{counted(len(beating), 'worker')} at work.")
    elif leases.is_work_waiting():
        yield error("workers", "Work waits and no worker is at it.", "Run manage.py worker.")
    else:
        yield ok("workers", "No work waits. Idle workers are not listed.")
    for outage in outages():
        message = f"{outage.language_model} has failed since {outage.down_since:%Y-%m-%d %H:%M:%S}:"
        yield warning("models", f"{message} {outage.down_reason}", "Its calls wait.")


def models() -> Iterator[Finding]:
    for model in LanguageModel.objects.active():
        report = probe(model)
        found = ok if report.succeeded else error
        yield found("models", f"{model}: {report.message}")


def not_asked() -> Iterator[Finding]:
    number = counted(LanguageModel.objects.active().count(), "active model")
    yield ok("models", f"{number}, not asked: --models sends each a short question.")


def clocks() -> Iterator[Finding]:
    """Compare this machine's clock with the database's, in the middle of the question."""
    before = timezone.now()
    there = clock.now()
    after = timezone.now()
    ahead_s = (there - before - (after - before) / 2).total_seconds()
    message = f"The database's clock differs by {abs(ahead_s):.1f} s from this machine's."
    if abs(ahead_s) < DRIFT_WARNING_S:
        yield ok("clock", message)
    else:
        level = Level.ERROR if abs(ahead_s) >= DRIFT_ERROR_S else Level.WARNING
        yield Finding("clock", level, message, "Set both by NTP.")
