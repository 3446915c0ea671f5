from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import VERBS, BatchRows, consent_of
from evalhub.api.filters import Id, OneOf
from evalhub.api.index import route
from evalhub.models import BatchState, ItemState
from runs.api.verdicts_shown import OpenVerdicts
from runs.laboratory.position_bias import measuring
from runs.laboratory.position_bias.api import serializers
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment

ADD = "position_bias.add_reversedjudgerun"


class ReversedJudgeRunFilters(filters.FilterSet):
    judge_run = Id(field_name="judge_run_id")
    run = Id(field_name="judge_run__run_id")
    state = OneOf(BatchState)


@route("reversed-judge-runs", "api-reversed-run")
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
        given = self.sent(request, serializers.MeasureSerializer)
        made = measuring.start(serializers.measure_of(given), by=self.user, **consent_of(given))
        return self.shown(made, status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.MeasureSerializer,
        responses={200: serializers.MeasureEstimateSerializer},
    )
    @action(detail=False, methods=["post"])
    def estimate(self, request: Request) -> Response:
        """Estimate calls and cost of a measure; nothing starts."""
        given = self.sent(request, serializers.MeasureSerializer)
        found = measuring.estimate(serializers.measure_of(given))
        return Response(serializers.MeasureEstimateSerializer(found).data)


class ReversedJudgmentFilters(filters.FilterSet):
    judge_run = Id(field_name="judge_run_id")
    result = Id(field_name="judgment__result_id")
    state = OneOf(ItemState)


@route("reversed-judgments", "api-reversed-judgment")
class ReversedJudgmentViewSet(OpenVerdicts):
    """Verdicts given with the options reversed, on tests whose text you may read."""

    queryset = ReversedJudgment.objects.select_related("judgment").order_by("-pk")
    results = ("judgment__result_id",)
    serializer_class = serializers.ReversedJudgmentSerializer
    filterset_class = ReversedJudgmentFilters
