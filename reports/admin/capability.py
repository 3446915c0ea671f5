from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.decorators import display

from evalhub.admin_site.history import HistoryAdmin
from reports.models import Capability, CapabilityWeight, WeightOrigin
from reports.summaries.analyst.dimensions import DIMENSIONS


class WeightForm(forms.ModelForm):
    """The form of a weight; a changed weight becomes the workspace's."""

    class Meta:
        model = CapabilityWeight
        fields = ("kind", "name", "weight")
        help_texts = {
            "name": f"A dimension ({', '.join(one.key for one in DIMENSIONS)}), a topic, or the "
            "name of a suite."
        }

    def save(self, commit: bool = True) -> Any:
        if self.has_changed():
            self.instance.origin = WeightOrigin.OURS
        return super().save(commit)


class WeightInline(TabularInline):
    model = CapabilityWeight
    form = WeightForm
    fields = ("kind", "name", "weight", "owner")
    readonly_fields = ("owner",)
    extra = 0

    @display(description="Owner")
    def owner(self, row: CapabilityWeight) -> str:
        return row.get_origin_display() if row.pk else str(WeightOrigin.OURS.label)


@admin.register(Capability)
class CapabilityAdmin(HistoryAdmin):
    """Capabilities and the weights of their components."""

    when_empty = "Add a capability that weighs graded dimensions, topics and suites."
    list_display = ("name", "description", "weighed", "order")
    search_fields = ("name", "weights__name")
    fields = ("name", "description", "order")
    inlines = (WeightInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Capability]:
        rows: QuerySet[Capability] = super().get_queryset(request)
        return rows.annotate(weight_total=Count("weights"))

    @display(description="Components", ordering="weight_total")
    def weighed(self, row: Capability) -> int:
        return int(row.weight_total)  # type: ignore[attr-defined]
