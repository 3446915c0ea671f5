from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, bounded_text, current_user, require, row_number
from evalhub.display.formatting import DASH, counted
from evalhub.http.idempotency import carry_out_once
from evalhub.models import LanguageModel
from evalhub.schedules import BadCron, in_words, next_times
from evalhub.values.digest import digest
from runs.admin.launch import choices
from runs.admin.launch.form import LaunchForm, LaunchPlan, data_of, data_of_launch, with_defaults
from runs.admin.launch.parameters import TYPES, USUAL, Row
from runs.admin.launch.preselection import address_with, selection_in
from runs.launching.estimate import estimate
from runs.launching.launch import launch
from runs.launching.launch_options import SELECTING, LaunchRefused
from runs.launching.launch_selection import warnings
from runs.launching.schedules import launch_again
from runs.models import Launch, Run, Suite


@admin.register(Launch)
class LaunchAdmin(PageAdmin):
    """The launch form, the list of launches, and a launch's own page."""

    when_empty = "Choose tests, models and a jury to launch a run."
    list_display = ("label", "release", "run_count", "schedule", "last", "by")
    list_filter = ("is_paused",)
    search_fields = ("label", "release")
    list_before_template = "runs/launch/list_before.html"
    views = {"estimate": "estimate/"}
    post_views = {"act": "<int:pk>/act/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Launch]:
        launches: QuerySet[Launch] = super().get_queryset(request)
        return launches.select_related("requested_by").annotate(run_total=Count("runs"))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    # The form ------------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show the launch form, or do what its button says; every refusal keeps the input."""
        require(self.has_add_permission(request))
        act, is_new = request.POST.get("act", "launch"), request.method != "POST"
        if is_new or act == "suite_defaults":
            data = preselected(request) if is_new else request.POST
            suite = Suite.objects.filter(pk=row_number(data.get("suite"))).first()
            if suite is None or (is_new and "again" in request.GET):
                return self._form_page(request, LaunchForm(data))
            filled, names = with_defaults(data, suite)
            return self._form_page(request, LaunchForm(filled), filled_in=names)
        form = LaunchForm(request.POST)
        plan = form.plan()
        if act == "keep_defaults":
            return self._save_defaults(request, form, plan)
        if act == "make_suite" and plan.selection.tests:
            tests = [test.pk for test in plan.selection.tests]
            url = address_with(request, reverse("admin:runs_suite_make"), "tests", tests)
            return HttpResponseRedirect(url)
        if act != "launch":
            return self._form_page(request, form, plan, more=act)
        if plan.problems:
            return self._form_page(request, form, plan, problems=plan.problems)
        return self._launch(request, form, plan)

    def _launch(self, request: HttpRequest, form: LaunchForm, plan: LaunchPlan) -> HttpResponse:
        """Launch, but not a second time what the same form has launched."""
        user, spec = current_user(request), plan.spec.model_dump(mode="json")

        def act() -> tuple[int, Any]:
            record = launch(plan.spec, by=user)
            if plan.cron:
                record.start_schedule(plan.cron)
            return 302, record.pk

        form_key = bounded_text(request.POST.get("form_key"), 40) or uuid4().hex
        asked = [spec, plan.cron]
        try:
            answer = carry_out_once(user, f"launch form {form_key} {digest(asked)}", asked, act)
        except LaunchRefused as refused:
            return self._form_page(request, form, plan, problems=refused.problems)
        runs = list(Run.objects.filter(launch=answer.body).order_by("pk"))
        words = counted(len(runs), "run")
        if answer.is_repeated:
            messages.info(request, f"You sent this form twice. It launched {words} once.")
        else:
            messages.success(request, f"Launched {words}.")
        if len(runs) == 1:
            return HttpResponseRedirect(runs[0].get_absolute_url())
        list_url = reverse("admin:runs_run_changelist")
        return HttpResponseRedirect(f"{list_url}?launch__id__exact={answer.body}")

    def _save_defaults(
        self, request: HttpRequest, form: LaunchForm, plan: LaunchPlan
    ) -> HttpResponse:
        """Save the form's options as defaults of the chosen suite."""
        require(request.user.has_perm("runs.change_suite"))
        suite = plan.selection.suite
        if plan.problems or suite is None:
            problems = plan.problems or ["Choose the suite whose defaults these become."]
            return self._form_page(request, form, plan, problems=problems)
        suite.defaults = plan.spec.defaults()
        suite.save(update_fields=["defaults"])
        messages.success(request, f"Saved as defaults of {suite}.")
        return self._form_page(request, form, plan)

    def _form_page(
        self,
        request: HttpRequest,
        form: LaunchForm,
        plan: LaunchPlan | None = None,
        *,
        problems: Sequence[str] = (),
        more: str = "",
        filled_in: Sequence[str] = (),
    ) -> HttpResponse:
        """Show the form. `problems` are those of a launch that was refused."""
        plan = plan or form.plan()
        if problems:
            plan = plan._replace(problems=list(problems))
        return self.page(
            request,
            "runs/launch/form.html",
            title="Launch a run",
            form=form,
            form_key=uuid4().hex,
            data=form.sent,
            issues=choices.issue_choices(form.sent.getlist("issues")),
            tags=choices.tag_choices(form.sent.getlist("tags")),
            suites=choices.suite_choices(form.sent.getlist("suite")),
            models=choices.model_choices(form.sent.getlist("models")),
            juries=choices.jury_choices(form.sent.getlist("jury")),
            prompts=[*form.system_prompts, *([""] if more == "add_prompt" else [])],
            rows=[*form.rows, *[Row()] * (2 if more == "add_parameter" else 1)],
            types=TYPES.items(),
            usual=USUAL,
            refused=bool(problems),
            filled_in=filled_in,
            may_keep_defaults=request.user.has_perm("runs.change_suite"),
            **_forecast(plan),
        )

    def estimate_view(self, request: HttpRequest) -> HttpResponse:
        """Return the estimate of the form as it is now."""
        require(self.has_add_permission(request))
        plan = LaunchForm(request.POST).plan()
        return render(request, "runs/launch/_estimate.html", _forecast(plan))

    # The list ------------------------------------------------------------------------------------

    @display(description="Runs", ordering="run_total")
    def run_count(self, launch: Launch) -> int:
        return int(launch.run_total)  # type: ignore[attr-defined]

    @display(description="Schedule", ordering="cron")
    def schedule(self, launch: Launch) -> str:
        if not launch.cron:
            return "once"
        words = in_words(launch.cron)
        if launch.is_paused or not launch.next_at:
            return f"{words} (paused)" if launch.is_paused else words
        return f"{words}, next {date_format(localtime(launch.next_at), 'DATETIME_FORMAT')}"

    @display(description="Last launch")
    def last(self, launch: Launch) -> str:
        return launch.last_outcome or DASH

    @display(description="By", ordering="requested_by")
    def by(self, launch: Launch) -> Any:
        return launch.requested_by or DASH

    # One launch ----------------------------------------------------------------------------------

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show a launch: its configuration, schedule and runs."""
        require(self.has_view_permission(request))
        record = get_object_or_404(
            Launch.objects.select_related("requested_by"), pk=row_number(object_id)
        )
        plan = LaunchForm(data_of_launch(record)).plan()
        return self.page(
            request,
            "runs/launch/detail.html",
            title=record.label,
            launch=record,
            runs=record.runs.order_by("-pk")[:50],
            run_total=record.runs.count(),
            plan=plan,
            models=LanguageModel.objects.filter(pk__in=plan.spec.models),
            schedule=in_words(record.cron) if record.cron else "",
            times=[] if record.is_paused else _times(record.cron),
            may_act=self.has_add_permission(request),
        )

    def act_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Launch again, pause, resume or change the schedule."""
        require(self.has_add_permission(request))
        record = get_object_or_404(Launch, pk=pk)
        try:
            messages.success(request, _do(record, request))
        except (LaunchRefused, BadCron) as error:
            messages.error(request, str(error))
        return HttpResponseRedirect(self.url_of("change", pk))


def _do(record: Launch, request: HttpRequest) -> str:
    """Do the act that is posted and return the message to show."""
    act = request.POST.get("act", "")
    if act == "again":
        return launch_again(record, by=current_user(request)).last_outcome
    if act == "pause":
        record.pause()
        return "Schedule paused."
    if act == "resume":
        record.resume()
        return f"Schedule resumed. Next launch: {record.next_at:%Y-%m-%d %H:%M %Z}."
    if act == "start_schedule":
        record.start_schedule(" ".join(request.POST.get("cron", "").split()))
        return f"Scheduled {in_words(record.cron)}."
    raise BadCron(f"Unknown act {act!r}: use again, pause, resume or start_schedule.")


def _forecast(plan: LaunchPlan) -> dict[str, Any]:
    """Return the context of the estimate; `made_of` are its factors, such as "2 models"."""
    counts = {
        "model": len(plan.selection.models),
        "system prompt": len(plan.spec.system_prompts),
        "temperature": len(set(plan.spec.temperatures)),
    }
    several = [f"{n} {name}s" for name, n in counts.items() if n > 1]
    return {
        "plan": plan,
        "made_of": several if len(several) > 1 or counts["model"] == 1 else [],
        "estimate": estimate(plan.spec, plan.selection),
        "warnings": [*warnings(plan.spec, plan.selection), *_notes(plan)],
        "schedule": in_words(plan.cron) if plan.cron else "",
        "times": _times(plan.cron),
    }


def _notes(plan: LaunchPlan) -> list[str]:
    """Return the notes on the chosen models and judges, and name scripted ones."""
    judging = {judge.language_model for judge in plan.selection.everyone}
    notes = [f"{model} as a judge: {model.note}" for model in judging if model.note]
    scripted = {model for model in (*plan.selection.models, *judging) if model.is_scripted}
    return sorted(notes) + sorted(
        f"{model} is scripted: its figures will be labelled." for model in scripted
    )


def _times(cron: str) -> list[Any]:
    return next_times(cron, timezone.now(), 3) if cron else []


def preselected(request: HttpRequest) -> QueryDict:
    """Return the form's data from the URL: `?tests=1,2&issues=3&tags=4&suite=5`, or `?again=6`."""
    earlier = Launch.objects.filter(pk=row_number(request.GET.get("again"))).first()
    if earlier is not None:
        data = data_of_launch(earlier)
        data["cron"] = ""
        return data
    chosen = selection_in(request, SELECTING)
    label = f"Run of {timezone.localtime():%-d %B %Y, %H:%M}"
    return data_of({"label": label, "repeats": 1, **chosen})
