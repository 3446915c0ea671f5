"""Releases of the API."""

from functools import cached_property
from typing import Any

from django_filters import rest_framework as filters
from rest_framework import serializers

from evalhub.api.fields import RowSerializer
from evalhub.api.filters import Containing, Pagination
from evalhub.api.views import Written
from runs.comparison.release_order_rule import ReleaseOrder
from runs.models import Release


class ReleaseSerializer(RowSerializer):
    """A named state of what is tested. A launch that names a release makes it.

    `position` orders releases, 1 is the lowest; it can be changed unless all names are versions.
    `before` is the name of the release that it came from, null for the next lower one;
    `predecessor` is the one that it is compared with, "" for none.
    """

    before = serializers.SlugRelatedField(
        slug_field="name", queryset=Release.objects.all(), allow_null=True, required=False
    )
    predecessor = serializers.SerializerMethodField()

    class Meta:
        model = Release
        fields = ("id", "name", "position", "before", "predecessor", "notes", "created_at")

    @cached_property
    def order(self) -> ReleaseOrder:
        return Release.objects.in_order()

    def get_predecessor(self, release: Release) -> str:
        return self.order.predecessor(release.name)

    def validate_name(self, name: str) -> str:
        if self.instance is not None and name != self.instance.name:
            raise serializers.ValidationError("The name of a release stays: its runs have it.")
        return name

    def validate_position(self, position: int) -> int:
        if self.instance and position != self.instance.position and Release.objects.are_versions():
            raise serializers.ValidationError("All names are versions, which order the releases.")
        return position

    def save(self, **kwargs: Any) -> Release:
        release: Release = super().save(**kwargs)
        Release.objects.arrange(release)
        return release


class ReleaseFilters(filters.FilterSet):
    name = filters.CharFilter()
    q = Containing("name", "notes")


class ReleasePagination(Pagination):
    ordering = ("-position", "-id")


class ReleaseViewSet(Written):
    """Releases, the highest first."""

    queryset = Release.objects.select_related("before")
    serializer_class = ReleaseSerializer
    filterset_class = ReleaseFilters
    pagination_class = ReleasePagination
    ordering_fields = ("id", "name")
