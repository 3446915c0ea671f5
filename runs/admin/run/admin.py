from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
)
from unfold.decorators import display
from unfold.views import ChangeList

from evalhub.admin_site.contributions import ExtensibleListAdmin, LoadedChangeList
from evalhub.admin_site.lists import RelatedFilter
from evalhub.admin_site.pages import require, row_number
from evalhub.refusals import NotPossible
from runs.admin.run import control, import_answers
from runs.admin.run.rejudge import rejudge_page
from runs.figures.run_figures import figures_of
from runs.figures.run_labels import labels_of
from runs.lifecycle.deletion import contents_of, delete_run
from runs.models import Run

UNSHOWN = (
    *("params", "system_prompt", "request_id", "source_id", "texts_removed_at"),
    *(f"launch__{name}" for name in ("spec", "cron", "next_at", "last_at", "last_outcome")),
    *("launch__is_paused", "launch__release", "launch__created_at"),
    *(f"requested_by__{name}" for name in ("preferences", "password", "email", "last_login")),
    *("requested_by__first_name", "requested_by__last_name", "requested_by__date_joined"),
)
"""Columns of which the list says nothing."""
POLLED = ("progress", "pass_rate", "cost")
"""Cells that change while a run works."""
STOP_POLLING = 286
"""Status with which htmx ends a poll."""


def cell(name: str, run: Any, is_answer: bool = False) -> SafeString:
    """Return one cell of a run with its `figures`; that of a live one is replaced by a poll."""
    labels = labels_of(run, run.figures.current) if name == "name" else ()
    is_polled = is_answer or run.figures.is_live
    shown = {"name": name, "run": run, "figures": run.figures, "labels": labels}
    shown["is_polled"] = is_polled
    return render_to_string("runs/run/cell.html", shown)


class RunChangeList(LoadedChangeList):
    """The list of runs, with figures of the rows shown."""

    def load(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        self.has_live = _load_figures(rows)
        super().load(request, rows)


@admin.register(Run)
class RunAdmin(ExtensibleListAdmin):
    """The list of runs; a run's own page is its report."""

    when_empty = "A launch starts one run for each model, system prompt and temperature."
    list_display = (
        "run",
        "candidate",
        "progress",
        "pass_rate",
        "judges",
        "cost",
        "started",
    )
    list_display_links = None
    list_per_page = 20  # a row has up to six lines
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("language_model", RelatedFilter),
        ("suite", RelatedFilter),
        ("launch", AutocompleteSelectFilter),
        "release",
        "has_imported_answers",
    )
    linked_lookups = ("suite_version__id__exact",)
    search_fields = ("label", "release", "model_name", "launch__label", "suite__name")
    search_help_text = "Label, model, release, launch or suite"
    list_select_related = ("requested_by", "launch")
    list_before_template = "runs/run/list_before.html"
    list_after_template = "runs/run/list_after.html"
    actions = None
    views = {
        "rows": "rows/",
        "import_answers": "import-answers/",
        "control": "<int:pk>/control/",
        "rejudge": "<int:pk>/rejudge/",
    }

    class Media:
        css = {"all": ("evalhub/result.css",)}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RunChangeList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        runs: QuerySet[Run] = super().get_queryset(request)
        return runs.defer(*UNSHOWN)

    def found_as(self, run: Run) -> tuple[str, str]:
        return run.label or str(run), f"run {run.pk} of {run.model_name}"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: runs are launched, not added."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    # The list ------------------------------------------------------------------------------------

    @display(description="Run", ordering="label")
    def run(self, run: Any) -> SafeString:
        return cell("name", run)

    @display(description="Model", ordering="model_name")
    def candidate(self, run: Run) -> str:
        return f"{run.model_name}, release {run.release}" if run.release else run.model_name

    @display(description="State", ordering="state")
    def progress(self, run: Any) -> SafeString:
        return cell("progress", run)

    @display(description="Pass rate")
    def pass_rate(self, run: Any) -> SafeString:
        return cell("pass_rate", run)

    @display(description="Judged by")
    def judges(self, run: Any) -> str:
        return str(run.figures.judged_by)

    @display(description="Cost")
    def cost(self, run: Any) -> SafeString:
        return cell("cost", run)

    @display(description="Started", ordering="created_at")
    def started(self, run: Run) -> str:
        at = localtime(run.created_at)
        by = f" by {run.requested_by}" if run.requested_by else ""
        return f"{at.day} {at:%b %Y, %H:%M}{by}"

    def rows_view(self, request: HttpRequest) -> HttpResponse:
        """Return the changing cells of some rows (`?ids=1&ids=2`), and stop polling at the end."""
        require(self.has_view_permission(request))
        ids = [row_number(text) for text in request.GET.getlist("ids")]
        runs = list(Run.objects.filter(pk__in=ids[:100]))
        is_live = _load_figures(runs)
        cells = [cell(name, run, is_answer=True) for run in runs for name in POLLED]
        return HttpResponse("".join(cells), status=200 if is_live else STOP_POLLING)

    # One run -------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Redirect to the run's report."""
        run = get_object_or_404(Run, pk=row_number(object_id))
        return HttpResponseRedirect(run.get_absolute_url())

    def control_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        require(request.user.has_perm("runs.control_run"))
        return control.control(request, get_object_or_404(Run, pk=pk), self)

    def rejudge_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Confirm, then re-judge the run with the jury of the run `like`."""
        require(request.user.has_perm("runs.control_run"))
        like = get_object_or_404(Run, pk=row_number(request.GET.get("like")))
        return rejudge_page(request, get_object_or_404(Run, pk=pk), like, self)

    def import_answers_view(self, request: HttpRequest) -> HttpResponse:
        require(request.user.has_perm("runs.add_launch"))
        return import_answers.import_answers_page(request, self)

    # Deleting ------------------------------------------------------------------------------------

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Confirm with counts of the rows to delete, then delete."""
        run = get_object_or_404(Run, pk=row_number(object_id))
        require(self.has_delete_permission(request, run))
        if request.method == "POST":
            try:
                self.log_deletions(request, Run.objects.filter(pk=run.pk))
                delete_run(run)
            except NotPossible as error:
                self.say(request, str(error))
                return HttpResponseRedirect(run.get_absolute_url())
            messages.success(request, f"Deleted {run}.")
            return HttpResponseRedirect(self.url_of("changelist"))
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Delete {run}?",
            sentences=[
                "This cannot be undone. The call log, with costs, is kept.",
                "It also deletes:",
            ],
            rows=[f"{words.capitalize()}: {n:,}" for words, n in contents_of(run).items()],
            button="Delete run",
            danger=True,
            back_url=run.get_absolute_url(),
        )


def _load_figures(runs: Sequence[Any]) -> bool:
    """Set each run's figures; return whether one of them is live."""
    figures = figures_of(runs)
    for run in runs:
        run.figures = figures[run.pk]
    return any(one.is_live for one in figures.values())
