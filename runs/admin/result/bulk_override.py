"""Override many results with one verdict and one reason."""

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin, current_user
from issues.content.revisions import scale_of
from issues.models import JudgeTemplate
from issues.rubrics.scales import Option
from runs.figures.verdict_labels import verdict_label
from runs.limits import MAX_OVERRIDES_AT_ONCE
from runs.models import ChosenBy, Result
from runs.scoring.human_evaluation import HumanVerdict, evaluate_bulk

MAX_PROBLEMS = 20
"""Shown of the results that could not be overridden."""


def override(
    request: HttpRequest, results: QuerySet[Result], model_admin: PageAdmin
) -> HttpResponse:
    """Ask for the verdict, or record it and report the outcome."""
    options = common_options(results)
    labels = [option.label for option in options]
    count, is_sent = results.count(), "apply" in request.POST
    problems = []
    if count > MAX_OVERRIDES_AT_ONCE:
        problems.append(
            f"{count:,} results are selected: override at most {MAX_OVERRIDES_AT_ONCE:,} at once."
        )
    if not labels:
        problems.append("The selected tests share no verdict: select results with the same scale.")
    if is_sent and not problems:
        option, why = request.POST.get("option", ""), request.POST.get("justification", "").strip()
        problems = [] if option in labels else ["Choose a verdict."]
        problems += [] if why else ["Enter a reason."]
        if not problems:
            return _applied(request, results, option, why)
    return model_admin.page(
        request,
        "runs/result/bulk_override.html",
        title="Override results",
        count=count,
        outcomes=sorted(results.order_by().values_list("outcome").annotate(Count("pk"))),
        options=[(o.label, verdict_label(o.label, None, o.value > 0.5)) for o in options],
        problems=problems,
        is_refused=is_sent,
        sent=request.POST,
        chosen=request.POST.getlist(ACTION_CHECKBOX_NAME),
        checkbox=ACTION_CHECKBOX_NAME,
    )


def common_options(results: QuerySet[Result]) -> list[Option]:
    """Return the options shared by the scales of all these results' tests, best first."""
    rows = results.order_by().values_list("revision__template", flat=True).distinct()
    templates = JudgeTemplate.objects.in_bulk([pk for pk in rows if pk])
    scales = [scale_of(templates.get(pk) if pk else None) for pk in set(rows)]
    if not scales:
        return []
    shared = set.intersection(*({option.label for option in scale.options} for scale in scales))
    common = [option for option in scales[0].options if option.label in shared]
    return sorted(common, key=lambda option: -option.value)


def _applied(
    request: HttpRequest, results: QuerySet[Result], option: str, justification: str
) -> HttpResponse:
    verdict = HumanVerdict(option=option, justification=justification, chosen_by=ChosenBy.BULK)
    rows = list(results.select_related("revision__template"))
    outcomes = evaluate_bulk(rows, verdict, by=current_user(request))
    if done := len(outcomes.done):
        messages.success(request, f"Overrode {done} result{'s' * (done != 1)} with {option}.")
    for problem in outcomes.problems[:MAX_PROBLEMS]:
        messages.warning(request, problem)
    if (more := len(outcomes.problems) - MAX_PROBLEMS) > 0:
        messages.warning(request, f"{more} more could not be overridden.")
    return HttpResponseRedirect(request.get_full_path())
