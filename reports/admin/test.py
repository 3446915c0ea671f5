"""What reports add to the admin of lower floors."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import action

from evalhub.admin_site.buttons import Button
from issues.models import Test
from reports.documents.links import page_url
from runs.review.admin.test import TestAdminWithCorrections

admin.site.unregister(Test)


@admin.register(Test)
class TestAdminWithReports(TestAdminWithCorrections):
    """A test's page leads to how alike models answer it."""

    actions_detail = ("compare_answers",)

    def has_compare_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(request.user.has_perm("runs.view_run"))

    def acts(self, request: HttpRequest, row: Any) -> list[Button]:
        if not request.user.has_perm("runs.view_run"):
            return super().acts(request, row)
        url = page_url("issue_timeline", issue=row.issue)
        return [Button("Issue timeline", url, is_link=True), *super().acts(request, row)]

    @action(description="Compare answers", permissions=["compare"])
    def compare_answers(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        return HttpResponseRedirect(reverse("reports:similarity", args=[object_id]))
