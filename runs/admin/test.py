from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect

from issues.admin.test.admin import TestAdmin
from issues.models import Test
from runs.admin.launch.preselection import to_launch_form

admin.site.unregister(Test)


@admin.register(Test)
class TestAdminWithRuns(TestAdmin):
    """What runs add to the list of tests."""

    __test__ = False
    actions: Any = (*TestAdmin.actions, "launch_selected")

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("runs.add_launch"))

    @admin.action(permissions=["launch"], description="Launch a run with these")
    def launch_selected(
        self, request: HttpRequest, queryset: QuerySet[Test]
    ) -> HttpResponseRedirect:
        return to_launch_form(request, "tests", list(queryset.values_list("pk", flat=True)))
