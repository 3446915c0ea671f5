"""The admin's frame and the permission check of all report pages."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.views.decorators.cache import never_cache

from evalhub.access.request_limits import expensive

EXPORT = "runs.export_results"

View = Callable[..., HttpResponseBase]


def needs(permission: str) -> Callable[[View], View]:
    """Let only users with this permission in; refuse others.

    People who are not logged in are sent to the login page. Scripts, which read reports too, send
    a token instead; its user need not be staff. What needs `EXPORT` is limited as `expensive`.
    """

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_perm(permission):
                raise PermissionDenied(f"You need the permission {permission} to open this page.")
            return view(request, *args, **kwargs)

        for_people, for_scripts = admin.site.admin_view(guarded), never_cache(guarded)

        @wraps(for_people)
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            opened = for_scripts if hasattr(request, "token") else for_people
            return opened(request, *args, **kwargs)

        return expensive(shown) if permission == EXPORT else shown

    return guard


def page(request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
    """Render a page inside the admin's frame, with its sidebar."""
    request.current_app = admin.site.name
    shell = admin.site.each_context(request)
    return TemplateResponse(request, template, {**shell, "title": title, **context})
