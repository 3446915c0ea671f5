"""Limits on requests per minute, counted over all processes.

Each process counts in its memory, and adds to the shared count in steps of a twentieth of the
limit, so that few requests write.
"""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.cache import caches
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.settings import api_settings
from rest_framework.throttling import AnonRateThrottle, SimpleRateThrottle, UserRateThrottle

from evalhub.access.addresses import client_network

MINUTE_S = 60
PAGES = 600
"""Pages per minute for one user, or for one network without login."""
EXPENSIVE = 120
"""The same for downloads, slow figures and similarity searches."""
INVALID_TOKENS = 30
"""Failed tokens per minute from one network."""
STEPS = 20

View = TypeVar("View", bound=Callable[..., Any])


def is_over(key: str, limit: int, period_s: int = MINUTE_S) -> bool:
    """Count a request, and return whether there were over `limit` in this period."""
    local, name = caches["default"], f"limit-{key}-{int(time.time() // period_s)}"
    local.add(name, 0, period_s)
    own = local.incr(name)
    step = max(1, limit // STEPS)
    if own % step == 0:
        local.set(f"{name}-all", _share(name, step, period_s), period_s)
    return int(local.get(f"{name}-all") or 0) + own % step > limit


def _share(name: str, step: int, period_s: int) -> int:
    """Add to the shared count and return it; the own count alone while nothing can be written."""
    shared = caches["computed"]
    try:
        with transaction.atomic():
            if shared.has_key(name) or not shared.add(name, step, period_s):
                return shared.incr(name, step)
            return step
    except (DatabaseError, ValueError):
        return int(caches["default"].get(name) or 0)


# Pages -------------------------------------------------------------------------------------------


def expensive(view: View) -> View:
    """Mark a view that takes much work, so that it is limited more."""
    view.is_expensive = True  # type: ignore[attr-defined]
    return view


class LimitPages:
    """Middleware: refuse a user's surplus requests of pages. The API has its own limits."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if request.path.startswith(("/api/v1/", "/static/")):
            return None
        is_expensive = getattr(view, "is_expensive", False) or "compute" in request.GET
        kind, limit = ("expensive", EXPENSIVE) if is_expensive else ("pages", PAGES)
        if not is_over(f"{kind}-{_who(request)}", limit):
            return None
        response = render(request, "too_many_requests.html", {"limit": limit}, status=429)
        response["Retry-After"] = str(MINUTE_S)
        return response


def _who(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    return f"user-{user.pk}" if user and user.is_authenticated else client_network(request)


# The API -----------------------------------------------------------------------------------------


class _Shared(SimpleRateThrottle):
    num_requests: int
    duration: int

    def allow_request(self, request: Any, view: Any) -> bool:
        key = self.get_cache_key(request, view)
        if self.rate is None or key is None:
            return True
        return not is_over(key, self.num_requests, self.duration)

    def wait(self) -> float:
        return self.duration - time.time() % self.duration


class UserLimit(_Shared, UserRateThrottle):
    pass


class AnonymousLimit(_Shared, AnonRateThrottle):
    def get_ident(self, request: Any) -> str:
        return client_network(request)


class ExpensiveLimit(_Shared, UserRateThrottle):
    scope = "expensive"


class LongPageLimit(ExpensiveLimit):
    """Counts pages with more rows than by default, whose texts can be long, as expensive."""

    def get_cache_key(self, request: Any, view: Any) -> Any:
        text = request.query_params.get("page_size", "")
        is_number = text.isascii() and text.isdigit()
        is_long = is_number and int(text[:9]) > (api_settings.PAGE_SIZE or 0)
        return super().get_cache_key(request, view) if is_long else None
