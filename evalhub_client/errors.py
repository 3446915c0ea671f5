"""What can go wrong between a script and the site."""

from collections.abc import Mapping, Sequence

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
        self,
        status: int,
        *,
        title: str,
        code: str = "",
        detail: str = "",
        problems: Sequence[str] = (),
    ) -> None:
        self.status, self.title, self.code, self.detail = status, title, code, detail
        self.problems = list(problems)
        told = " ".join(self.problems) or detail
        super().__init__(f"{title} ({status}): {told}" if told else f"{title} ({status})")


def error_of(reply: httpx.Response) -> EvalHubError:
    """Return the error that a response is, as RFC 9457 has it; a proxy's has a text only."""
    if reply.is_redirect:
        return EvalHubError(
            f"{reply.request.url} has moved to {reply.headers.get('Location')}: use that address."
        )
    try:
        body = reply.json()
    except ValueError:
        body = None
    if not isinstance(body, Mapping):
        body = {"detail": reply.text[:SHOWN].strip()}
    return ApiError(
        reply.status_code,
        title=str(body.get("title") or reply.reason_phrase or "Error"),
        code=str(body.get("code") or ""),
        detail=str(body.get("detail") or ""),
        problems=[_sentence(problem) for problem in body.get("problems") or ()],
    )


def _sentence(problem: Mapping[str, str]) -> str:
    field, message = problem["field"], problem["message"]
    return f"{field}: {message}" if field else message
