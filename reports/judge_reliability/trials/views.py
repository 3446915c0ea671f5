"""Pages beside the report on trials: a claim with its texts, and marks of validated judges."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.refusals import Refused
from reports.documents.links import page_url
from reports.documents.rendering import needs, page
from reports.judge_reliability.trials.fit_rule import Fit
from reports.judge_reliability.trials.query import trial_report
from runs.laboratory.trials.judges.validations import validate, withdraw
from runs.laboratory.trials.models import Benchmark, Claim, ClaimJudgment, Trial, Validation

MAX_NOTE = 2000


@needs("runs.view_run")
def claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Show both texts of a claim, and what each judge said of them."""
    rows = Claim.objects.readable_by(request.user).select_related(
        "benchmark", "left__idea", "right__idea", "anchor", "idea", "topic"
    )
    found = get_object_or_404(rows, pk=pk)
    judgments = (
        ClaimJudgment.objects.readable_by(request.user)
        .filter(claim=found)
        .select_related("trial__language_model", "trial__template")
        .order_by("trial", "order")
    )
    return page(
        request,
        "reports/judge_reliability/claim.html",
        f"Claim {found.pk}",
        claim=found,
        judgments=judgments,
        back_url=page_url("judge_reliability", tab="trials", benchmark=found.benchmark_id),
    )


@needs("trials.add_validation")
@require_POST
def mark_validated(request: HttpRequest, pk: int) -> HttpResponse:
    """Mark a judge as validated for a task, or withdraw a mark, of a benchmark."""
    benchmark = get_object_or_404(Benchmark, pk=pk)
    back = page_url("judge_reliability", tab="trials", benchmark=benchmark.pk)
    user = current_user(request)
    if number := row_number(request.POST.get("withdraw")):
        withdraw(get_object_or_404(Validation, pk=number, trial__benchmark=benchmark))
        messages.success(request, "Mark withdrawn.")
        return HttpResponseRedirect(back)
    trial_pk, _, task = request.POST.get("choice", "").partition("-")
    trial = get_object_or_404(Trial, pk=row_number(trial_pk), benchmark=benchmark)
    fits = trial_report(benchmark, {}, user).fits.get(trial.pk, [])
    fit = next((one for one in fits if one.task == task), None)
    if fit is None:
        raise Http404(f"Trial {trial.pk} has no claim for the task {task!r}.")
    note = bounded_text(request.POST.get("note"), MAX_NOTE)
    try:
        if fit.fit is not Fit.FIT:
            raise Refused([f"{trial.judge_name} cannot be marked: it {fit.reason}."])
        validate(trial, task, by=user, note=note)
        messages.success(request, f"{trial.judge_name} is marked as validated.")
    except Refused as refused:
        for problem in refused.problems:
            messages.error(request, problem)
    return HttpResponseRedirect(back)
