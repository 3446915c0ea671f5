from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from evalhub.storable import REASON, unstorable


class StorableJSONParser(JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            value = super().parse(stream, media_type, parser_context)
            places = unstorable(value)
        except RecursionError as error:
            raise ParseError("The JSON is nested too deeply.") from error
        if places:
            raise ParseError(" ".join(f"{place or 'The text'} {REASON}" for place in places[:20]))
        return value
