from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect

from issues.admin.tag import TagAdmin
from issues.models import Tag
from runs.admin.launch.preselection import to_launch_form

admin.site.unregister(Tag)


@admin.register(Tag)
class TagAdminWithRuns(TagAdmin):
    """What runs add to the list of tags."""

    actions: Any = (*TagAdmin.actions, "launch_selected")

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("runs.add_launch"))

    @admin.action(permissions=["launch"], description="Launch a run with these")
    def launch_selected(
        self, request: HttpRequest, queryset: QuerySet[Tag]
    ) -> HttpResponseRedirect:
        return to_launch_form(request, "tags", list(queryset.values_list("pk", flat=True)))
