"""What all pages of this floor share: the admin's shell, and who may enter."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse

View = Callable[..., HttpResponseBase]


def needs(right: str) -> Callable[[View], View]:
    """Only for staff with this right; others are sent to the log-in page, or refused."""

    def guard(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_perm(right):
                raise PermissionDenied(f"This page needs the right {right}.")
            return view(request, *args, **kwargs)

        return admin.site.admin_view(guarded)

    return guard


def page(request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
    """A page inside the admin's shell, with its sidebar."""
    request.current_app = admin.site.name
    shell = admin.site.each_context(request)
    return TemplateResponse(request, template, {**shell, "title": title, **context})
