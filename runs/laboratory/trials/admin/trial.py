"""Trials in the admin: their start with an estimate, progress and control."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from unfold.decorators import display

from evalhub.admin_site.batch_control import limit_field
from evalhub.admin_site.contributions import Contribution, contribute
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.display.formatting import DASH, counted
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate
from runs.admin.batches import BatchAdmin, BatchForm
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.judges import trial_control
from runs.laboratory.trials.judges.metrics import METRICS
from runs.laboratory.trials.judges.trial_judges import TrialJudge, fitting_templates
from runs.laboratory.trials.judges.validations import in_words, validations_of
from runs.laboratory.trials.models import Benchmark, Trial
from runs.models import Jury


class TrialForm(BatchForm):
    """Judges that are asked: every model with every template, a trial each."""

    field_order = ("models", "templates")

    models = forms.ModelMultipleChoiceField(
        LanguageModel.objects.active().not_applications().order_by("name"),
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 6}),
        help_text="Hold Ctrl or ⌘ to choose several.",
    )
    templates = forms.ModelMultipleChoiceField(
        JudgeTemplate.objects.none(),
        label="Judge templates",
        required=False,
        widget=forms.SelectMultiple(attrs={"size": 6}),
        help_text="Each model judges with each template. “Similarity of two texts” fits claims "
        "that two texts are the same, the other two from 1 to 7 claims that a text describes "
        "another. Rank claims are asked without a template.",
    )
    cost_limit_usd = limit_field(label="Cost limit of each model (USD)")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        templates: Any = self.fields["templates"]
        templates.queryset = fitting_templates()

    def judges(self) -> list[TrialJudge]:
        models, templates = self.cleaned_data["models"], self.cleaned_data["templates"]
        return [TrialJudge(model, one) for model in models for one in templates or [None]]


class MetricsForm(forms.Form):
    """Metrics, a trial each, with their thresholds."""

    metrics = forms.MultipleChoiceField(
        choices=[(key.value, judge.name) for key, judge in METRICS.items()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    tunes_thresholds = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for key, judge in METRICS.items():
            self.fields[f"threshold_{key}"] = forms.FloatField(
                label=f"Threshold of {judge.name}",
                min_value=0,
                max_value=1,
                required=False,
                initial=judge.threshold,
                widget=forms.NumberInput({"class": "eh-input eh-narrow", "step": "any"}),
            )

    @property
    def lines(self) -> list[tuple[Any, Any]]:
        """Return each metric's checkbox with the field of its threshold."""
        thresholds = [self[f"threshold_{key}"] for key in METRICS]
        return list(zip(self["metrics"], thresholds, strict=True))

    def judges(self) -> list[TrialJudge]:
        given = self.cleaned_data
        return [
            TrialJudge(
                metric=metric,
                metric_threshold=given[f"threshold_{metric}"],
                tunes_threshold=given["tunes_thresholds"],
            )
            for metric in given["metrics"]
        ]


@admin.register(Trial)
class TrialAdmin(BatchAdmin):
    """Trials: a judge on the claims of a benchmark."""

    when_empty = "Open a benchmark and try judges on its claims."
    list_display = ("__str__", "benchmark", "judge", "state", "cost", "created_at")
    list_filter = (
        "state",
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        ("language_model", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("benchmark", "language_model", "template", "requested_by")
    page_template = "runs/laboratory/trials/trial.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trial]:
        rows: QuerySet[Trial] = super().get_queryset(request)
        return rows.select_related("benchmark", "language_model", "template")

    @display(description="cost", ordering="spent_usd")
    def cost(self, row: Trial) -> str:
        return DASH if row.metric else str(row.spent)

    @display(description="judge")
    def judge(self, row: Trial) -> str:
        return row.judge_name

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Choose judges for the benchmark in the URL, see the estimate, and start."""
        require(self.has_add_permission(request))
        sent = request.POST if request.method == "POST" else request.GET
        benchmark = Benchmark.objects.filter(pk=row_number(sent.get("benchmark"))).first()
        if benchmark is None:
            benchmarks = Benchmark.objects.order_by("-pk")[:50]
            template = "runs/laboratory/trials/choose_benchmark.html"
            return self.page(request, template, title="Try judges", benchmarks=benchmarks)
        posted = request.POST if request.method == "POST" else None
        form, metrics = TrialForm(posted), MetricsForm(posted)
        judges: list[TrialJudge] = []
        is_ready = posted is not None and form.is_valid() and metrics.is_valid()
        if is_ready:
            build_claims(benchmark)
            judges = [*form.judges(), *metrics.judges()]

        def start() -> tuple[str, str]:
            limit, by = form.cleaned_data["cost_limit_usd"], current_user(request)
            made = trial_control.start(benchmark, judges, by=by, cost_limit_usd=limit)
            return counted(len(made), "trial"), self._after_start(made)

        return self.start_page(
            request,
            "runs/laboratory/trials/start.html",
            form,
            (lambda: trial_control.estimate(benchmark, judges)) if is_ready else None,
            start,
            title="Try judges",
            benchmark=benchmark,
            metrics=metrics,
        )

    def _after_start(self, made: list[Trial]) -> str:
        if len(made) == 1:
            return made[0].get_absolute_url()
        return f"{self.url_of('changelist')}?benchmark__id__exact={made[0].benchmark_id}"

    def context_of(self, request: HttpRequest, batch: Trial) -> dict[str, Any]:
        may_read = Trial.objects.readable_by(request.user).filter(pk=batch.pk).exists()
        return {"reason": batch.reason if may_read else ""}


def marks_of_jury(request: HttpRequest, jury: Any) -> str:
    """Render what the judges of a jury were validated for; "" without any mark."""
    judges = jury.judges.all()  # its page has read them, with what they are named after
    marks = validations_of(judges)
    lines = [(judge.label, [in_words(one) for one in marks[judge.pk]]) for judge in judges]
    if not any(words for _, words in lines):
        return ""
    return render_to_string("runs/laboratory/trials/jury_marks.html", {"lines": lines}, request)


contribute(Contribution(permission="trials.view_validation", section=marks_of_jury), Jury)
