"""Lists that can be downloaded."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.renderers import JSONRenderer

from evalhub.access.request_limits import expensive
from evalhub.admin_site.pages import PageAdmin, require
from evalhub.files.export_files import FORMATS, csv_of

CHUNK = 200

LIST_FORMATS = {key: FORMATS[key] for key in ("csv", "json", "jsonl")}


class DownloadedListAdmin(PageAdmin):
    """A list that can be exported: all pages of it, each row as the API shows it.

    Attributes:
        downloaded_as: Dotted path of the API's viewset of these rows.
    """

    downloaded_as = ""
    views = {"download": "download/<str:file_format>/"}

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        own = [(self.url_of("download", key), *LIST_FORMATS[key][:2]) for key in LIST_FORMATS]
        found = [*own, *self.further_exports(request)]
        exports = [(f"{url}{query}", title, about) for url, title, about in found]
        context = {"exports": exports, **(extra_context or {})}
        response: HttpResponse = super().changelist_view(request, context)
        return response

    @expensive
    def download_view(self, request: HttpRequest, file_format: str) -> HttpResponseBase:
        require(self.has_view_permission(request))
        if file_format not in LIST_FORMATS:
            raise Http404(f"A list is not exported as {file_format!r}.")
        listed = self.listed(request)
        if listed is None:
            return HttpResponseRedirect(self.url_of("changelist"))
        numbers = list(listed.values_list("pk", flat=True))
        view = import_string(self.downloaded_as)(request=request, action="list", format_kwarg=None)
        name = f"{self.opts.verbose_name_plural}-{timezone.now():%Y%m%d-%H%M}.{file_format}"
        return StreamingHttpResponse(
            WRITERS[file_format](api_rows(view, numbers)),
            content_type=LIST_FORMATS[file_format][2],
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )


def api_rows(view: Any, numbers: list[int]) -> Iterator[Any]:
    """Yield the rows with these numbers that the view's user may read, as the API shows them."""
    for start in range(0, len(numbers), CHUNK):
        chunk = numbers[start : start + CHUNK]
        found = view.get_queryset().in_bulk(chunk)
        rows = [found[number] for number in chunk if number in found]
        yield from view.get_serializer(rows, many=True).data


def json_array(rows: Iterable[Any]) -> Iterator[bytes]:
    renderer, mark = JSONRenderer(), b"["
    for row in rows:
        yield mark + b"\n" + renderer.render(row)
        mark = b","
    yield b"[]\n" if mark == b"[" else b"\n]\n"


def json_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    renderer = JSONRenderer()
    for row in rows:
        yield renderer.render(row) + b"\n"


WRITERS = {"csv": csv_of, "json": json_array, "jsonl": json_lines}
