"""Lines of the log, as text or JSON, each with the request or work that it belongs to.

The standard library is enough: its records reach us from every library, and django-structlog would
bring three packages for these lines.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

HEADER = "X-Request-ID"
WELL_FORMED = re.compile(r"[A-Za-z0-9._:-]{1,64}")
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s%(about)s"

context: ContextVar[dict[str, Any] | None] = ContextVar("context", default=None)
"""Fields of all lines that this request, thread or asyncio task logs."""

requests = logging.getLogger("evalhub.requests")


def describe(**fields: Any) -> None:
    """Set the fields of lines from here on; empty ones are left out."""
    context.set({name: value for name, value in fields.items() if value not in ("", None)})


def request_id() -> str:
    """Return the id of the request that is being answered; "" outside of one."""
    return str((context.get() or {}).get("request_id", ""))


class WithContext(logging.Filter):
    """Adds the fields of the context to a record, for both formats."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.fields = {**(context.get() or {}), **getattr(record, "fields", {})}
        parts = [str(value) for value in (context.get() or {}).values()]
        record.about = f" [{', '.join(parts)}]" if parts else ""
        return True


class WithoutTraceback(logging.Filter):
    """Log a refusal on one line: whoever is refused could fill the log otherwise."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class JSONLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def configuration(form: str, level: str) -> dict[str, Any]:
    """Return the configuration of `logging`; `form` is "text" or "json"."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": {"format": TEXT}, "json": {"()": "evalhub.logs.JSONLines"}},
        "filters": {
            "context": {"()": "evalhub.logs.WithContext"},
            "refusals": {"()": "evalhub.logs.WithoutTraceback"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["context", "refusals"],
            }
        },
        "loggers": {
            "httpx": {"level": "WARNING"},  # else a line for each call
            "weasyprint": {"level": "ERROR"},  # else texts of reports
            "weasyprint.progress": {"level": "ERROR"},
            "fontTools": {"level": "ERROR"},
        },
        "root": {"handlers": ["console"], "level": level},
    }


def number_requests(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: each request has an id, in its log lines and its answer, and a line of its own.

    A well-formed one that came along is kept. Query strings are not logged: people search for
    texts. The id stays until the thread's next request: Django logs refusals at the very end.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        sent = request.headers.get(HEADER, "")
        number = sent if WELL_FORMED.fullmatch(sent) else uuid4().hex
        describe(request_id=number)
        began_at = time.perf_counter()
        response = get_response(request)
        response[HEADER] = number
        fields = {
            "method": request.method,
            "path": request.path,
            "status": response.status_code,
            "duration_ms": round((time.perf_counter() - began_at) * 1000),
            "user_id": _user_id(request),
        }
        message = "%(method)s %(path)s %(status)s in %(duration_ms)s ms"
        requests.info(message, fields, extra={"fields": fields})
        return response

    return respond


def _user_id(request: HttpRequest) -> Any:
    """Return the id of the user, if the request has looked them up; None: nobody, or not needed."""
    user = request.__dict__.get("user")
    if user is None or isinstance(user, SimpleLazyObject):
        user = getattr(request, "_cached_user", None)
    return getattr(user, "pk", None)
