"""Benchmarks in the admin: their texts, generation, fresh instances and imports."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from unfold.admin import TabularInline
from unfold.decorators import display

from evalhub.admin_site.batch_control import controlled
from evalhub.admin_site.contributions import ExtensibleListAdmin
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import counted
from evalhub.models import ItemState
from evalhub.refusals import Refused
from evalhub.work.control import progress_of
from runs.laboratory.trials.admin.forms import BenchmarkForm, ImportForm
from runs.laboratory.trials.admin.labels import ADD as LABEL
from runs.laboratory.trials.admin.labels import label_page
from runs.laboratory.trials.admin.starts import GENERATE, StartViews
from runs.laboratory.trials.benchmarks.artifact_review import expose
from runs.laboratory.trials.benchmarks.benchmark_counts import with_counts
from runs.laboratory.trials.benchmarks.composed_programs import compose_programs
from runs.laboratory.trials.benchmarks.imports import import_benchmark, read_lines
from runs.laboratory.trials.benchmarks.new_benchmarks import set_paths
from runs.laboratory.trials.benchmarks.text_grid import grid_of
from runs.laboratory.trials.models import (
    Benchmark,
    GenerationPath,
    GenerationRun,
    GenerationStep,
    Source,
    Topic,
)
from runs.laboratory.trials.replays.replay_runs import REPLAY_RIGHTS, figures_of, sample_for_review
from runs.laboratory.trials.replays.replay_tests import generic_statement
from runs.limits import MAX_BENCHMARK_BYTES

SAMPLE = "review.add_queue"
ACTS = {
    "cancel": "Cancelled. What was written is kept, and you can resume.",
    "resume": "Resumed with the missing steps.",
    "retry_errors": "Retrying the failed steps.",
    "expose": "Marked as shown to developers.",
    "compose": "Composed. Generate texts next: they are made of these programs along the paths.",
    "sample": "A random sample waits for review.",
}
"""Messages of the actions on a benchmark."""


class TopicInline(TabularInline):
    model = Topic
    fields = ("title", "kind", "is_cluster", "place")
    extra = 1


@admin.register(Benchmark)
class BenchmarkAdmin(StartViews, ExtensibleListAdmin):
    """Benchmarks: claims of known truth, and the texts that they are about."""

    form = BenchmarkForm
    inlines = (TopicInline,)
    keeps_history = False
    when_empty = "Create one, import labelled pairs, or have a small one generated to try."
    list_before_template = "runs/laboratory/trials/benchmarks_before.html"
    list_display = ("name", "kind", "state", "ideas", "claims_total", "created_at")
    list_filter = ("state", "is_scripted", "is_imported")
    views = {
        "small": "small/",
        "import": "import/",
        "edit": "<int:object_id>/edit/",
        "generate": "<int:object_id>/generate/",
        "replay": "<int:object_id>/replay/",
        "fresh": "<int:object_id>/fresh/",
        "label": "<int:object_id>/label/",
    }
    post_views = {"act": "<int:object_id>/act/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Benchmark]:
        rows: QuerySet[Benchmark] = super().get_queryset(request)
        readable: QuerySet[Benchmark] = rows.readable_by(request.user)  # type: ignore[attr-defined]
        return with_counts(readable)

    def has_delete_permission(self, request: HttpRequest, obj: Benchmark | None = None) -> bool:
        """Refuse where trials rest on it; bulk deletion would not look at each."""
        if obj is None or obj.trials.exists():
            return False
        return bool(super().has_delete_permission(request, obj))

    @display(description="contents", label={"scripted": "warning"})
    def kind(self, row: Benchmark) -> str:
        if row.is_scripted:
            return "scripted"
        if row.is_imported:
            return "imported"
        return "fresh instance" if row.parent_id else "generated"

    @display(description="ideas", ordering="idea_total")
    def ideas(self, row: Any) -> int:
        return int(row.idea_total)

    @display(description="claims", ordering="claim_total")
    def claims_total(self, row: Any) -> int:
        return int(row.claim_total)

    # Settings -------------------------------------------------------------------------------------

    def edit_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show the form: the page of a benchmark itself shows its texts."""
        require(self.has_change_permission(request))
        return self.changeform_view(request, str(object_id))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        set_paths(form.instance, form.cleaned_data["paths"])

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Raise the version of the list of topics with those that are added."""
        added = formset.save(commit=False) and [one for one in formset.new_objects if change]
        if added:
            form.instance.version += 1
            form.instance.save(update_fields=["version"])
            for topic in added:
                topic.version = form.instance.version
        super().save_formset(request, form, formset, change)

    def save_model(self, request: HttpRequest, obj: Benchmark, form: Any, change: bool) -> None:
        if not change:
            obj.author = current_user(request)
        super().save_model(request, obj, form, change)
        if "cron" in form.changed_data:
            if obj.cron:
                obj.start_schedule(obj.cron)
            else:
                obj.pause()

    def response_post_save_add(self, request: HttpRequest, obj: Benchmark) -> HttpResponse:
        return self.back(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Benchmark) -> HttpResponse:
        return self.back(request, obj)

    # Texts ----------------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show topics, ideas and texts, with the progress of the last generation run."""
        if request.method == "POST":
            return self.changeform_view(request, object_id, form_url, extra_context)
        benchmark = self.found(request, row_number(object_id))
        runs = list(
            benchmark.generation_runs.select_related("language_model", "tested_model", "run")[:20]
        )
        return self.page(
            request,
            "runs/laboratory/trials/benchmark.html",
            title=str(benchmark),
            benchmark=benchmark,
            grid=grid_of(benchmark),
            runs=runs,
            progress=progress_of(runs[0], expected=runs[0].expected) if runs else None,
            errors=_errors(runs[0]) if runs else [],
            instances=benchmark.instances.readable_by(request.user),
            may_edit=self.has_change_permission(request, benchmark),
            may_generate=request.user.has_perm(GENERATE),
            composed=benchmark.artifacts.filter(source=Source.COMPOSED).count(),
            replays=figures_of([run for run in runs if run.is_replay]),
            statements=_statements(runs),
            has_tested=any(path.is_tested for path in benchmark.paths.all()),
            may_replay=request.user.has_perms(REPLAY_RIGHTS),
            may_sample=request.user.has_perm(SAMPLE),
            panel=self.contributed_panel(request, benchmark),
            sections=self.contributed_sections(request, benchmark),
            may_label=request.user.has_perm(LABEL) and benchmark.claims.exists(),
            may_try=request.user.has_perm("trials.add_trial"),
        )

    def label_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        return label_page(request, self.found(request, object_id), self)

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Control the last generation run, compose programs, mark exposure, draw a sample."""
        benchmark = self.found(request, object_id)
        act = request.POST.get("act", "")
        right = {"expose": "trials.change_benchmark", "sample": SAMPLE}.get(act, GENERATE)
        require(request.user.has_perm(right))
        if act not in ACTS:
            raise Http404(f"There is no action {act!r}.")
        with self.refusals_shown(request):
            if act == "expose":
                expose(benchmark.artifacts.values_list("pk", flat=True))
            elif act == "compose":
                compose_programs(benchmark, row_number(request.POST.get("k")))
            elif act == "sample":
                queue = sample_for_review(
                    self._replay(request, benchmark), by=current_user(request)
                )
                self.say_done(request, ACTS[act])
                return HttpResponseRedirect(queue.get_absolute_url())
            else:
                run = get_object_or_404(benchmark.generation_runs.all()[:1])
                return controlled(self, request, run, ACTS, benchmark.get_absolute_url())
            self.say_done(request, ACTS[act])
        return HttpResponseRedirect(benchmark.get_absolute_url())

    def _replay(self, request: HttpRequest, benchmark: Benchmark) -> GenerationRun:
        wanted = row_number(request.POST.get("replay"))
        return get_object_or_404(benchmark.generation_runs.select_related("run"), pk=wanted)

    # New ------------------------------------------------------------------------------------------

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Import real texts with the labels of annotators."""
        require(self.has_add_permission(request))
        sent = request.method == "POST"
        form = ImportForm(request.POST if sent else None, request.FILES if sent else None)
        if form.is_bound and form.is_valid():
            given = form.cleaned_data
            with self.refusals_shown(request):
                made = import_benchmark(
                    given["name"],
                    read_lines(_text_of(given["file"])),
                    by=current_user(request),
                    sealed=given["sealed"],
                )
                self.say_done(request, f"Imported {counted(made.claims.count(), 'claim')}.")
                return HttpResponseRedirect(made.get_absolute_url())
        return self.page(
            request,
            "runs/laboratory/trials/import.html",
            title="Import labelled pairs",
            form=form,
            back_url=self.url_of("changelist"),
        )


def _text_of(file: Any) -> str:
    if file.size > MAX_BENCHMARK_BYTES:
        raise Refused([f"{file.name} has {file.size:,} bytes: at most {MAX_BENCHMARK_BYTES:,}."])
    try:
        return str(file.read().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused(
            [f"{file.name} is not UTF-8: {error.reason} at byte {error.start}."]
        ) from error


def _statements(runs: list[GenerationRun]) -> list[str]:
    """Return what may be passed on of the replayed paths, instead of their texts."""
    ids = [run.pk for run in runs if run.is_replay and run.run_id]
    paths = GenerationPath.objects.filter(generation_runs__in=ids).distinct()
    return [generic_statement(path) for path in paths.select_related("benchmark")]


def _errors(run: GenerationRun) -> QuerySet[GenerationStep]:
    """Return the first failed steps of a run."""
    return run.steps.filter(state=ItemState.ERROR).select_related("topic", "idea")[:20]
