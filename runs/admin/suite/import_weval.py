"""The page that imports blueprints: upload, preview, import."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from evalhub.admin_site.pages import current_user
from runs.importers.weval.batch_import import Outcome, import_all
from runs.importers.weval.files import uploaded
from runs.importers.weval.records import Finding
from runs.models import Suite

MOST_FILES, MOST_BYTES = 200, 8 * 1024 * 1024
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


def import_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show the form, then a preview with every problem, then import."""
    approve = "approve" in request.POST and request.user.has_perms(APPROVING)
    if request.method != "POST":
        return _page(request, site, approve=approve)
    if request.POST.get("act") == "import":
        return _imported(request, site, _again(request), approve)
    problems, sent = _received(request.FILES.getlist("files"))
    if problems:
        return _page(request, site, problems=problems, approve=approve)
    return _page(request, site, preview=_preview(request, sent, approve), approve=approve)


def _received(files: Iterable[UploadedFile]) -> tuple[list[str], list[Sent]]:
    """Return the problems and texts of the uploaded files."""
    files = list(files)
    if not files:
        return ["Choose files."], []
    if len(files) > MOST_FILES:
        return [f"These are {len(files)} files; the limit is {MOST_FILES}."], []
    size = sum(file.size or 0 for file in files)
    if size > MOST_BYTES:
        return [f"The files have {size:,} bytes; the limit is {MOST_BYTES:,}."], []
    problems, sent = [], []
    for file in files:
        try:
            sent.append(Sent(str(file.name), file.read().decode("utf-8-sig")))
        except UnicodeDecodeError as error:
            problems.append(f"{file.name} is not UTF-8 text: {error}.")
    return problems, sent


def _again(request: HttpRequest) -> list[Sent]:
    """Return the previewed files as the browser sends them back."""
    names, texts = request.POST.getlist("name"), request.POST.getlist("text")
    return [Sent(*pair) for pair in zip(names, texts, strict=False)][:MOST_FILES]


def _preview(request: HttpRequest, sent: list[Sent], approve: bool) -> Preview:
    found = uploaded(sent)
    outcomes = list(import_all(found, by=current_user(request), approve=approve, dry_run=True))
    refused = {one.file for one in outcomes if one.loaded is None}
    refused |= {problem.file for problem in found.problems}
    kept = [file for file in sent if file.name not in refused]
    return Preview(outcomes, found.problems, kept)


def _imported(
    request: HttpRequest, site: AdminSite, sent: list[Sent], approve: bool
) -> HttpResponse:
    found = uploaded(sent)
    outcomes = list(import_all(found, by=current_user(request), approve=approve))
    problems = [*found.problems, *(p for outcome in outcomes for p in outcome.problems)]
    made = [one.loaded.suite for one in outcomes if one.loaded and one.loaded.is_changed]
    if made:
        count = "1 blueprint" if len(made) == 1 else f"{len(made)} blueprints"
        messages.success(request, f"Imported {count}.")
    if problems or not made:
        said = [str(problem) for problem in problems] or ["Nothing to change."]
        return _page(request, site, problems=said, approve=approve)
    return HttpResponseRedirect(_address(made))


def _address(made: list[Suite]) -> str:
    if len(made) == 1:
        return reverse("admin:runs_suite_change", args=[made[0].pk])
    return reverse("admin:runs_suite_changelist")


def _page(
    request: HttpRequest,
    site: AdminSite,
    *,
    approve: bool,
    preview: Preview | None = None,
    problems: Iterable[str] = (),
) -> HttpResponse:
    context = {
        **site.each_context(request),
        "opts": Suite._meta,
        "title": "Import blueprints",
        "preview": preview,
        "problems": list(problems),
        "approve": approve,
        "may_approve": request.user.has_perms(APPROVING),
    }
    return TemplateResponse(request, "runs/suite/import_weval.html", context)
