"""The view that joins all records of acts. `migrate` makes it anew, so that it lacks no table.

Users who did something stay, so that it stays on record who did it.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from axes.models import AccessFailureLog, AccessLog
from django.apps import apps
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connections, transaction
from django.db.models import Model, ProtectedError

from evalhub.access.models import Exposure, ExposureKind, User
from evalhub.audit.models import Act, AuditEntry

VIEW = AuditEntry._meta.db_table
TEXT, NUMBER = ("CAST({} AS text)", "''"), ("CAST({} AS bigint)", "NULL")
COLUMNS = {
    "kind": TEXT,
    "number": NUMBER,
    "act": TEXT,
    "actor_id": NUMBER,
    "name": TEXT,
    "address": TEXT,
    "reason": TEXT,
    "recipient": TEXT,
    "message": TEXT,
    "version": NUMBER,
}
"""How a column is written, and what it is where a part has none. All parts have the same types:
only then does PostgreSQL read just the newest rows of each table for the newest of all."""


@cache
def histories() -> dict[str, type[Model]]:
    """Return the model of the versions of each model that has them, by label."""
    found: dict[str, type[Model]] = {}
    for model in apps.get_models():
        if manager := getattr(model._meta, "simple_history_manager_attribute", ""):
            found[model._meta.label_lower] = getattr(model, manager).model
    return found


def signed_models() -> list[Any]:
    return [model for model in apps.get_models() if hasattr(model, "signed")]


def recorded_models() -> list[type[Model]]:
    """Return the models whose rows the view knows, but for those that only the admin notes."""
    found = [apps.get_model(kind) for kind in histories()]
    found += [*signed_models(), Exposure, AccessLog, AccessFailureLog]
    return found


def drop(plan: Any, using: str, **kwargs: Any) -> None:
    """Drop the view before tables change."""
    if plan:
        with connections[using].cursor() as cursor:
            cursor.execute(f"DROP VIEW IF EXISTS {VIEW}")


def make(using: str, **kwargs: Any) -> None:
    """Make the view, unless `migrate` went back to where tables are missing."""
    connection = connections[using]
    host = connection.ops.lookup_cast("contains", "GenericIPAddressField")
    parts = [*_of_versions(), *_of_signed_rows(), *_of_exposures(), *_of_logins(host), _of_admin()]
    needed: set[type[Model]] = {LogEntry, *recorded_models(), *histories().values()}
    with transaction.atomic(using), connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        if {_table(model) for model in needed} <= tables:
            cursor.execute(f"DROP VIEW IF EXISTS {VIEW}")
            cursor.execute(f"CREATE VIEW {VIEW} AS {' UNION ALL '.join(parts)}")


def _of_versions() -> Iterator[str]:
    for kind, versions in histories().items():
        pk = apps.get_model(kind)._meta.pk
        yield _part(
            _table(versions),
            key=_key(kind, "history_id"),
            at="history_date",
            kind=f"'{kind}'",
            number=pk.attname,
            act=_case("history_type", {"+": Act.ADDED, "~": Act.CHANGED, "-": Act.DELETED}),
            actor_id="history_user_id",
            reason="COALESCE(history_change_reason, '')",
            version="history_id",
        )


def _of_signed_rows() -> Iterator[str]:
    for model in signed_models():
        kind, signed, pk = model._meta.label_lower, model.signed, model._meta.pk
        yield _part(
            _table(model),
            key=_key(kind, pk.attname),
            at=signed.at,
            kind=f"'{kind}'",
            number=model._meta.get_field(signed.on).attname,
            act=f"'{Act.ADDED}'",
            actor_id=model._meta.get_field(signed.by).attname,
        )


def _of_exposures() -> Iterator[str]:
    kind = Exposure._meta.label_lower
    username = f"(SELECT username FROM {_table(User)} u WHERE u.id = user_id)"
    same = {
        "kind": f"'{kind}'",
        "number": "test",
        "reason": "reason",
        "recipient": f"COALESCE({username}, endpoint)",
    }
    acts = {
        ExposureKind.REVEALED: Act.REVEALED,
        ExposureKind.SENT: Act.SENT,
        ExposureKind.OPENED: Act.OPENED,
    }
    yield _part(
        _table(Exposure),
        key=_key(kind, "id"),
        at="created_at",
        act=_case("kind", acts),
        actor_id="by_id",
        **same,
    )
    yield _part(
        f"{_table(Exposure)} WHERE ended_at IS NOT NULL",
        key=_key(f"{kind}-end", "id"),
        at="ended_at",
        act=f"'{Act.ENDED}'",
        actor_id="ended_by_id",
        **same,
    )


def _of_logins(host: str) -> Iterator[str]:
    user = f"(SELECT u.id FROM {_table(User)} u WHERE u.username = login.username)"
    for model, act, actor in (
        (AccessLog, Act.LOGGED_IN, user),
        (AccessFailureLog, Act.REFUSED, ""),
    ):
        kind = model._meta.label_lower
        yield _part(
            f"{_table(model)} login",
            key=_key(kind, "id"),
            at="attempt_time",
            kind=f"'{kind}'",
            act=f"'{act}'",
            actor_id=actor,
            name="COALESCE(username, '')",
            address=f"COALESCE({host % 'ip_address'}, '')",
        )


def _of_admin() -> str:
    """Return what the admin notes of the rows of models that have no versions."""
    kind = "type.app_label || '.' || type.model"
    recorded = ", ".join(f"'{label}'" for label in histories())
    digits = "TRIM(object_id, '0123456789') = '' AND LENGTH(object_id) BETWEEN 1 AND 18"
    acts = {ADDITION: Act.ADDED, CHANGE: Act.CHANGED, DELETION: Act.DELETED}
    return _part(
        f"{_table(LogEntry)} log JOIN {_table(ContentType)} type ON type.id = log.content_type_id "
        f"WHERE {kind} NOT IN ({recorded})",
        key=_key(LogEntry._meta.label_lower, "log.id"),
        at="action_time",
        kind=kind,
        number=f"CASE WHEN {digits} THEN CAST(object_id AS bigint) END",
        act=_case("CAST(action_flag AS text)", {str(flag): act for flag, act in acts.items()}),
        actor_id="user_id",
        message="change_message",
    )


def _part(source: str, *, key: str, at: str, **columns: str) -> str:
    """Return the query of one source; `columns` are expressions."""
    cells = (
        f"{cast.format(columns.get(name) or empty)} AS {name}"
        for name, (cast, empty) in COLUMNS.items()
    )
    return f"SELECT CAST({key} AS text) AS id, {at} AS at, {', '.join(cells)} FROM {source}"


def _key(prefix: str, column: str) -> str:
    return f"'{prefix}-' || CAST({column} AS text)"


def _case(column: str, values: Mapping[Any, str]) -> str:
    whens = " ".join(f"WHEN '{value}' THEN '{name}'" for value, name in values.items())
    return f"CASE {column} {whens} END"


def _table(model: type[Model]) -> str:
    return model._meta.db_table


def keep_authors(instance: User, **kwargs: Any) -> None:
    """Raise ProtectedError if this user did something; a receiver of deletions."""
    acts = AuditEntry.objects.filter(actor=instance.pk)
    if acts.exists():
        raise ProtectedError(f"{instance} did something that is on record.", set(acts[:1]))
