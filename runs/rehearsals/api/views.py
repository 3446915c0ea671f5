from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalhub.api.errors import Conflict
from evalhub.api.filters import Id
from evalhub.api.views import ReadOnly
from runs.rehearsals.api import serializers
from runs.rehearsals.models import Rehearsal
from runs.rehearsals.starting import has_draft, start
from runs.rehearsals.trying import try_draft


class RehearsalFilters(filters.FilterSet):
    template = Id(field_name="template_id")
    judge = Id(field_name="judge_id")


class RehearsalViewSet(ReadOnly):
    """Judges beside people, on two halves. Of the held-out half there are figures only."""

    queryset = Rehearsal.objects.select_related(
        "template", "judge__language_model", "judge__template", "draft", "created_by"
    ).order_by("-pk")
    serializer_class = serializers.RehearsalSerializer
    filterset_class = RehearsalFilters
    action_permissions = {"tries": "rehearsals.add_attempt"}

    def get_serializer_class(self) -> type[BaseSerializer]:
        detail = self.action in ("retrieve", "create")
        return serializers.RehearsalDetailSerializer if detail else self.serializer_class

    @extend_schema(
        request=serializers.BeginSerializer,
        responses={201: serializers.RehearsalDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Copy what people and the judge said, and put each test in one half."""
        body = serializers.BeginSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        seed = body.validated_data.get("seed")
        rehearsal = start(body.chosen(), by=request.user, seed=seed)  # type: ignore[arg-type]
        fresh = self.get_queryset().get(pk=rehearsal.pk)
        return Response(self.get_serializer(fresh).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.TrySerializer, responses={201: serializers.StateSerializer})
    @action(detail=True, methods=["post"])
    def tries(self, request: Request, pk: str) -> Response:
        """Ask the judge again about both halves with the draft as it is now."""
        rehearsal = self.get_object()
        if not has_draft(rehearsal):
            raise Conflict("There is no draft to try: begin one on the rehearsal's page.")
        body = serializers.TrySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = body.validated_data
        attempt = try_draft(
            rehearsal,
            rehearsal.draft,
            by=request.user,  # type: ignore[arg-type]
            cost_limit_usd=wanted.get("cost_limit_usd"),
            sealed_may_leave=wanted["sealed_may_leave"],
        )
        return Response(serializers.as_row(attempt), status=status.HTTP_201_CREATED)
