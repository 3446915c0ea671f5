from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request

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
