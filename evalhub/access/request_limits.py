"""Limits on requests per minute, counted over all processes.

Each process counts in its memory, and adds to the shared count in steps of a twentieth of the
limit, so that few requests write.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from django.core.cache import caches
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework.settings import api_settings
from rest_framework.throttling import AnonRateThrottle, SimpleRateThrottle, UserRateThrottle

from evalhub.access.client_addresses import client_network
from evalhub.limits import EXPENSIVE_PER_MINUTE, PAGES_PER_MINUTE

MINUTE_S = 60
STEPS = 20

View = TypeVar("View", bound=Callable[..., Any])


def is_over(key: str, limit: int, period_s: int = MINUTE_S) -> bool:
    """Count a request, and return whether there were over `limit` in this period."""
    return counted(key, limit, period_s) > limit


def counted(key: str, limit: int, period_s: int = MINUTE_S) -> int:
    """Count a request, and return about how many there were in this period, up to `limit`."""
    local, name = caches["default"], f"limit-{key}-{int(time.time() // period_s)}"
    local.add(name, 0, period_s)
    own = local.incr(name)
    step = max(1, limit // STEPS)
    if own % step == 0:
        local.set(f"{name}-all", _share(name, step, period_s), period_s)
    return int(local.get(f"{name}-all") or 0) + own % step


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
    """Middleware: refuse a user's surplus requests of pages.

    The API has its own limits; what is left of them is in the headers of its responses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if limits := getattr(request, "rate_limits", ()):
            response["RateLimit-Policy"] = ", ".join(limit.policy for limit in limits)
            response["RateLimit"] = ", ".join(limit.left for limit in limits)
        return response

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        if request.path.startswith(("/api/v1/", "/static/")):
            return None
        is_expensive = getattr(view, "is_expensive", False) or "compute" in request.GET
        kind, limit = (
            ("expensive", EXPENSIVE_PER_MINUTE) if is_expensive else ("pages", PAGES_PER_MINUTE)
        )
        if not is_over(f"{kind}-{_who(request)}", limit):
            return None
        response = render(request, "too_many_requests.html", {"limit": limit}, status=429)
        response["Retry-After"] = str(MINUTE_S)
        return response


def _who(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    return f"user-{user.pk}" if user and user.is_authenticated else client_network(request)


# The API -----------------------------------------------------------------------------------------


class RateLimit(NamedTuple):
    """A limit and what is left of it, as the headers RateLimit-Policy and RateLimit have them."""

    name: str
    quota: int
    window_s: int
    used: int
    reset_s: int

    @property
    def policy(self) -> str:
        return f'"{self.name}";q={self.quota};w={self.window_s}'

    @property
    def left(self) -> str:
        return f'"{self.name}";r={max(0, self.quota - self.used)};t={self.reset_s}'


class _Shared(SimpleRateThrottle):
    num_requests: int
    duration: int
    scope: str

    def allow_request(self, request: Any, view: Any) -> bool:
        key = self.get_cache_key(request, view)
        if self.rate is None or key is None:
            return True
        used = counted(key, self.num_requests, self.duration)
        limit = RateLimit(
            self.scope, self.num_requests, self.duration, used, math.ceil(self.wait())
        )
        plain = request._request
        plain.rate_limits = [*getattr(plain, "rate_limits", ()), limit]
        return used <= self.num_requests

    def wait(self) -> float:
        return self.duration - time.time() % self.duration


class UserLimit(_Shared, UserRateThrottle):
    """Counts the requests of a user by all tokens and sessions."""


class TokenLimit(_Shared):
    """Counts the requests with a token, so that one script leaves some to the others."""

    scope = "token"

    def get_cache_key(self, request: Any, view: Any) -> str | None:
        pk = getattr(request.auth, "pk", None)
        return None if pk is None else f"throttle_token_{pk}"


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
