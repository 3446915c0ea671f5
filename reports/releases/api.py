"""Decisions on releases through the API: read them, and record one."""

from typing import Any

from django_filters import rest_framework as filters
from rest_framework import serializers

from evalhub.api.fields import BoundedJSON, Name, RowSerializer
from evalhub.api.filters import OneOf, Since
from evalhub.api.views import Added
from evalhub.refusals import Refused
from reports.models import ReleaseDecision
from reports.models.release_decision import ReleaseAct
from reports.releases.decisions import decide
from runs.models import Release


class ReleaseDecisionSerializer(RowSerializer):
    """A decision on a release, with what was concluded of each model at that moment.

    `reason` is required to ship what is worse or mixed.
    """

    release = serializers.SlugRelatedField(slug_field="name", queryset=Release.objects.all())
    concluded = BoundedJSON(read_only=True, of=list[dict[str, str]])
    decided_by = Name()

    class Meta:
        model = ReleaseDecision
        fields = (
            *("id", "release", "act", "reason", "against", "concluded"),
            *("decided_by", "decided_at"),
        )
        read_only_fields = ("against",)

    def create(self, validated_data: dict[str, Any]) -> ReleaseDecision:
        sent = validated_data
        try:
            by = self.context["request"].user
            return decide(sent["release"], sent["act"], sent.get("reason", ""), by=by)
        except Refused as refused:
            raise serializers.ValidationError({"reason": refused.problems}) from refused


class ReleaseDecisionFilters(filters.FilterSet):
    release = filters.CharFilter(field_name="release__name")
    act = OneOf(ReleaseAct)
    since = Since("decided_at")


class ReleaseDecisionViewSet(Added):
    """Decisions on releases. They are neither changed nor deleted."""

    queryset = ReleaseDecision.objects.select_related("release", "decided_by").order_by("-pk")
    serializer_class = ReleaseDecisionSerializer
    filterset_class = ReleaseDecisionFilters
