"""Error responses of the API, as RFC 9457 has them. This module knows no view."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest, JsonResponse

MEDIA_TYPE = "application/problem+json"
GENERAL = ("problems", "non_field_errors", "__all__")
"""Keys of the errors of a whole object."""
IN_DETAIL = 5
"""Problems that the text of an error names; `problems` has all."""


class Code(NamedTuple):
    """A kind of error: its status, title, and its meaning for the documentation."""

    status: int
    title: str
    meaning: str


CODES = {
    "invalid": Code(400, "Invalid request", "The body or a parameter is wrong: see `problems`."),
    "parse_error": Code(400, "Unreadable body", "The body is not JSON that can be stored."),
    "not_authenticated": Code(401, "Not authenticated", "There is no token."),
    "authentication_failed": Code(401, "Invalid token", "The token is unknown or has ended."),
    "permission_denied": Code(403, "Permission denied", "The right that it names is missing."),
    "not_found": Code(404, "Not found", "There is no such row, or none that you may read."),
    "method_not_allowed": Code(405, "Method not allowed", "The address has no such method."),
    "not_acceptable": Code(406, "Not acceptable", "The requested format is not offered."),
    "conflict": Code(409, "Not possible now", "The current state forbids it."),
    "move_not_possible": Code(
        409, "Move not possible", "The current state forbids the move; `moves` has the possible."
    ),
    "idempotency_key_reused": Code(
        409, "Key used before", "Another request had this `Idempotency-Key`: use a new one."
    ),
    "changed_since": Code(
        412, "Changed since", "The row has another `ETag` than `If-Match`: read it again."
    ),
    "too_large": Code(413, "Body too large", "The body is longer than allowed."),
    "unsupported_media_type": Code(415, "Unsupported media type", "The body is not JSON."),
    "throttled": Code(429, "Too many requests", "Wait as many seconds as `Retry-After` says."),
    "error": Code(500, "Fault of EvalHub", "This is a fault in EvalHub, which has been logged."),
    "unavailable": Code(
        503, "Not available", "The database does not answer: try again after `Retry-After`."
    ),
}
"""All codes of errors. `docs/api.md` lists them."""


class Problem(NamedTuple):
    """A problem with a field, given by its path, such as judges[1].samples; "" for none."""

    field: str
    message: str
    code: str


def body_of(
    request: HttpRequest, code: str, detail: str, problems: Iterable[Problem] = (), **more: Any
) -> dict[str, Any]:
    """Return the body of an error response.

    Args:
        code: A key of `CODES`.
        more: Members that only errors of this code have.
    """
    known, request_id = CODES[code], getattr(request, "request_id", "")
    return {
        "type": f"urn:problem-type:evalhub:{code}",
        "title": known.title,
        "status": known.status,
        "detail": detail,
        "instance": request.path,
        "code": code,
        "problems": [problem._asdict() for problem in problems],
        **({"request_id": request_id} if request_id else {}),
        **more,
    }


def response_of(request: HttpRequest, code: str, detail: str) -> JsonResponse:
    """Return an error response, for addresses that no view of the API answers."""
    body = body_of(request, code, detail)
    return JsonResponse(body, status=body["status"], content_type=MEDIA_TYPE)


def flat(errors: Any, path: str = "") -> Iterator[Problem]:
    """Yield the problems of Django REST's nested errors, each with the path of its field."""
    if isinstance(errors, Mapping):
        for name, inner in errors.items():
            yield from flat(inner, _below(path, str(name)))
    elif isinstance(errors, list | tuple):
        for place, inner in enumerate(errors):
            is_nested = isinstance(inner, Mapping | list | tuple)
            yield from flat(inner, f"{path}[{place}]" if is_nested else path)
    else:
        yield Problem(path, str(errors), getattr(errors, "code", None) or "invalid")


def _below(path: str, name: str) -> str:
    if name in GENERAL:
        return path
    if name.isdecimal():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name


def in_words(problems: Iterable[Problem]) -> str:
    """Name the first problems with their fields, and count the others."""
    lines = [f"{one.field}: {one.message}" if one.field else one.message for one in problems]
    more = len(lines) - IN_DETAIL
    return " ".join([*lines[:IN_DETAIL], *([f"And {more} more."] if more > 0 else [])])
