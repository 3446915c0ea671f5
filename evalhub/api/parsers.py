"""What the API takes: JSON of a bounded size, with text that a database can keep."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from evalhub.storable import REASON, unstorable


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class StorableJSONParser(JSONParser):
    """Django's own limit does not hold here: the framework reads the stream itself."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        length = int(getattr(stream, "META", {}).get("CONTENT_LENGTH") or 0)
        if length > most:
            raise TooLarge(f"The request has {length} bytes, and {most} are the most.")
        try:
            value = super().parse(stream, media_type, parser_context)
            places = unstorable(value)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        if places:
            raise ParseError(" ".join(f"{place or 'The text'} {REASON}" for place in places[:20]))
        return value
