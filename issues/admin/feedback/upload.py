"""Page to upload a file of feedback, preview it, and import it."""

from base64 import b64decode, b64encode
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern

from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.pages import bounded_text, current_user
from evalhub.strict_json import Problem
from issues.importers.feedback import (
    LENGTHS,
    MAX_ROWS,
    FeedbackFile,
    read,
)
from issues.importers.records import MAX_BYTES
from issues.triage.intake import existing_ids, key_of, take_in

MAX_PROBLEMS = 200
"""Number of problems listed; the page shows the total."""
MAX_SHOWN = 20
"""Number of rows in a preview."""


class FeedbackUpload(HistoryAdmin):
    def get_urls(self) -> list[URLPattern]:
        return [self.view_path("upload/", self.upload_view, "upload"), *super().get_urls()]

    def upload_view(self, request: HttpRequest) -> HttpResponse:
        """Show the form, then a preview with every problem; import once confirmed."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._upload_page(request)
        name, data = _sent(request)
        if not name:
            return self._upload_page(request, problems=[Problem("File", "choose a file first.")])
        fields = zip(request.POST.getlist("column"), request.POST.getlist("as"), strict=False)
        file = read(name, data, dict(fields))
        if file.unreadable:
            return self._upload_page(request, problems=file.unreadable)
        if request.POST.get("act") == "import":
            return self._import(request, name, file)
        duplicates = existing_ids(row.fields for row in file.rows)
        new = [row for row in file.rows if key_of(row.fields) not in duplicates]
        preview = {
            "file": file,
            "duplicates": duplicates,
            "new": new,
            "shown": new[:MAX_SHOWN],
            "problems": file.problems[:MAX_PROBLEMS],
        }
        # In Base64, since a browser would change line ends in plain text.
        packed = b64encode(data).decode()
        return self._upload_page(request, preview=preview, name=name, data=packed)

    def _import(self, request: HttpRequest, name: str, file: FeedbackFile) -> HttpResponse:
        rows = [row.fields for row in file.rows]
        received = take_in(rows, by=current_user(request), reason=f"Uploaded with {name}"[:100])
        added, duplicates = len(received.added), len(received.duplicates)
        text = f"{added} imported."
        text += f" {duplicates} skipped as duplicates." if duplicates else ""
        text += f" {file.bad} invalid rows skipped." if file.bad else ""
        self.say_done(request, text)
        return HttpResponseRedirect(self.url_of("inbox"))

    def _upload_page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        return self.page(
            request,
            "issues/feedback_upload.html",
            title="Upload feedback",
            crumb="Upload",
            fields=list(LENGTHS),
            most_mb=MAX_BYTES // 1024**2,
            most_rows=MAX_ROWS,
            inbox_url=self.url_of("inbox"),
            upload_url=self.url_of("upload"),
            **context,
        )


def _sent(request: HttpRequest) -> tuple[str, bytes]:
    """Return name and content of the file, as uploaded or as sent back by the preview."""
    file = request.FILES.get("file")
    if file is not None and not isinstance(file, list):
        too_long = (file.size or 0) > MAX_BYTES
        content = b" " * (MAX_BYTES + 1) if too_long else file.read()
        return str(file.name), content
    try:
        return bounded_text(request.POST.get("name"), 200), b64decode(request.POST.get("data", ""))
    except ValueError:  # it is no base64
        return "", b""
