"""Pairwise judge runs in the admin: their start with an estimate, progress and control."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from unfold.decorators import display

from evalhub.admin_site.batch_control import controlled, limit_field
from evalhub.admin_site.contributions import ExtensibleList
from evalhub.admin_site.pages import current_user, row_number
from evalhub.display.formatting import counted
from evalhub.models import ItemState, LanguageModel
from evalhub.work.control import progress_of
from issues.rubrics.library.entries import pairwise_criteria
from issues.states import Refused
from runs.models import Run
from runs.pairwise import judge_runs
from runs.pairwise.judge_runs import MAX_RUNS, PairwiseOrder
from runs.pairwise.models import MAX_CRITERION, PairJudgment, PairwiseJudgeRun

ADD = "pairwise.add_pairwisejudgerun"
MESSAGES = {
    "cancel": "Cancelled. Judgments are kept, and you can resume.",
    "resume": "Resumed with the missing judgments.",
    "retry_errors": "Retrying the failed judgments.",
}
"""Messages of the actions on a pairwise judge run."""


class StartForm(forms.Form):
    """The judge and the question that it is asked about each pair."""

    judge = forms.ModelChoiceField(
        LanguageModel.objects.active().not_applications().order_by("name"),
        empty_label="Choose a model",
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
    cost_limit_usd = limit_field()
    allow_sealed_exposure = forms.BooleanField(
        label="Send the sealed tests to this model", required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field, forms.BooleanField):
                field.widget.attrs["class"] = "eh-input"

    def order(self, runs: list[Run]) -> PairwiseOrder:
        given = self.cleaned_data
        ready = given["library"].question if given["library"] else ""
        return PairwiseOrder(runs, given["judge"], given["criterion"] or ready, given["ties"])


@admin.register(PairwiseJudgeRun)
class PairwiseJudgeRunAdmin(ExtensibleList):
    """Pairwise judge runs: a judge compares the answers of runs, two at a time."""

    keeps_history = False
    when_empty = "Compare two or more runs, then choose the tab Pairwise and have a model judge."
    list_display = ("__str__", "compared", "state", "spent_usd", "requested_by", "created_at")
    list_filter = ("state", ("language_model", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("language_model", "requested_by")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is controlled by its actions."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is deleted with its runs."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[PairwiseJudgeRun]:
        rows: QuerySet[PairwiseJudgeRun] = super().get_queryset(request)
        return rows.prefetch_related("runs")

    @display(description="runs")
    def compared(self, row: PairwiseJudgeRun) -> str:
        return ", ".join(run.label for run in row.runs.all())

    def get_urls(self) -> list[URLPattern]:
        act = self.view_path("<int:object_id>/act/", self.act_view, "act")
        return [act, *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose a judge for the runs in the URL, see the estimate, and start by a second POST."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        sent = request.POST if request.method == "POST" else request.GET
        chosen = [row_number(number) for number in sent.getlist("runs")][: MAX_RUNS + 1]
        rows = Run.objects.in_bulk(chosen)
        runs = [rows[number] for number in dict.fromkeys(chosen) if number in rows]
        form = StartForm(request.POST if request.method == "POST" else None)
        estimate = None
        if form.is_bound and form.is_valid():
            wanted = form.order(runs)
            estimate = judge_runs.estimate(wanted)
            if "start" in request.POST:
                try:
                    made = judge_runs.start(
                        wanted,
                        by=current_user(request),
                        cost_limit_usd=form.cleaned_data["cost_limit_usd"],
                        allow_sealed_exposure=form.cleaned_data["allow_sealed_exposure"],
                    )
                    self.say_done(request, f"Started: {counted(len(estimate.pairs), 'pair')}.")
                    return HttpResponseRedirect(made.get_absolute_url())
                except Refused as refused:
                    self.say(request, *refused.problems)
        if not estimate or not estimate.sealed_exposure:
            del form.fields["allow_sealed_exposure"]
        return self.page(
            request,
            "runs/pairwise/start.html",
            title="Judge answers in pairs",
            runs=runs,
            form=form,
            estimate=estimate,
            most=MAX_RUNS,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show progress, control and failures."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.found(request, row_number(object_id))
        errors = PairJudgment.objects.readable_by(request.user)
        errors = errors.filter(judge_run=row, state=ItemState.ERROR).select_related("pair")
        return self.page(
            request,
            "runs/pairwise/judge_run.html",
            title=str(row),
            judge_run=row,
            runs=list(row.runs.order_by("pk")),
            progress=progress_of(row),
            errors=errors[:20],
            may_control=request.user.has_perm(ADD),
            panel=self.contributed_panel(request, row),
        )

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Cancel, resume, or retry failed judgments."""
        return controlled(self, request, object_id, ADD, MESSAGES)
