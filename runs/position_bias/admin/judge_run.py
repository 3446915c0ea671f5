"""Measures of position bias in the admin: their start with an estimate, progress and control."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern
from unfold.decorators import display

from evalhub.admin_site.batch_control import controlled, limit_field
from evalhub.admin_site.contributions import ExtensibleList
from evalhub.admin_site.pages import current_user, row_number
from evalhub.models import ItemState
from evalhub.work.control import progress_of
from issues.states import Refused
from runs.models import JudgeRun
from runs.position_bias import measuring
from runs.position_bias.measuring import DEFAULT_RESULTS, MAX_RESULTS, MAX_SEED, Measure, new_seed
from runs.position_bias.models import ReversedJudgeRun, ReversedJudgment

ADD = "position_bias.add_reversedjudgerun"
MESSAGES = {
    "cancel": "Cancelled. Verdicts are kept, and you can resume.",
    "resume": "Resumed with the missing verdicts.",
    "retry_errors": "Retrying the failed verdicts.",
}
"""Messages of the actions on a reversed judge run."""


class MeasureForm(forms.Form):
    """The size of the sample, and the seed that draws it."""

    results = forms.IntegerField(
        label="Results to draw",
        min_value=1,
        max_value=MAX_RESULTS,
        help_text="All their verdicts are given again. With fewer than 6 tests on which a verdict "
        "changes, no direction can be shown.",
    )
    seed = forms.IntegerField(
        min_value=0, max_value=MAX_SEED, help_text="The same seed draws the same results."
    )
    cost_limit_usd = limit_field()
    allow_sealed_exposure = forms.BooleanField(
        label="Send the sealed tests to these judges", required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if not isinstance(field, forms.BooleanField):
                field.widget.attrs["class"] = "eh-input"


@admin.register(ReversedJudgeRun)
class ReversedJudgeRunAdmin(ExtensibleList):
    """Reversed judge runs: the verdicts of a random part of a judge run, given again."""

    keeps_history = False
    when_empty = "Open a run that is judged, and choose Measure position bias."
    list_display = ("__str__", "of_run", "results", "state", "spent_usd", "requested_by")
    list_filter = ("state",)
    list_select_related = ("judge_run__run", "requested_by")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is controlled by its actions."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: it is deleted with its run."""
        return False

    @display(description="judge run")
    def of_run(self, row: ReversedJudgeRun) -> str:
        return str(row.judge_run)

    def get_urls(self) -> list[URLPattern]:
        act = self.view_path("<int:object_id>/act/", self.act_view, "act")
        return [act, *super().get_urls()]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose the size of the sample, see the estimate, and start by a second POST.

        The URL names the judge run, or a run whose active one it is.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        judge_run = _judge_run(request)
        given = request.POST if request.method == "POST" else None
        form = MeasureForm(given, initial={"results": DEFAULT_RESULTS, "seed": new_seed()})
        estimate = None
        if form.is_bound and form.is_valid():
            chosen = form.cleaned_data
            wanted = Measure(judge_run, chosen["results"], chosen["seed"])
            estimate = measuring.estimate(wanted)
            if "start" in request.POST:
                try:
                    made = measuring.start(
                        wanted,
                        by=current_user(request),
                        cost_limit_usd=chosen["cost_limit_usd"],
                        allow_sealed_exposure=chosen["allow_sealed_exposure"],
                    )
                    self.say_done(request, measuring.started_message(made))
                    return HttpResponseRedirect(made.get_absolute_url())
                except Refused as refused:
                    self.say(request, *refused.problems)
        if not estimate or not estimate.sealed_exposure:
            del form.fields["allow_sealed_exposure"]
        return self.page(
            request,
            "runs/position_bias/start.html",
            title="Measure position bias",
            judge_run=judge_run,
            judges=[judge["name"] for judge in judge_run.jury["judges"]],
            form=form,
            estimate=estimate,
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show progress, control and failures."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.found(request, row_number(object_id))
        errors = ReversedJudgment.objects.readable_by(request.user)
        errors = errors.filter(judge_run=row, state=ItemState.ERROR)
        return self.page(
            request,
            "runs/position_bias/judge_run.html",
            title=str(row),
            judge_run=row,
            progress=progress_of(row),
            errors=errors.select_related("judgment__judge__language_model")[:20],
            may_control=request.user.has_perm(ADD),
            panel=self.contributed_panel(request, row),
        )

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Cancel, resume, or retry failed verdicts."""
        return controlled(self, request, object_id, ADD, MESSAGES)


def _judge_run(request: HttpRequest) -> JudgeRun:
    """Return the judge run that the URL or the form names, or the active one of its run."""
    sent = request.POST if request.method == "POST" else request.GET
    rows = JudgeRun.objects.select_related("run")
    if run := row_number(sent.get("run")):
        return get_object_or_404(rows, run=run, is_active=True)
    return get_object_or_404(rows, pk=row_number(sent.get("judge_run")))
