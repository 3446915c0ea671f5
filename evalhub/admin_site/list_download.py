"""Lists that can be downloaded."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.renderers import JSONRenderer

from evalhub.access.request_limits import expensive
from evalhub.admin_site.pages import PageAdmin

CHUNK = 200


class DownloadedList(PageAdmin):
    """A list that can be downloaded as JSON: all pages of it, each row as the API shows it."""

    downloaded_as = ""
    """Dotted path of the API's viewset of these rows."""

    def get_urls(self) -> list[URLPattern]:
        return [self.view_path("download/", self.download_view, "download"), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        query = request.GET.urlencode()
        url = self.url_of("download") + (f"?{query}" if query else "")
        context = {"download_url": url, **(extra_context or {})}
        response: HttpResponse = super().changelist_view(request, context)
        return response

    @expensive
    def download_view(self, request: HttpRequest) -> HttpResponseBase:
        if not self.has_view_permission(request):
            raise PermissionDenied
        listed = self.listed(request)
        if listed is None:
            return HttpResponseRedirect(self.url_of("changelist"))
        numbers = list(listed.values_list("pk", flat=True))
        view = import_string(self.downloaded_as)(request=request, action="list", format_kwarg=None)
        name = f"{self.opts.verbose_name_plural}-{timezone.now():%Y%m%d-%H%M}.json"
        return StreamingHttpResponse(
            json_array(view, numbers),
            content_type="application/json",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


def json_array(view: Any, numbers: list[int]) -> Iterator[bytes]:
    """Yield a JSON array of the rows with these numbers that the view's user may read."""
    renderer, mark = JSONRenderer(), b"["
    for start in range(0, len(numbers), CHUNK):
        chunk = numbers[start : start + CHUNK]
        found = view.get_queryset().in_bulk(chunk)
        rows = [found[number] for number in chunk if number in found]
        for row in view.get_serializer(rows, many=True).data:
            yield mark + b"\n" + renderer.render(row)
            mark = b","
    yield b"[]\n" if mark == b"[" else b"\n]\n"
