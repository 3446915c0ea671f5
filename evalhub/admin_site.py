"""The admin as the house has it: unfold's, with what is missing shown and asked for alike."""

from typing import Any

from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.sites import UnfoldAdminSite


class HouseAdmin(AdminConfig):
    """Takes the place of `django.contrib.admin` among the installed apps."""

    default_site = "evalhub.admin_site.Site"


class Site(UnfoldAdminSite):
    empty_value_display = "—"

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What the command palette finds, as the part of a page that it shows."""
        from evalhub import palette  # this module is loaded before there are tables
        from evalhub.pages import typed

        words = typed(request.GET.get("s"), palette.LONGEST)
        groups = palette.found(self, request, words)
        shown = {"groups": groups, "words": words}
        return TemplateResponse(request, "evalhub/palette_found.html", shown)
