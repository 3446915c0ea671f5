"""The page that imports blueprints: upload, preview, import."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin, current_user
from evalhub.display.formatting import counted
from runs.importers.weval.batch_import import Outcome, import_all
from runs.importers.weval.blueprint.files import uploaded
from runs.importers.weval.blueprint.records import Finding
from runs.models import Suite

MAX_FILES, MAX_BYTES = 200, 8 * 1024 * 1024
NEEDED = (
    *("issues.add_issue", "issues.change_issue", "issues.add_test", "issues.change_test"),
    *("issues.add_tag", "runs.add_suite", "runs.change_suite", "runs.add_jury"),
)
APPROVING = ("issues.approve_issue", "issues.approve_test")


class Sent(NamedTuple):
    """An uploaded file; the preview keeps it in the browser."""

    name: str
    text: str


@dataclass(frozen=True)
class Preview:
    """Preview of the files. `kept` are importable files and collections."""

    outcomes: list[Outcome]
    problems: list[Finding]
    kept: list[Sent]

    @property
    def importable(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.loaded and one.loaded.is_changed]


def may_import(request: HttpRequest) -> bool:
    return request.user.has_perms(NEEDED)


def import_page(request: HttpRequest, admin: PageAdmin) -> HttpResponse:
    """Show the form, then a preview with every problem, then import."""
    approve = "approve" in request.POST and request.user.has_perms(APPROVING)
    problems: list[str] = []
    preview = None
    if request.POST.get("act") == "import":
        made, problems = _imported(request, approve)
        if made and not problems:
            target = ("change", made[0].pk) if len(made) == 1 else ("changelist",)
            return HttpResponseRedirect(admin.url_of(*target))
        problems = problems or ["Nothing to change."]
    elif request.method == "POST":
        problems, sent = _received(request.FILES.getlist("files"))
        preview = None if problems else _preview(request, sent, approve)
    return admin.page(
        request,
        "runs/suite/import_weval.html",
        title="Import blueprints",
        preview=preview,
        problems=problems,
        approve=approve,
        may_approve=request.user.has_perms(APPROVING),
    )


def _received(files: Sequence[UploadedFile]) -> tuple[list[str], list[Sent]]:
    """Return the problems and texts of the uploaded files."""
    if not files:
        return ["Choose files."], []
    if len(files) > MAX_FILES:
        return [f"These are {len(files)} files; the limit is {MAX_FILES}."], []
    size = sum(file.size or 0 for file in files)
    if size > MAX_BYTES:
        return [f"The files have {size:,} bytes; the limit is {MAX_BYTES:,}."], []
    problems, sent = [], []
    for file in files:
        try:
            sent.append(Sent(str(file.name), file.read().decode("utf-8-sig")))
        except UnicodeDecodeError as error:
            problems.append(f"{file.name} is not UTF-8 text: {error}.")
    return problems, sent


def _preview(request: HttpRequest, sent: list[Sent], approve: bool) -> Preview:
    found = uploaded(sent)
    outcomes = list(import_all(found, by=current_user(request), approve=approve, dry_run=True))
    refused = {one.file for one in outcomes if one.loaded is None}
    refused |= {problem.file for problem in found.problems}
    kept = [file for file in sent if file.name not in refused]
    return Preview(outcomes, found.problems, kept)


def _imported(request: HttpRequest, approve: bool) -> tuple[list[Suite], list[str]]:
    """Import the previewed files, which the browser sends back; return suites and problems."""
    names, texts = request.POST.getlist("name"), request.POST.getlist("text")
    found = uploaded([Sent(*pair) for pair in zip(names, texts, strict=False)][:MAX_FILES])
    outcomes = list(import_all(found, by=current_user(request), approve=approve))
    problems = [*found.problems, *(p for outcome in outcomes for p in outcome.problems)]
    made = [one.loaded.suite for one in outcomes if one.loaded and one.loaded.is_changed]
    if made:
        messages.success(request, f"Imported {counted(len(made), 'blueprint')}.")
    return made, [str(problem) for problem in problems]
