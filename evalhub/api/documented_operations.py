"""The documentation of operations in the schema."""

from types import GenericAlias
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent, get_lib_doc_excludes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, OpenApiWebhook, extend_schema
from pydantic import TypeAdapter
from rest_framework import serializers
from rest_framework.permissions import SAFE_METHODS

from evalhub.api.fields import JSONObject, PlainSerializer
from evalhub.api.headers import ETAG, IDEMPOTENCY_KEY, IF_MATCH, WATERMARK
from evalhub.api.problems import CODES, MEDIA_TYPE
from evalhub.notifications.models import NotificationKind
from evalhub.notifications.outbox import TEST

JSON, COMPONENT = "application/json", "#/components/schemas/{model}"


class ProblemSerializer(serializers.Serializer):
    """A problem with a field: its path, such as judges[1].samples; "" for the whole request."""

    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()
    code = serializers.CharField()


class RefusalSerializer(serializers.Serializer):
    """Why a request was refused, as in RFC 9457, with all `problems` at once.

    `moves` are possible in place of the one that was refused. `etag` is the row's present version.
    """

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    instance = serializers.CharField()
    code = serializers.ChoiceField(list(CODES))
    problems = ProblemSerializer(many=True)
    moves = serializers.ListField(child=serializers.CharField(), required=False)
    etag = serializers.CharField(required=False)
    request_id = serializers.CharField(required=False)


def _header(name: str, description: str, **options: Any) -> OpenApiParameter:
    return OpenApiParameter(name, str, "header", description=description, **options)


VERSION = _header(ETAG, "The row's version, for If-Match.", response=[200, 201])
UNCHANGED = _header(
    IF_MATCH, "The ETag of the row as you read it: refuses (412) to change one that has another."
)
NEXT = _header(
    WATERMARK, "The `updated_since` to go on from; on the first part alone.", response=[200]
)
ONCE = _header(
    IDEMPOTENCY_KEY, "A name of your own: sent again within a day, nothing is done twice."
)
LIMITS = [
    _header("RateLimit-Policy", "Limits: `q` requests in `w` seconds.", response=[200, 201, 429]),
    _header("RateLimit", "Left: `r` requests for `t` seconds.", response=[200, 201, 429]),
]


class Operation(AutoSchema):
    """Documents what all operations share: headers, whole numbers as ids, and refusals."""

    def get_override_parameters(self) -> list[Any]:
        shows_row = getattr(self.view, "row_serializer", None) and not self._is_list_view()
        is_write = self.method not in SAFE_METHODS
        return [
            *super().get_override_parameters(),
            *([VERSION] if shows_row else []),
            *([UNCHANGED] if shows_row and is_write and self._names_a_row else []),
            *([NEXT] if self._shows_changes else []),
            *([ONCE] if self.method == "POST" and self._keeps_answers else []),
            *LIMITS,
        ]

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        for status in self._refusals():
            meanings = [code.meaning for code in CODES.values() if code.status == status]
            described = OpenApiResponse(RefusalSerializer, description=" ".join(meanings))
            media_types = [
                MEDIA_TYPE if media_type == JSON else media_type
                for media_type in self.map_renderers("media_type")
            ]
            response = self._get_response_for_code(described, str(status), media_types)  # type: ignore[no-untyped-call]
            operation["responses"].setdefault(str(status), response)
        return operation

    @property
    def _keeps_answers(self) -> bool:
        return bool(getattr(self.view, "keeps_answers", False))

    @property
    def _shows_changes(self) -> bool:
        filters = getattr(getattr(self.view, "filterset_class", None), "base_filters", {})
        return self.method == "GET" and not self._names_a_row and "updated_since" in filters

    @property
    def _names_a_row(self) -> bool:
        return "{" in self.path

    def _refusals(self) -> list[int]:
        is_write = self.method not in SAFE_METHODS
        return [
            *(400, 401, 403, 429, 500, 503),
            *([404] if self._names_a_row else []),
            *([412] if self._names_a_row and is_write else []),
            *([409, 413, 415] if is_write else []),
        ]

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        for parameter in found:
            if parameter["name"] == "id":
                parameter["schema"] = {"type": "integer"}
        return found


class TypedJSON(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Documents a JSON field by its type."""

    target_class = "evalhub.api.fields.BoundedJSON"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        if self.target.of is None:
            return {}
        kind: Any = GenericAlias(list, (self.target.of,))
        listed = TypeAdapter(kind).json_schema(ref_template=COMPONENT)
        for name, part in listed.get("$defs", {}).items():
            component = ResolvedComponent(name, ResolvedComponent.SCHEMA, part, name)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        schema: dict[str, Any] = listed["items"]
        return schema


def undocumented_bases() -> list[Any]:
    """Return classes whose docstrings are for programmers, not for the schema."""
    from evalhub.api import fields, serializers

    own = (fields.PlainSerializer, fields.RowSerializer, serializers.WithholdingSerializer)
    return [*own, *get_lib_doc_excludes()]  # type: ignore[no-untyped-call]


def with_plain_nulls(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Let a nullable field of any type be any value: null would match twice."""
    for component in result["components"]["schemas"].values():
        for field in component.get("properties", {}).values():
            if field.get("oneOf") == [{}, {"type": "null"}]:
                del field["oneOf"]
    return result


def with_names_as_titles(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Leave each component its name alone: a generated client has one class for each title."""
    for component in result["components"]["schemas"].values():
        component.pop("title", None)
    return result


ENUM = "Enum"
ENUM_NAMES = {
    "BecameEnum": "FlipDirection",
    "BlindEnum": "BlindMode",
    "ChoiceEnum": "PairChoice",
    "CodeEnum": "RefusalCode",
    "ExitEnum": "GateExit",
    "IssueMoveMoveEnum": "IssueMove",
    "RuleEnum": "GateRuleName",
    "ScopeEnum": "ReviewScope",
    "TakeEnum": "MergedField",
    "TestMoveMoveEnum": "TestMove",
}


def with_named_enums(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Name every enum for what it lists, without an ending."""
    schemas = result["components"]["schemas"]
    names = {
        name: ENUM_NAMES.get(name, name.removesuffix(ENUM))
        for name in schemas
        if name.endswith(ENUM)
    }
    for name, plain in names.items():
        schemas[plain] = schemas.pop(name)
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    prefix = COMPONENT.format(model="")
    return dict(_renamed(result, {prefix + old: prefix + new for old, new in names.items()}))


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, list):
        return [_renamed(inner, names) for inner in part]
    if not isinstance(part, dict):
        return part
    found = {key: _renamed(inner, names) for key, inner in part.items()}
    if "$ref" in found:
        found["$ref"] = names.get(found["$ref"], found["$ref"])
    return found


class WebhookEventSerializer(PlainSerializer):
    """An event. `key` names it for good; `facts` differ by event; `url` is a page of the site.

    The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` sign it as Standard
    Webhooks defines.
    """

    delivery = serializers.IntegerField()
    event = serializers.ChoiceField([*NotificationKind.choices, (TEST, "a test")])
    key = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    url = serializers.CharField(allow_blank=True)
    facts = JSONObject()
    at = serializers.DateTimeField()


EVENT = OpenApiWebhook(
    "event",
    extend_schema(
        summary="An event that the webhook is subscribed to.",
        description="Status 200 to 299 takes it, 410 ends it, any other repeats it.",
        request=WebhookEventSerializer,
        responses={200: OpenApiResponse(description="It is taken.")},
    ),
)
