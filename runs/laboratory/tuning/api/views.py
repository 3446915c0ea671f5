from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import consent_of
from evalhub.api.errors import Conflict
from evalhub.api.filters import Id
from evalhub.api.index import route
from evalhub.api.views import ReadOnly
from runs.laboratory.tuning.api import serializers
from runs.laboratory.tuning.attempt_control import start_attempt
from runs.laboratory.tuning.labelled_answers import Selection
from runs.laboratory.tuning.models import Tuning
from runs.laboratory.tuning.start import has_draft, start


class TuningFilters(filters.FilterSet):
    template = Id(field_name="template_id")
    judge = Id(field_name="judge_id")


@route("tunings", "api-tuning")
class TuningViewSet(ReadOnly):
    """Judge tunings. The held-out split has figures only."""

    queryset = Tuning.objects.select_related(
        "template", "judge__language_model", "judge__template", "draft", "created_by"
    ).order_by("-pk")
    serializer_class = serializers.TuningSerializer
    detail_serializer_class = serializers.TuningDetailSerializer
    filterset_class = TuningFilters
    action_permissions = {"attempts": "tuning.add_attempt"}

    @extend_schema(
        request=serializers.TuningOrderSerializer,
        responses={201: serializers.TuningDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Start a tuning: copy the verdicts and assign each test to a split."""
        given = self.sent(request, serializers.TuningOrderSerializer)
        seed = given.pop("seed", None)
        tuning = start(Selection(**given), by=self.user, seed=seed)
        return self.shown(tuning, status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.AttemptOrderSerializer,
        responses={201: serializers.TuningAttemptSerializer},
    )
    @action(detail=True, methods=["post"])
    def attempts(self, request: Request, pk: str) -> Response:
        """Start an attempt: re-judge both splits with the draft as it is now."""
        tuning = self.get_object()
        if not has_draft(tuning):
            raise Conflict("This tuning has no draft: create one on its page first.")
        consent = consent_of(self.sent(request, serializers.AttemptOrderSerializer))
        attempt = start_attempt(tuning, tuning.draft, by=self.user, **consent)
        shown = serializers.TuningAttemptSerializer(attempt).data
        return Response(shown, status=status.HTTP_201_CREATED)
