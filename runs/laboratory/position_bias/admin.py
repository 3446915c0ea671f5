"""Measures of position bias in the admin."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from unfold.decorators import display

from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import counted
from runs.admin.batches import BatchAdmin, BatchForm
from runs.laboratory.position_bias import measuring
from runs.laboratory.position_bias.measuring import MAX_SEED, Measure, new_seed
from runs.laboratory.position_bias.models import ReversedJudgeRun
from runs.launching.batch_estimate import Fact
from runs.limits import MAX_REVERSED_RESULTS, REVERSED_RESULTS
from runs.models import JudgeRun

SENTENCE = (
    "The same judges judge a random part of the results again, with the options of the scale "
    "listed in reversed order. The new verdicts only measure position bias: no score, outcome or "
    "other figure changes."
)


class MeasureForm(BatchForm):
    """The size of the sample, and the seed that draws it."""

    field_order = ("results", "seed")

    results = forms.IntegerField(
        label="Results to draw",
        min_value=1,
        max_value=MAX_REVERSED_RESULTS,
        help_text="All their verdicts are given again. With fewer than 6 tests on which a verdict "
        "changes, no direction can be shown.",
    )
    judge_run = forms.IntegerField(widget=forms.HiddenInput)
    seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, help_text="The same seed draws the same results."
    )


@admin.register(ReversedJudgeRun)
class ReversedJudgeRunAdmin(BatchAdmin):
    """Reversed judge runs: the verdicts of a random part of a judge run, given again."""

    when_empty = "Open a run that is judged, and choose Measure position bias."
    list_display = ("__str__", "of_run", "results", "state", "cost", "requested_by")
    list_filter = ("state",)
    list_select_related = ("judge_run__run", "requested_by")
    failure = "A failed judgment counts neither as changed nor as unchanged."
    failed_related = ("judgment__judge__language_model",)

    @display(description="judge run")
    def of_run(self, row: ReversedJudgeRun) -> str:
        return str(row.judge_run)

    def context_of(self, request: HttpRequest, batch: ReversedJudgeRun) -> dict[str, Any]:
        sample = f"{counted(batch.results, 'result')} drawn at random"
        return {"facts": [_fact(batch.judge_run), Fact("Sample", sample, f"seed {batch.seed}")]}

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose the size of the sample, see the estimate, and start by a second POST.

        The URL names the judge run, or a run whose active one it is.
        """
        require(self.has_add_permission(request))
        judge_run = _judge_run(request)
        given = request.POST if request.method == "POST" else None
        first = {"results": REVERSED_RESULTS, "seed": new_seed(), "judge_run": judge_run.pk}
        form = MeasureForm(given, initial=first)
        is_ready = form.is_bound and form.is_valid()
        names = [judge["name"] for judge in judge_run.jury["judges"]]
        chosen = form.cleaned_data if is_ready else {"results": 0, "seed": 0}
        wanted = Measure(judge_run, chosen["results"], chosen["seed"])

        def start() -> tuple[str, str]:
            made = measuring.start(wanted, by=current_user(request), **form.consent)
            verdicts = counted(made.judgments.count(), "verdict")
            return f"{verdicts} on {counted(made.results, 'result')}", made.get_absolute_url()

        return self.start_page(
            request,
            "runs/batch_start.html",
            form,
            (lambda: measuring.estimate(wanted)) if is_ready else None,
            start,
            title="Measure position bias",
            facts=[_fact(judge_run), Fact("Judges", ", ".join(names) or "none")],
            sentence=SENTENCE,
            back_url=judge_run.run.get_absolute_url(),
        )


def _fact(judge_run: JudgeRun) -> Fact:
    number = f"judge run {judge_run.number}"
    return Fact("Run", str(judge_run.run), number, judge_run.run.get_absolute_url())


def _judge_run(request: HttpRequest) -> JudgeRun:
    """Return the judge run that the URL or the form names, or the active one of its run."""
    sent = request.POST if request.method == "POST" else request.GET
    rows = JudgeRun.objects.select_related("run")
    if run := row_number(sent.get("run")):
        return get_object_or_404(rows, run=run, is_active=True)
    return get_object_or_404(rows, pk=row_number(sent.get("judge_run")))
