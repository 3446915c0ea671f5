"""What can go wrong between a script and the site."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

SHOWN = 300
"""Characters shown of a body that is no JSON, such as a proxy's page."""


class EvalHubError(Exception):
    """Base of all errors of this package; the message says what to do."""


class Unreachable(EvalHubError):
    """The site did not answer, or the connection broke before it did."""


class NotDone(EvalHubError):
    """The time to wait for a run is over."""


class ApiError(EvalHubError):
    """The site refused a request, or failed.

    Attributes:
        status: The HTTP status, such as 403.
        code: A short name of the kind of error; "" if the site sent none.
        detail: What is wrong, in a sentence; "" if only `problems` say so.
        problems: Every problem of the request, with the field it is in.
    """

    def __init__(
        self, status: int, *, title: str, code: str = "", detail: str = "", problems: Any = ()
    ) -> None:
        self.status, self.title, self.code, self.detail = status, title, code, detail
        self.problems = list(_sentences(problems))
        told = [*([detail] if detail and detail not in self.problems else []), *self.problems]
        super().__init__(f"{title} ({status}): {' '.join(told)}" if told else f"{title} ({status})")


def error_of(reply: httpx.Response) -> EvalHubError:
    """Return the error that a response is."""
    if reply.is_redirect:
        return EvalHubError(
            f"{reply.request.url} has moved to {reply.headers.get('Location')}: use that address."
        )
    try:
        body = reply.json()
    except ValueError:
        body = {"detail": reply.text[:SHOWN].strip()}
    if not isinstance(body, Mapping):
        body = {"problems": body}
    title = str(body.get("title") or reply.reason_phrase or "Error")
    known = {"type", "title", "status", "code", "detail", "instance", "problems", "request_id"}
    fields = {name: value for name, value in body.items() if name not in known}
    return ApiError(
        reply.status_code,
        title=title,
        code=str(body.get("code") or ""),
        detail=_text(body.get("detail")),
        problems=[*_sentences(body.get("problems") or []), *_sentences(fields)],
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else " ".join(_sentences(value or []))


def _sentences(problems: Any, place: str = "") -> Iterator[str]:
    """Yield each problem as a text that begins with its place."""
    if isinstance(problems, Mapping):
        if isinstance(message := problems.get("message", problems.get("detail")), str):
            named = problems.get("field") or problems.get("pointer") or ""
            yield from _sentences(message, ".".join(filter(None, (place, str(named)))))
            return
        for name, inner in problems.items():
            yield from _sentences(inner, ".".join(filter(None, (place, str(name)))))
    elif isinstance(problems, list | tuple):
        for inner in problems:
            yield from _sentences(inner, place)
    else:
        text = problems if isinstance(problems, str) else json.dumps(problems)
        yield f"{place}: {text}" if place else text
