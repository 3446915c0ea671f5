"""Page to upload a file of feedback, preview it, and import it."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.pages import current_user, require
from evalhub.values.strict_json import Problem
from issues.admin.sent_files import packed, sent_file
from issues.content.feedback_content import IN_FILES
from issues.importers.feedback import FeedbackFile, read
from issues.limits import MAX_FEEDBACK_ROWS, MAX_FILE_BYTES, PREVIEW_ROWS
from issues.triage.intake import existing_ids, key_of, take_in

MAX_PROBLEMS = 200
"""Number of problems listed; the page shows the total."""


class FeedbackUpload(HistoryAdmin):
    views = {"upload": "upload/"}

    def upload_view(self, request: HttpRequest) -> HttpResponse:
        """Show the form, then a preview with every problem; import once confirmed."""
        require(self.has_add_permission(request))
        if request.method != "POST":
            return self._upload_page(request)
        name, data = sent_file(request)
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
            "shown": new[:PREVIEW_ROWS],
            "problems": file.problems[:MAX_PROBLEMS],
        }
        return self._upload_page(request, preview=preview, name=name, data=packed(data))

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
            fields=list(IN_FILES),
            most_mb=MAX_FILE_BYTES // 1024**2,
            most_rows=MAX_FEEDBACK_ROWS,
            inbox_url=self.url_of("inbox"),
            upload_url=self.url_of("upload"),
            **context,
        )
