"""API of executive summaries: read, request, regenerate and cancel them."""

from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import SpentField
from evalhub.api.fields import Name, PlainSerializer, RowSerializer
from evalhub.api.filters import Id, OneOf
from evalhub.api.views import ReadOnly
from evalhub.models import BatchState, ItemState, LanguageModel
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.query import view_of
from reports.summaries.requests import (
    MAX_CONTEXT,
    MIN_CONTEXT,
    REQUEST_PERMISSION,
    SummaryRefused,
    ask_again,
    ask_summary,
    cancel,
)
from runs.models import Run

READ = "runs.view_run"


class SummaryFilters(filters.FilterSet):
    run = Id(field_name="runs__id")
    suite = Id(field_name="suite_id")
    analyst = Id(field_name="analyst_id")
    state = OneOf(BatchState)


class SummarySerializer(RowSerializer):
    """`tags` are topics that the analyst found, not confirmed. `runs` are those summarized."""

    runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    requested_by = Name()
    spent_usd = SpentField()

    class Meta:
        model = ExecutiveSummary
        fields: tuple[str, ...] = (
            "id",
            "runs",
            "suite",
            "suite_fingerprint",
            "analyst",
            "analyst_name",
            "context_tokens",
            "is_scripted",
            "state",
            "reason",
            "tags",
            "spent_usd",
            "unpriced_calls",
            "requested_by",
            "created_at",
            "started_at",
            "finished_at",
        )
        extra_kwargs = {"tags": {"of": list[str]}}


class SummaryClaimSerializer(PlainSerializer):
    """A claim: the cell that it names, its figure, and why that is not supported, if it is not.

    `figure` is in percent, or points for a difference of pass rates; null: no such cell, or not
    comparable. `stated` is what the analyst wrote. `low` and `high` are the 95 % interval of a pass
    rate; `p` of a difference is corrected for all that could be claimed; `method` is of either.
    """

    model = serializers.CharField()
    group = serializers.CharField()
    measure = serializers.CharField()
    other_model = serializers.CharField()
    other_group = serializers.CharField()
    figure = serializers.FloatField(allow_null=True)
    stated = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True)
    method = serializers.CharField()
    problem = serializers.CharField()


class SummaryTextSerializer(PlainSerializer):
    """A text with names restored and figures written out.

    `unsupported` counts its sentences with figures or comparisons that no claim supports.
    """

    kind = serializers.CharField()
    text = serializers.CharField()
    unsupported = serializers.IntegerField()
    claims = SummaryClaimSerializer(many=True)


class SummaryGradeSerializer(PlainSerializer):
    """`grade` is from 1 to 10; null if the analyst gave none.

    `unsupported` counts the sentences of its reasoning with figures or comparisons.
    """

    language_model = serializers.IntegerField()
    model_name = serializers.CharField()
    dimension = serializers.CharField()
    grade = serializers.FloatField(allow_null=True)
    reasoning = serializers.CharField()
    unsupported = serializers.IntegerField()


class SummaryAttemptSerializer(PlainSerializer):
    """An attempt at a summary; the current one gave its texts."""

    number = serializers.IntegerField()
    state = serializers.ChoiceField(ItemState.choices)
    error_kind = serializers.CharField()
    is_current = serializers.BooleanField()


class SummaryDetailSerializer(SummarySerializer):
    """A summary in full. `status` is waiting, running, done, failed, paused or cancelled.

    `is_withheld`: it quotes a test that was sealed since, so texts are left out.
    """

    status = serializers.CharField(source="view.state.word")
    why = serializers.CharField(source="view.state.why")
    is_withheld = serializers.BooleanField(source="view.is_withheld")
    texts = SummaryTextSerializer(many=True, source="view.texts")
    grades = SummaryGradeSerializer(many=True, source="view.given_grades")
    problems = serializers.ListField(child=serializers.CharField(), source="view.problems")
    notes = serializers.ListField(child=serializers.CharField(), source="view.notes")
    masked = serializers.DictField(child=serializers.IntegerField(), source="view.masked")
    attempts = SummaryAttemptSerializer(many=True, source="view.attempts")

    class Meta(SummarySerializer.Meta):
        fields: tuple[str, ...] = (
            *SummarySerializer.Meta.fields,
            "status",
            "why",
            "is_withheld",
            "texts",
            "grades",
            "problems",
            "notes",
            "masked",
            "attempts",
        )

    def to_representation(self, instance: ExecutiveSummary) -> dict[str, Any]:
        instance.view = view_of(instance, self.context["request"].user)  # type: ignore[attr-defined]
        return super().to_representation(instance)


class SummaryExchangeSerializer(RowSerializer):
    """An attempt: the request and the reply in use, unchanged.

    `repair` are the first reply, the request to mend it and the second reply, as messages.
    """

    class Meta:
        model = Exchange
        fields = (
            "number",
            "state",
            "error_kind",
            "is_current",
            "sent",
            "received",
            "repair",
            "key",
            "call",
            "created_at",
        )
        extra_kwargs = {
            "sent": {"of": list[dict[str, Any]]},
            "repair": {"of": list[dict[str, Any]]},
            "key": {"of": dict[str, Any]},
        }


class SummaryOrderSerializer(PlainSerializer):
    """`runs` over the same tests; `context_tokens` null: the analyst's default."""

    runs: Any = serializers.PrimaryKeyRelatedField(
        many=True, queryset=Run.objects.select_related("suite")
    )
    analyst: Any = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.active().not_applications()
    )
    context_tokens = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=MIN_CONTEXT,
        max_value=MAX_CONTEXT,
    )


class SummaryViewSet(ReadOnly):
    """Executive summaries of runs by analyst models. POST requests one; a worker generates it."""

    queryset = (
        ExecutiveSummary.objects.select_related("requested_by")
        .prefetch_related("runs")
        .order_by("-pk")
    )
    serializer_class = SummarySerializer
    detail_serializer_class = SummaryDetailSerializer
    filterset_class = SummaryFilters
    action_permissions = {
        "list": READ,
        "retrieve": READ,
        "exchanges": READ,
        "create": REQUEST_PERMISSION,
        "again": REQUEST_PERMISSION,
        "cancel": REQUEST_PERMISSION,
    }

    @extend_schema(request=SummaryOrderSerializer, responses={201: SummaryDetailSerializer})
    def create(self, request: Request) -> Response:
        """Request a summary; it is generated when all runs have ended."""
        given = self.sent(request, SummaryOrderSerializer)
        try:
            made = ask_summary(by=self.user, **given)
        except SummaryRefused as refused:
            raise ValidationError({"problems": [str(refused)]}) from refused
        return self.shown(made, status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=SummaryDetailSerializer)
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str) -> Response:
        """Regenerate the summary. Earlier attempts are kept."""
        summary = self.get_object()
        ask_again(summary)
        return self.shown(summary)

    @extend_schema(request=None, responses=SummaryDetailSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Cancel the summary. Earlier attempts are kept."""
        summary = self.get_object()
        cancel(summary)
        return self.shown(summary)

    @extend_schema(responses=SummaryExchangeSerializer(many=True), filters=False)
    @action(detail=True, methods=["get"], pagination_class=None, filterset_class=None)
    def exchanges(self, request: Request, pk: str) -> Response:
        """List the requests and replies that you may read."""
        readable: QuerySet[Exchange] = Exchange.objects.readable_by(request.user)
        found = readable.filter(summary=self.get_object()).order_by("number")
        return Response(SummaryExchangeSerializer(found, many=True).data)
