"""Override many results with one verdict and one reason."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from issues.models import JudgeTemplate
from issues.revisions import scale_of
from issues.rubrics.scales import Option
from runs.figures.verdict_labels import verdict_label
from runs.models import ChosenBy, Result
from runs.scoring.human_evaluation import HumanVerdict, evaluate_bulk

MOST = 1000
"""The most results to override at once: each is scored again."""

SHOWN_PROBLEMS = 20


def override(request: HttpRequest, results: QuerySet[Result], model_admin: Any) -> HttpResponse:
    """Ask for the verdict, or record it and report the outcome."""
    options = common_options(results)
    labels = [option.label for option in options]
    problems = _problems(results.count(), labels)
    if "apply" in request.POST and not problems:
        option, why = request.POST.get("option", ""), request.POST.get("justification", "").strip()
        problems = [] if option in labels else ["Choose a verdict."]
        problems += [] if why else ["Enter a reason."]
        if not problems:
            return _applied(request, results, option, why)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": "Override results",
        "opts": model_admin.opts,
        "count": results.count(),
        "outcomes": _outcomes(results),
        "options": [(o.label, verdict_label(o.label, None, bool(o.value > 0.5))) for o in options],
        "problems": problems,
        "is_refused": "apply" in request.POST,
        "sent": request.POST,
        "chosen": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "checkbox": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "runs/result/bulk_override.html", context)


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


def _problems(count: int, labels: list[str]) -> list[str]:
    problems = []
    if count > MOST:
        problems.append(f"{count:,} results are selected: override at most {MOST:,} at once.")
    if not labels:
        problems.append("The selected tests share no verdict: select results with the same scale.")
    return problems


def _outcomes(results: QuerySet[Result]) -> list[tuple[str, int]]:
    rows = results.order_by().values_list("outcome").annotate(Count("pk"))
    return sorted(rows)


def _applied(
    request: HttpRequest, results: QuerySet[Result], option: str, justification: str
) -> HttpResponse:
    human_verdict = HumanVerdict(
        option=option, justification=justification, chosen_by=ChosenBy.BULK
    )
    rows = list(results.select_related("revision__template"))
    outcomes = evaluate_bulk(rows, human_verdict, by=request.user)  # type: ignore[arg-type]
    if done := len(outcomes.done):
        messages.success(request, f"Overrode {done} result{'s' * (done != 1)} with {option}.")
    for problem in outcomes.problems[:SHOWN_PROBLEMS]:
        messages.warning(request, problem)
    if (more := len(outcomes.problems) - SHOWN_PROBLEMS) > 0:
        messages.warning(request, f"{more} more could not be overridden.")
    return HttpResponseRedirect(request.get_full_path())
