from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, RequestDataTooBig
from django.core.exceptions import ValidationError as ModelError
from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from evalhub.work.progress import NotPossible

SHOWN = 80
UNSHOWN = {"api_key_env"}
"""Fields that may hold a key by mistake."""


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"
    default_detail = f"A request holds at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes."


def explain(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the response to a failed request; None for an error of ours."""
    error = api_error(error)
    response = exception_handler(error, context)
    if response is None or not isinstance(error, ValidationError):
        return response
    if isinstance(response.data, dict):
        request = context["request"]
        body = request.data if isinstance(request.data, dict) else {}
        response.data = with_values(response.data, {**request.query_params.dict(), **body})
    return response


def api_error(error: Exception) -> Exception:
    """Translate errors of acting functions; refusals list all their problems at once."""
    if isinstance(error, RequestDataTooBig):
        return TooLarge()
    if isinstance(error, NotPossible):
        return Conflict(str(error))
    if isinstance(error, ModelError):
        by_field = getattr(error, "message_dict", {}) if hasattr(error, "error_dict") else {}
        general = by_field.pop(NON_FIELD_ERRORS, []) if by_field else error.messages
        return ValidationError({**by_field, **({"problems": general} if general else {})})
    if isinstance(error, ValueError) and (problems := getattr(error, "problems", None)):
        return ValidationError({"problems": problems})
    return error


def with_values(errors: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Add the given value to each field's messages that do not name it yet."""
    return {
        field: [_with_value(message, given[field]) for message in messages]
        if field in given
        and field not in UNSHOWN
        and isinstance(messages, list)
        and all(isinstance(message, str) for message in messages)
        else messages
        for field, messages in errors.items()
    }


def _with_value(message: str, value: Any) -> str:
    if isinstance(value, dict | list) or str(value) in message:
        return message
    return f"{message} (given: {shown(value)})"


def shown(value: Any) -> str:
    """Format a value for an error; a long one is cut and its length added."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f"{value[:SHOWN]!r}… of {len(value)} characters"
    return repr(value)[: 2 * SHOWN]
