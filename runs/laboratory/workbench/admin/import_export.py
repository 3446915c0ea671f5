"""Rows that come from a file, and what leaves a workbench: tests, a template draft, files."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin, bounded_text, current_user, require, row_number
from evalhub.display.formatting import counted
from evalhub.files.export_files import FORMATS, export_response
from issues.admin.sent_files import packed, sent_file
from issues.limits import MAX_FILE_BYTES
from runs.laboratory.workbench.admin.forms import IssueForm
from runs.laboratory.workbench.export import export_of, settings_from
from runs.laboratory.workbench.handover import save_draft, save_to_library, tests_of
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.row_files import RowFile, read_rows
from runs.laboratory.workbench.rows import add_rows, duplicate_bench, keys_of
from runs.limits import MAX_WORKBENCH_ROWS

ADD_TEST, EDIT_TEMPLATE = "issues.add_test", "issues.change_judgetemplate"
ADD_ENTRY = "issues.add_librarycriterion"
SHOWN = 20


class Leaving(PageAdmin):
    views = {
        "upload": "<int:object_id>/upload/",
        "act": "<int:object_id>/act/",
        "export": "<int:object_id>/export/<str:file_format>/",
    }

    def leaving(self, request: HttpRequest, bench: Workbench) -> dict[str, Any]:
        """Return what of it this user may take elsewhere."""
        return {
            "may_add_test": request.user.has_perm(ADD_TEST),
            "may_edit_template": request.user.has_perm(EDIT_TEMPLATE),
            "may_add_entry": request.user.has_perm(ADD_ENTRY),
            "may_copy": self.has_add_permission(request),
            "exports": [
                (self.url_of("export", bench.pk, key), *FORMATS[key][:2]) for key in FORMATS
            ],
        }

    def rows_of(self, request: HttpRequest, bench: Workbench) -> list[BenchRow]:
        raise NotImplementedError

    # Files ----------------------------------------------------------------------------------------

    def export_view(self, request: HttpRequest, object_id: int, file_format: str) -> HttpResponse:
        bench = self.found(request, object_id)
        if file_format not in FORMATS:
            raise Http404(f"There is no export as {file_format!r}.")
        rows = [row for row in self.rows_of(request, bench) if not row.example_id]
        return export_response(
            file_format, str(bench), export_of(bench, rows, current_user(request))
        )

    def upload_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the form, then a preview with every problem; add the rows once confirmed."""
        bench: Workbench = self.found(request, object_id)
        require(self.has_change_permission(request, bench))
        name, data = _sent(request)
        file = (
            read_rows(name, data, keys=keys_of(bench), most=MAX_WORKBENCH_ROWS)
            if name
            else RowFile()
        )
        if request.POST.get("act") == "import" and file.rows:
            with self.refusals_shown(request):
                if request.POST.get("settings") and file.settings:
                    settings_from(bench, file.settings)
                added = add_rows(bench, file.rows)
                self.say_done(request, f"Added {counted(len(added), 'row')}.")
                return HttpResponseRedirect(bench.get_absolute_url())
        return self.page(
            request,
            "runs/laboratory/workbench/upload.html",
            title="Add rows from a file",
            bench=bench,
            file=file,
            name=name,
            data=packed(data),
            shown=file.rows[:SHOWN],
            most_mb=MAX_FILE_BYTES // 1024**2,
            most_rows=MAX_WORKBENCH_ROWS,
            is_empty=request.method == "POST" and not name,
        )

    # Tests, template, copy ------------------------------------------------------------------------

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        bench = self.found(request, object_id)
        act = request.POST.get("act", "")
        if request.method == "POST" and act == "duplicate" and self.has_add_permission(request):
            copy = duplicate_bench(bench, current_user(request))
            return HttpResponseRedirect(copy.get_absolute_url())
        if request.method == "POST" and act == "template" and self._may_write(request, bench):
            return self._template(request, bench)
        if request.method == "POST" and act == "library" and request.user.has_perm(ADD_ENTRY):
            return self._library(request, bench)
        if request.method == "POST" and act == "tests" and request.user.has_perm(ADD_TEST):
            return self._tests(request, bench)
        raise PermissionDenied

    def _may_write(self, request: HttpRequest, bench: Workbench) -> bool:
        return self.has_change_permission(request, bench) and request.user.has_perm(EDIT_TEMPLATE)

    def _template(self, request: HttpRequest, bench: Workbench) -> HttpResponse:
        title = bounded_text(request.POST.get("title"), 120)
        with self.refusals_shown(request):
            draft = save_draft(bench, by=current_user(request), title=title)
            self.say_done(request, f"Saved as {draft}. Publish it here when it is good enough.")
            return HttpResponseRedirect(draft.get_absolute_url())
        return HttpResponseRedirect(bench.get_absolute_url())

    def _library(self, request: HttpRequest, bench: Workbench) -> HttpResponse:
        with self.refusals_shown(request):
            saved = save_to_library(bench, by=current_user(request))
            names = ", ".join(f"“{entry.name}”" for entry in saved)
            self.say_done(request, f"Saved to the criterion library: {names}.")
        return HttpResponseRedirect(bench.get_absolute_url())

    def _tests(self, request: HttpRequest, bench: Workbench) -> HttpResponse:
        """Ask for the issue, then create the tests of the chosen rows."""
        wanted = {row_number(number) for number in request.POST.getlist("row")}
        rows = [row for row in self.rows_of(request, bench) if row.pk in wanted]
        form = IssueForm(request.POST if "issue" in request.POST else None, site=self.admin_site)
        if not rows:
            self.say(request, "Select the rows to make tests of first.")
            return HttpResponseRedirect(bench.get_absolute_url())
        if form.is_valid():
            with self.refusals_shown(request):
                issue = form.cleaned_data["issue"]
                for row in rows:
                    row.workbench = bench
                tests = tests_of(rows, issue, by=current_user(request))
                self.say_done(request, f"Created {counted(len(tests), 'draft test')}.")
                return HttpResponseRedirect(issue.get_absolute_url())
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Make tests of {counted(len(rows), 'row')}",
            sentences=[
                "Rows with the same input become one draft test, with the criteria of this "
                "workbench. An answer that should pass becomes the reference, one that should fail "
                "the flagged answer."
            ],
            form=form,
            hidden=[("act", "tests"), *(("row", row.pk) for row in rows)],
            button="Create draft tests",
            back_url=bench.get_absolute_url(),
        )


def _sent(request: HttpRequest) -> tuple[str, bytes]:
    """Return name and content of the file or the pasted rows; "" if there is none."""
    pasted = request.POST.get("pasted", "").strip()
    if "file" in request.FILES or not pasted:
        return sent_file(request)
    kind = {"[": "json", "{": "jsonl"}.get(pasted[0], "csv")
    return f"pasted.{kind}", pasted.replace("\r\n", "\n").encode()
