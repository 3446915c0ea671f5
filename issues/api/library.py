"""The criterion library in the API."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalhub.api.fields import JSONObject, Name, PlainSerializer
from evalhub.api.filters import OneOf, UpdatedSince, YesNo
from evalhub.api.views import Written
from evalhub.history import sign
from issues.api.criteria import CheckedSerializer
from issues.api.json_types import LibraryExamples, Scale
from issues.models import CriterionKind, LibraryCriterion, LibraryState, Shelf
from issues.models.library import CONTENT, content_of
from issues.rubrics.library import entries

RETIRE = "issues.retire_librarycriterion"


class LibraryCriterionSerializer(CheckedSerializer):
    """A criterion for rubrics and judges. A change makes a new version.

    `scale` is null for a pairwise criterion. A higher value is always better. `examples` has the
    keys passing, failing and borderline, each with input, context, reference, answer, other (the
    second answer of a pair), option and why.
    """

    copies_rows = True
    key = serializers.SlugField(max_length=80, required=False)
    scale = JSONObject(Scale, allow_null=True, required=False)
    examples = JSONObject(LibraryExamples, required=False)
    tags = serializers.ListField(child=serializers.CharField(max_length=40), required=False)
    author = Name()
    tests = serializers.IntegerField(
        source="tests_total", read_only=True, help_text="Tests that you may read with a copy of it."
    )

    class Meta:
        model = LibraryCriterion
        fields = (
            *("id", "key", "version", "state", *CONTENT, "author"),
            *("is_builtin", "is_changed", "tests", "created_at", "updated_at"),
        )
        read_only_fields = ("version", "state", "is_builtin", "is_changed")

    def validate_key(self, key: str) -> str:
        if self.instance is not None and key != self.instance.key:
            raise serializers.ValidationError(f"The key {self.instance.key!r} never changes.")
        if self.instance is None and LibraryCriterion.objects.filter(key=key).exists():
            raise serializers.ValidationError(f"{key} exists already: PATCH it instead.")
        return key

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if self.instance is None and attrs.get("kind") == CriterionKind.PAIRWISE:
            attrs.setdefault("scale", None)
        return super().validate(attrs)


class LibraryVersionSerializer(PlainSerializer):
    """A version of a criterion: its content, author and date."""

    version = serializers.IntegerField()
    at = serializers.DateTimeField(source="history_date")
    by = Name(source="history_user", allow_null=True)
    reason = serializers.CharField(source="history_change_reason")
    content = serializers.SerializerMethodField()

    def get_content(self, record: Any) -> dict[str, Any]:
        return content_of(record)


class LibraryFilters(filters.FilterSet):
    key = filters.CharFilter()
    shelf = OneOf(Shelf)
    kind = OneOf(CriterionKind)
    state = OneOf(LibraryState)
    is_builtin = YesNo(method="builtin")
    updated_since = UpdatedSince("updated_at")
    q = filters.CharFilter(method="with_words", label="Words of its name, question or tags.")

    def builtin(self, queryset: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return queryset.exclude(shipped_digest="") if value else queryset.filter(shipped_digest="")

    def with_words(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return entries.with_words(queryset, value)


class LibraryCriterionViewSet(Written):
    """The criterion library. A criterion is changed by PATCH, which makes a new version."""

    queryset = LibraryCriterion.objects.all()
    serializer_class = LibraryCriterionSerializer
    filterset_class = LibraryFilters
    ordering_fields = ("id", "name", "updated_at")
    action_permissions = {
        "versions": "issues.view_librarycriterion",
        **dict.fromkeys(("retire", "restore"), RETIRE),
    }

    def get_queryset(self) -> QuerySet[LibraryCriterion]:
        rows = super().get_queryset().select_related("author").order_by("-pk")
        return entries.with_uses(rows, self.request.user)

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        key = serializer.validated_data.get("key")
        key = key or entries.free_key(serializer.validated_data["name"])
        serializer.save(author=self.request.user, key=key)

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        sign(serializer.instance, self.user, "")
        serializer.save()

    @extend_schema(responses=LibraryVersionSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None, filterset_class=None)
    def versions(self, request: Request, pk: str) -> Response:
        """List all versions, newest first, each as it was last saved."""
        records = self.get_object().history.select_related("history_user").order_by("version", "pk")
        newest = {record.version: record for record in records}
        rows = sorted(newest.values(), key=lambda record: -record.version)
        return Response(LibraryVersionSerializer(rows, many=True).data)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, pk: str) -> Response:
        """Retire it: it is no longer offered; copies in rubrics stay."""
        return self._set_state(LibraryState.RETIRED)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        """Offer it again."""
        return self._set_state(LibraryState.CURRENT)

    def _set_state(self, state: LibraryState) -> Response:
        row = self.get_object()
        entries.set_state(row, state, by=self.user)
        return self.shown(row)
