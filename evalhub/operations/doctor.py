"""The health of an installation, from the place where it is asked: each check yields findings."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import django
from django.conf import settings
from django.core.checks import ERROR, WARNING, run_checks
from django.db import DatabaseError, connection, transaction
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from packaging.requirements import Requirement

from evalhub import __version__
from evalhub.display.formatting import counted, few
from evalhub.llm.connection_check import probe
from evalhub.llm.models import LanguageModel
from evalhub.llm.security.key_policy import bindings, key_problem
from evalhub.notifications.models import Webhook
from evalhub.operations.engines import engine
from evalhub.values import clock
from evalhub.values.database_cache import NEVER, CachedValue
from evalhub.work import leases, unsaved_replies
from evalhub.work.database import mismatch
from evalhub.work.overview import dead_workers, outages, running_workers


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """A finding in an area such as `database`. `hint` says what to do about it."""

    area: str
    level: Level
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = " ".join(f"{self.message} {self.hint}".split())
        return f"{self.level:8} {self.area:9} {text}"

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def ok(area: str, message: str) -> Finding:
    return Finding(area, Level.OK, message)


def warning(area: str, message: str, hint: str = "") -> Finding:
    return Finding(area, Level.WARNING, message, hint)


def error(area: str, message: str, hint: str = "") -> Finding:
    return Finding(area, Level.ERROR, message, hint)


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
    if problem := mismatch():
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
        reports = probe(model)
        worked = [report.succeeded for report in reports]
        found = ok if all(worked) else warning if worked[0] else error
        yield found("models", f"{model}: {' '.join(report.message for report in reports)}")


def not_asked() -> Iterator[Finding]:
    number = counted(LanguageModel.objects.active().count(), "active model")
    yield ok("models", f"{number}, not asked: --models sends each three short questions.")


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


def keys() -> Iterator[Finding]:
    """Yield a finding for each active model or webhook whose secret is missing, or may not go."""
    try:
        bindings(settings.EVALHUB_KEYS)
    except ValueError as wrong:
        yield error("keys", f"EVALHUB_KEYS: {wrong}.")
        return
    active = LanguageModel.objects.active()
    named = [(f"Model {one}", name, one.api_base) for one in active for name in one.key_variables]
    hooks = Webhook.objects.filter(is_active=True)
    named += [(f"Webhook {one}", one.secret_env, one.url) for one in hooks]
    good = 0
    for user, variable, url in named:
        if problem := key_problem(variable, url):
            yield error("keys", f"{user}: {problem}")
        elif not os.environ.get(variable, "").strip():
            hint = f"Set {variable} for the workers; if it is, run doctor in their environment."
            yield warning("keys", f"{user}: {variable} is not set here.", hint)
        else:
            good += 1
    if good or not named:
        yield ok("keys", f"{good} of {len(named)} named keys are set and bound to their hosts.")


GB = 1024**3
LOW, FULL = GB, GB // 10
"""Free bytes below which there is a warning, and an error."""

LOCK = Path("locks") / "runtime.txt"


def disk() -> Iterator[Finding]:
    folders = {Path(settings.DATA_DIR)}
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        folders.add(file.parent)
        if file.exists():
            yield ok("disk", f"{file} has {size(file.stat().st_size)}.")
    for folder in sorted(folders):
        free = shutil.disk_usage(folder).free
        message = f"{size(free)} free in {folder}."
        hint = "Make room: without it nothing can be saved."
        found = error if free < FULL else warning
        yield ok("disk", message) if free >= LOW else found("disk", message, hint)
    yield from replies()


def replies() -> Iterator[Finding]:
    folder = unsaved_replies.folder()
    if waiting := len(list(folder.glob("*.jsonl"))):
        message = f"{counted(waiting, 'file')} of unsaved replies in {folder}."
        yield warning("disk", message, "The next worker that starts here takes them in.")
    if refused := len(list(folder.glob(f"*{unsaved_replies.REFUSED}"))):
        message = f"{counted(refused, 'file')} of replies in {folder} could not be taken in."
        yield error("disk", message, "The worker's log says why; then rename or remove them.")


def versions() -> Iterator[Finding]:
    names = f"EvalHub {__version__}, Python {platform.python_version()}"
    yield ok("versions", f"{names}, Django {django.get_version()}.")
    lock = settings.BASE_DIR / LOCK
    if not lock.exists():
        yield ok("versions", f"Not compared with {LOCK}, which only the source has.")
    elif others := differences(lock.read_text().splitlines()):
        message = f"Not as in {LOCK}: {few(others, most=5)}."
        hint = f"Run pip install --require-hashes -r {LOCK}."
        yield warning("versions", message, hint)
    else:
        yield ok("versions", f"All packages are as in {LOCK}.")


def differences(lines: list[str]) -> list[str]:
    """Return the packages of a lock that are missing here, or have another version."""
    found = []
    for line in lines:
        if "==" not in line or not line[0].isalnum():
            continue
        wanted = Requirement(line.rstrip("\\ "))
        if wanted.marker and not wanted.marker.evaluate():
            continue
        try:
            installed = version(wanted.name)
        except PackageNotFoundError:
            found.append(f"{wanted.name} is missing")
            continue
        if not wanted.specifier.contains(installed, prereleases=True):
            found.append(f"{wanted.name} {installed}")
    return found


def size(number: int) -> str:
    return filesizeformat(number).replace("\xa0", " ")
