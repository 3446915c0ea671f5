from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import MAX_DEPTH, check_depth


class StorableJSONParser(JSONParser):
    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            value = super().parse(stream, media_type, parser_context)
            check_depth(value)
            places = unstorable(value)
        except RecursionError as error:
            raise ParseError(f"The JSON is nested over {MAX_DEPTH} levels.") from error
        if places:
            raise ParseError(" ".join(f"{place or 'The text'} {REASON}" for place in places[:20]))
        return value
