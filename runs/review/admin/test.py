"""What reviewing adds to the page of a test: how people would have answered it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from evalhub.admin_site.buttons import Button
from issues.models import Test
from runs.admin.test import TestAdminWithRuns
from runs.review.admin.corrections import corrections_url
from runs.review.models import Correction

admin.site.unregister(Test)


@admin.register(Test)
class TestAdminWithCorrections(TestAdminWithRuns):
    """The page of a test leads to the corrections of its answers."""

    __test__ = False

    def acts(self, request: HttpRequest, row: Any) -> list[Button]:
        n = Correction.objects.filter(result__test=row, undone_at=None).count()
        if not n or not request.user.has_perm("review.view_correction"):
            return super().acts(request, row)
        link = Button(f"Corrections ({n:,})", corrections_url(row.pk), is_link=True)
        return [*super().acts(request, row), link]
