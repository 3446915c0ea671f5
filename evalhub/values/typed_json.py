"""JSON of dataclasses, named tuples and other typed values, and back, by pydantic. Pure."""

from functools import cache
from types import GenericAlias
from typing import Annotated, Any, TypeVar, get_args

from pydantic import GetCoreSchemaHandler, TypeAdapter
from pydantic_core import core_schema

K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")


class _Items:
    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> Any:
        pair = handler.generate_schema(GenericAlias(tuple, get_args(kind)))
        items = core_schema.list_schema(pair)
        return core_schema.no_info_after_validator_function(
            dict,
            items,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda found: list(found.items()), return_schema=items
            ),
        )


ByKey = Annotated[dict[K, V], _Items()]
"""A dictionary whose keys are not all texts, or not all numbers; in JSON a list of pairs."""


def to_json(kind: Any, value: Any) -> Any:
    """Return a value of this type as JSON."""
    return _adapter(kind).dump_python(value, mode="json")


def from_json(kind: type[T], content: Any) -> T:
    """Return the value that `to_json` was given.

    Raises:
        ValueError: It was given a value of another type, or of an earlier version of this one.
    """
    known: Any = kind
    value: T = _adapter(known).validate_python(content)
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
