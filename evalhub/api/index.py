from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.module_loading import autodiscover_modules
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView
from rest_framework.viewsets import ViewSetMixin

ROOT = "api/v1/"
ViewSet = TypeVar("ViewSet", bound=type[ViewSetMixin])


class ApiIndex(APIView):
    """The addresses of all lists, by name."""

    permission_classes = (IsAuthenticated,)

    @extend_schema(responses={200: {"type": "object", "additionalProperties": {"type": "string"}}})
    def get(self, request: Request) -> Response:
        return Response({name: request.build_absolute_uri(f"/{ROOT}{name}/") for name in lists()})


def lists() -> list[str]:
    """Return the names of all lists: the addresses of one word below the root."""
    addresses = (
        possibility[0]
        for found in get_resolver().reverse_dict.lists()
        for possibilities, *_ in found[1]
        for possibility in possibilities
    )
    names = {one.removeprefix(ROOT).rstrip("/") for one in addresses if one.startswith(ROOT)}
    return sorted(name for name in names if name and "/" not in name and "%" not in name)


_written: dict[str, bytes | str] = {}
"""The schema by format, for the life of the process: it depends on the code alone."""


class SchemaView(SpectacularAPIView):
    """The API's schema, generated once: that takes a second of computing, and anybody may ask."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer = request.accepted_renderer
        if renderer.media_type not in _written:
            data = super().get(request, *args, **kwargs).data  # type: ignore[no-untyped-call]
            _written[renderer.media_type] = renderer.render(data, renderer.media_type, {})
        return HttpResponse(_written[renderer.media_type], content_type=renderer.media_type)


# Routes ------------------------------------------------------------------------------------------

router = SimpleRouter()


def route(prefix: str, basename: str) -> Callable[[ViewSet], ViewSet]:
    """Serve a viewset of an app's `api` or `api.views` here, as `admin.register` does an admin."""

    def register(viewset: ViewSet) -> ViewSet:
        router.register(prefix, viewset, basename=basename)
        return viewset

    return register


def routes() -> list[URLPattern | URLResolver]:
    """Return the addresses of all viewsets with a route."""
    autodiscover_modules("api", "api.views")
    return router.urls
