"""The page that imports a file of another system: upload, mapping and preview, import."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin, current_user, require
from evalhub.display.formatting import counted
from evalhub.display.input_form import InputForm
from evalhub.models import LanguageModel
from evalhub.refusals import Refused
from issues.admin.sent_files import packed, sent_file
from issues.importers.records import Unreadable
from issues.models import Issue
from runs.importers.formats import table
from runs.importers.formats.records import Contents, Document
from runs.importers.formats.registry import FORMATS, read
from runs.importers.peer_import import APPROVING, Imported, Options, import_contents
from runs.launching.launch_options import LaunchRefused
from runs.limits import MAX_IMPORT_BYTES
from runs.models import Jury

RIGHT = "issues.add_feedback"
SHOWN = 20
MAX_PROBLEMS = 200


class ImportForm(InputForm):
    """Choices of an import; empty ones leave it to the file."""

    issue = forms.ModelChoiceField(
        Issue.objects.active().order_by("title"),
        required=False,
        label="Issue of the tests",
        empty_label="New issue, named as the file",
    )
    model = forms.ModelChoiceField(
        LanguageModel.objects.order_by("name"),
        required=False,
        label="Model that answered",
        empty_label="As the file says",
    )
    jury = forms.ModelChoiceField(
        Jury.objects.filter(is_active=True).order_by("name"),
        required=False,
        label="Jury",
        empty_label="Keep the file’s own scores",
    )
    approve = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": False, **kwargs})

    def options(self, *, dry_run: bool, may_approve: bool) -> Options:
        """Return the choices; ones that are wrong are as if not made."""
        self.is_valid()
        chosen = self.cleaned_data
        jury = chosen.get("jury")
        return Options(
            issue=chosen.get("issue"),
            model=chosen.get("model"),
            jury=jury and jury.pk,
            approve=may_approve and bool(chosen.get("approve")),
            dry_run=dry_run,
        )


def import_file_page(request: HttpRequest, admin: PageAdmin) -> HttpResponse:
    """Show the form, then a preview with the mapping and every problem; import once confirmed."""
    require(request.user.has_perm(RIGHT))
    if request.method != "POST":
        return _page(request, admin, ImportForm())
    form, (name, data) = ImportForm(request.POST), sent_file(request, most=MAX_IMPORT_BYTES)
    if not name:
        return _page(request, admin, form, problems=["Choose a file first."])
    columns = dict(zip(request.POST.getlist("column"), request.POST.getlist("as"), strict=False))
    try:
        kind, document, contents = read(
            name, data, chosen=request.POST.get("format", ""), columns=columns
        )
    except Unreadable as error:
        return _page(request, admin, form, problems=[f"{name} {error}"])
    is_import = request.POST.get("act") == "import"
    found, problems = _imported(request, kind, contents, form, dry_run=not is_import)
    if is_import and found:
        messages.success(request, _said(found))
        return HttpResponseRedirect(_target(found, admin))
    preview = _preview(kind, document, contents, columns)
    return _page(
        request, admin, form, problems=problems, preview=preview, found=found, name=name,
        data=packed(data),
    )  # fmt: skip


def _imported(
    request: HttpRequest, kind: str, contents: Contents, form: ImportForm, *, dry_run: bool
) -> tuple[Imported | None, list[str]]:
    """Return what was or would be imported, or the problems."""
    options = form.options(dry_run=dry_run, may_approve=request.user.has_perms(APPROVING))
    try:
        return import_contents(kind, contents, options, by=current_user(request)), []
    except (Refused, LaunchRefused) as refused:
        return None, list(refused.problems)[:MAX_PROBLEMS]


def _said(found: Imported) -> str:
    parts = [
        f"{found.tests[name]} tests {name}"
        for name in ("made", "changed", "same")
        if found.tests[name]
    ]
    parts += [counted(len(found.runs), "run")] if found.runs else []
    parts += [f"{found.feedback['added']} feedback items"] if found.feedback else []
    return f"Imported: {', '.join(parts) or 'nothing new'}."


def _target(found: Imported, admin: PageAdmin) -> str:
    if len(found.runs) == 1:
        return str(found.runs[0].get_absolute_url())
    return (
        str(admin.url_of("change", found.suite.pk))
        if found.suite
        else str(admin.url_of("changelist"))
    )


def _preview(
    kind: str, document: Document, contents: Contents, columns: dict[str, str]
) -> dict[str, Any]:
    is_table = kind == table.NAME
    return {
        "kind": kind,
        "title": FORMATS[kind].TITLE,
        "contents": contents,
        "columns": table.columns_of(document, columns).items() if is_table else (),
        "fields": list(table.FIELDS),
        "tests": contents.tests[:SHOWN],
        "feedback": contents.feedback[:SHOWN],
        "answers": sum(len(run.answers) for run in contents.runs),
    }


def _page(request: HttpRequest, admin: PageAdmin, form: ImportForm, **context: Any) -> HttpResponse:
    return admin.page(
        request,
        "runs/suite/import_file.html",
        title="Import",
        form=form,
        formats=[module.TITLE for module in FORMATS.values()],
        most_mb=MAX_IMPORT_BYTES // 1024**2,
        may_approve=request.user.has_perms(APPROVING),
        **context,
    )
