"""The admin as the house has it: unfold's, with what is missing shown and asked for alike."""

from typing import Any

from django.contrib.admin.apps import AdminConfig
from django.core.paginator import InvalidPage
from django.http import Http404, HttpRequest, HttpResponse
from unfold.sites import UnfoldAdminSite


class HouseAdmin(AdminConfig):
    """Takes the place of `django.contrib.admin` among the installed apps."""

    default_site = "evalhub.admin_site.Site"


class Site(UnfoldAdminSite):
    empty_value_display = "—"

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What the sidebar's search finds; a page that there is not is no error of ours."""
        try:
            found: HttpResponse = super().search(request, extra_context)
        except (ValueError, InvalidPage) as error:
            page = request.GET.get("page")
            raise Http404(f"There is no page {page!r} of what was found.") from error
        return found
