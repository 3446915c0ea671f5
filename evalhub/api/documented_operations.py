"""The documentation of operations in the schema."""

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers


class Refusal(serializers.Serializer):
    """Why a request was refused: `detail`, or a list of texts for each wrong field."""

    detail = serializers.CharField(required=False)
    problems = serializers.ListField(child=serializers.CharField(), required=False)


REFUSALS = {
    "400": "The body or a parameter is wrong.",
    "401": "There is no valid token.",
    "403": "The right that it names is missing.",
    "404": "There is no such row, or none that you may read.",
    "409": "The current state forbids it.",
    "415": "The body is not JSON.",
    "429": "There were too many requests: see `Retry-After`.",
}


class Operation(AutoSchema):
    """Documents what all operations share: ids are whole numbers, and any may be refused."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        for code in self._refusals():
            described = OpenApiResponse(Refusal, description=REFUSALS[code])
            response = self._get_response_for_code(described, code)  # type: ignore[no-untyped-call]
            operation["responses"].setdefault(code, response)
        return operation

    def _refusals(self) -> list[str]:
        takes_body = self.method in ("POST", "PATCH", "PUT")
        return [
            *("400", "401", "403", "429"),
            *(["404"] if "{" in self.path else []),
            *(["409", "415"] if takes_body else []),
        ]

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for parameter in found:
            if parameter["name"] == "id":
                parameter["schema"] = {"type": "integer"}
        return found


def with_plain_nulls(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Let a nullable field of any type be any value: null would match twice."""
    for component in result["components"]["schemas"].values():
        for field in component.get("properties", {}).values():
            if field.get("oneOf") == [{}, {"type": "null"}]:
                del field["oneOf"]
    return result
