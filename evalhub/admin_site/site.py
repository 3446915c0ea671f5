"""The admin site: unfold's, with saved filters, the glossary and the command palette."""

from collections import defaultdict
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.apps import SimpleAdminConfig
from django.core.checks import CheckMessage
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.functional import SimpleLazyObject
from django.utils.module_loading import import_string
from django.views.decorators.http import require_POST
from unfold.sites import UnfoldAdminSite

from evalhub.glossary import TERMS


class SiteAdminConfig(SimpleAdminConfig):
    """App config in place of `django.contrib.admin`: pages are loaded with their addresses.

    Workers show none, and start in half the time.
    """

    default_site = "evalhub.admin_site.site.Site"

    def ready(self) -> None:
        super().ready()
        bool(admin.site)  # so that there is a site to check


class Site(UnfoldAdminSite):
    empty_value_display = "—"

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> Any:
        """List the tables only where a page shows them: the sidebar has its own entries."""
        return SimpleLazyObject(lambda: super(Site, self).get_app_list(request, app_label))

    def get_sidebar_list(self, request: HttpRequest) -> list[dict[str, Any]]:
        """Return the sidebar as it is: the theme would copy it and work out what it says."""
        theme: dict[str, Any] = settings.UNFOLD
        navigation = import_string(theme["SIDEBAR"]["navigation"])
        groups: list[dict[str, Any]] = navigation(request)
        return groups

    def get_urls(self) -> list[Any]:
        from evalhub.access.saved_filter_views import delete_view, save_view
        from evalhub.admin_site.lists import columns_view

        admin.autodiscover()
        save = self.admin_view(require_POST(partial(save_view, self)))
        return [
            path("filters/save/", save, name="save_filter"),
            path("filters/<int:key>/delete/", self.admin_view(delete_view), name="delete_filter"),
            path("glossary/", self.admin_view(self.glossary), name="glossary"),
            path("columns/", self.admin_view(columns_view), name="choose_columns"),
            path("settings/", self.admin_view(entry_page), name="settings"),
            *super().get_urls(),
        ]

    def check(self, app_configs: Any) -> list[CheckMessage]:
        admin.autodiscover()
        found: list[CheckMessage] = super().check(app_configs)
        return found

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        context = {"has_single_sign_on": bool(settings.EVALHUB_OIDC_ISSUER)}
        return super().login(request, {**context, **(extra_context or {})})

    def glossary(self, request: HttpRequest) -> HttpResponse:
        shown = {**self.each_context(request), "title": "Glossary", "terms": TERMS}
        return TemplateResponse(request, "evalhub/glossary.html", shown)

    def search(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        from evalhub.admin_site import command_palette
        from evalhub.admin_site.pages import bounded_text

        words = bounded_text(request.GET.get("s"), command_palette.MAX_SEARCH)
        groups = command_palette.found(self, request, words)
        shown = {"groups": groups, "words": words}
        return TemplateResponse(request, "evalhub/command_palette_results.html", shown)


def entry_page(request: HttpRequest) -> HttpResponse:
    """List the places of the entry with this address, for those who may open any."""
    context = admin.site.each_context(request)
    items = [item for group in context["sidebar_navigation"] for item in group["items"]]
    entry = next((item for item in items if item["link"] == request.path), None)
    if entry is None:
        raise PermissionDenied
    topics: dict[str, list[Any]] = defaultdict(list)
    for place in entry["places"]:
        topics[place["topic"]].append(place)
    shown = {**context, "title": entry["title"], "topics": dict(topics)}
    return TemplateResponse(request, "evalhub/entry.html", shown)
