"""Translation of exceptions into the API's error responses."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, RequestDataTooBig
from django.core.exceptions import PermissionDenied as Forbidden
from django.core.exceptions import ValidationError as ModelError
from django.http import Http404
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler

from evalhub.api.fields import UNKNOWN
from evalhub.api.problems import CODES, MEDIA_TYPE, Problem, body_of, flat, in_words
from evalhub.llm.parameters import SECRET
from evalhub.refusals import NotPossible

SHOWN = 80
UNSHOWN = (*SECRET, "headers")
"""Parts of names of fields that hold a key, perhaps by mistake."""


class Conflict(APIException):
    """A refusal by the current state.

    `more`: members that the error's body has besides.
    """

    status_code: int = status.HTTP_409_CONFLICT
    default_code = "conflict"

    def __init__(
        self, detail: str, code: str | None = None, problems: Sequence[str] = (), **more: Any
    ) -> None:
        super().__init__(detail, code)
        self.problems, self.more = problems, more


class ChangedSince(Conflict):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "changed_since"


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = f"A request holds at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes."


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to a failed request; None for an error of ours."""
    error = api_error(error)
    response = exception_handler(error, context)
    if response is None or not isinstance(error, APIException):
        return None
    request = context["request"]
    problems = problems_of(error, request)
    detail = in_words(problems) if isinstance(error, ValidationError) else str(error.detail)
    more = getattr(error, "more", {})
    response.data = body_of(request._request, code_of(error), detail, problems, **more)
    renderer = getattr(request, "accepted_renderer", None)
    if renderer is None or isinstance(renderer, JSONRenderer):
        response.content_type = MEDIA_TYPE
    return response


def code_of(error: APIException) -> str:
    """Return the key of an error in `CODES`."""
    codes = error.get_codes()
    return codes if isinstance(codes, str) and codes in CODES else error.default_code


def problems_of(error: APIException, request: Any) -> list[Problem]:
    """List what is wrong, with the values that were given."""
    if not isinstance(error, ValidationError):
        return [Problem("", text, code_of(error)) for text in getattr(error, "problems", ())]
    body = request.data if isinstance(request.data, dict) else {}
    given = {**request.query_params.dict(), **body}
    return [with_value(problem, given) for problem in flat(error.detail)]


def api_error(error: Exception) -> Exception:
    """Translate errors of acting functions; refusals list all their problems at once."""
    if isinstance(error, Http404):
        return NotFound(CODES["not_found"].meaning)
    if isinstance(error, Forbidden):
        return PermissionDenied(*error.args)
    if isinstance(error, RequestDataTooBig):
        return TooLarge()
    if isinstance(error, NotPossible):
        return _refusal(error)
    if isinstance(error, ModelError):
        by_field = getattr(error, "message_dict", {}) if hasattr(error, "error_dict") else {}
        general = by_field.pop(NON_FIELD_ERRORS, []) if by_field else error.messages
        return ValidationError({**by_field, **({"problems": general} if general else {})})
    if isinstance(error, ValueError) and (problems := getattr(error, "problems", None)):
        return ValidationError({"problems": problems})
    return error


def _refusal(error: NotPossible) -> APIException:
    if error.field is not None:
        return ValidationError({error.field or "problems": error.problems})
    if error.moves is not None:
        return Conflict(str(error), "move_not_possible", error.problems, moves=error.moves)
    return Conflict(str(error), problems=error.problems)


def with_value(problem: Problem, given: Mapping[str, Any]) -> Problem:
    """Add the given value to the message, unless it names that already."""
    value = given.get(problem.field)
    is_shown = problem.field in given and problem.code != UNKNOWN
    is_shown = is_shown and not any(part in problem.field.lower() for part in UNSHOWN)
    if not is_shown or isinstance(value, dict | list) or str(value) in problem.message:
        return problem
    return problem._replace(message=f"{problem.message} (given: {shown(value)})")


def shown(value: Any) -> str:
    """Format a value for an error; a long one is cut and its length added."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f"{value[:SHOWN]!r}… of {len(value)} characters"
    return repr(value)[: 2 * SHOWN]
