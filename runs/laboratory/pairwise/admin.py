"""Pairwise judge runs in the admin: their start with an estimate, progress and control."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import display

from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import counted
from issues.rubrics.library.entries import pairwise_criteria
from runs.admin.batches import BatchAdmin, BatchForm, model_field
from runs.laboratory.pairwise import judge_runs
from runs.laboratory.pairwise.judge_runs import PairwiseOrder
from runs.laboratory.pairwise.models import MAX_CRITERION, PairwiseJudgeRun
from runs.limits import MAX_PAIRWISE_RUNS
from runs.models import Run


class PairwiseForm(BatchForm):
    """The judge and the question that it is asked about each pair."""

    field_order = ("judge", "criterion", "library", "ties")

    judge = model_field(
        help_text="Choose a model that is not compared: judges tend to prefer their own answers.",
    )
    criterion = forms.CharField(
        required=False,
        max_length=MAX_CRITERION,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What makes an answer better. Leave empty to use each test’s guidelines, "
        "criteria and reference; only then do human verdicts override the judge.",
    )
    library = forms.ModelChoiceField(
        pairwise_criteria(),
        required=False,
        label="Criterion from the library",
        empty_label="None",
        help_text="Used where you enter none above.",
    )
    ties = forms.BooleanField(label="Allow ties", required=False, initial=True)

    def order(self, runs: list[Run]) -> PairwiseOrder:
        given = self.cleaned_data
        ready = given["library"].question if given["library"] else ""
        return PairwiseOrder(runs, given["judge"], given["criterion"] or ready, given["ties"])


@admin.register(PairwiseJudgeRun)
class PairwiseJudgeRunAdmin(BatchAdmin):
    """Pairwise judge runs: a judge compares the answers of runs, two at a time."""

    when_empty = "Compare two or more runs, then choose the tab Pairwise and have a model judge."
    list_display = ("__str__", "compared", "state", "cost", "requested_by", "created_at")
    list_filter = ("state", ("language_model", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("language_model", "requested_by")
    page_template = "runs/laboratory/pairwise/judge_run.html"
    failed_related = ("pair",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PairwiseJudgeRun]:
        rows: QuerySet[PairwiseJudgeRun] = super().get_queryset(request)
        return rows.prefetch_related("runs")

    @display(description="runs")
    def compared(self, row: PairwiseJudgeRun) -> str:
        return ", ".join(run.label for run in row.runs.all())

    def context_of(self, request: HttpRequest, batch: PairwiseJudgeRun) -> dict[str, Any]:
        return {"runs": list(batch.runs.order_by("pk"))}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose a judge for the runs in the URL, see the estimate, and start by a second POST."""
        require(self.has_add_permission(request))
        sent = request.POST if request.method == "POST" else request.GET
        chosen = [row_number(number) for number in sent.getlist("runs")][: MAX_PAIRWISE_RUNS + 1]
        rows = Run.objects.in_bulk(chosen)
        runs = [rows[number] for number in dict.fromkeys(chosen) if number in rows]
        form = PairwiseForm(request.POST if request.method == "POST" else None)
        wanted = form.order(runs) if form.is_bound and form.is_valid() else None

        def start() -> tuple[str, str]:
            assert wanted is not None  # it was estimated
            made = judge_runs.start(wanted, by=current_user(request), **form.consent)
            return counted(made.judgments.count() // 2, "pair"), made.get_absolute_url()

        return self.start_page(
            request,
            "runs/laboratory/pairwise/start.html",
            form,
            (lambda: judge_runs.estimate(wanted)) if wanted else None,
            start,
            title="Judge answers in pairs",
            runs=runs,
            most=MAX_PAIRWISE_RUNS,
        )
