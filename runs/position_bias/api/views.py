from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import VERBS, BatchRows
from evalhub.api.filters import Id, OneOf
from evalhub.api.views import ReadOnly
from evalhub.models import BatchState, ItemState
from runs.position_bias import measuring
from runs.position_bias.api import serializers
from runs.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.sights import hidden_from, record

ADD = "position_bias.add_reversedjudgerun"


class ReversedJudgeRunFilters(filters.FilterSet):
    judge_run = Id(field_name="judge_run_id")
    run = Id(field_name="judge_run__run_id")
    state = OneOf(BatchState)


class ReversedJudgeRunViewSet(BatchRows):
    """Measures of position bias: a random part of a judge run, judged with the options reversed."""

    queryset = ReversedJudgeRun.objects.select_related("judge_run", "requested_by").order_by("-pk")
    serializer_class = serializers.ReversedJudgeRunSerializer
    filterset_class = ReversedJudgeRunFilters
    action_permissions = dict.fromkeys(("estimate", *VERBS), ADD)

    @extend_schema(
        request=serializers.MeasureSerializer,
        responses={201: serializers.ReversedJudgeRunSerializer},
    )
    def create(self, request: Request) -> Response:
        """Start a measure. A refusal lists all its `problems`."""
        given = self._given(request)
        made = measuring.start(
            serializers.MeasureSerializer.measure(given),
            by=request.user,  # type: ignore[arg-type]
            cost_limit_usd=given.get("cost_limit_usd"),
            allow_sealed_exposure=given["allow_sealed_exposure"],
        )
        return self.shown(made, status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.MeasureSerializer,
        responses={200: serializers.MeasureEstimateSerializer},
    )
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """Estimate calls and cost of a measure; nothing starts."""
        found = measuring.estimate(serializers.MeasureSerializer.measure(self._given(request)))
        return Response(serializers.MeasureEstimateSerializer(found).data)

    def _given(self, request: Request) -> dict[str, Any]:
        body = serializers.MeasureSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        given: dict[str, Any] = body.validated_data
        return given


class ReversedJudgmentFilters(filters.FilterSet):
    judge_run = Id(field_name="judge_run_id")
    result = Id(field_name="judgment__result_id")
    state = OneOf(ItemState)


class ReversedJudgmentViewSet(ReadOnly):
    """Verdicts given with the options reversed, on tests whose text you may read."""

    queryset = ReversedJudgment.objects.all()
    serializer_class = serializers.ReversedJudgmentSerializer
    filterset_class = ReversedJudgmentFilters

    def get_queryset(self) -> QuerySet[ReversedJudgment]:
        rows = ReversedJudgment.objects.readable_by(self.request.user)
        if hidden := hidden_from(self.request.user):
            rows = rows.exclude(judgment__result__in=hidden)
        return rows.select_related("judgment").order_by("-pk")

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset)
        record(self.request.user, results={row.judgment.result_id for row in rows or ()})
        return rows

    def get_object(self) -> Any:
        row = super().get_object()
        record(self.request.user, results={row.judgment.result_id})
        return row
