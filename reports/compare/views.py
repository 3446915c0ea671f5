"""Parts that the Compare page loads on demand, and its actions."""

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import bounded_text, current_user, row_number
from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from reports.compare.answers_query import answer_pair
from reports.compare.controls import offers
from reports.compare.pairwise.views import may_choose
from reports.documents.links import page_url
from reports.documents.rendering import needs, page
from runs.admin.result.page import page_of
from runs.admin.result.verdict_drafts import drafts_of
from runs.admin.result.verdict_form import VerdictForm, verdict_forms
from runs.comparison.baselines import NoBaseline, pin, unpin
from runs.models import Result, Run
from runs.scoring.shown_verdicts import hidden_from, record

PART = "part"
"""Query parameter that asks for a part of the page alone."""


@needs("runs.view_run")
def answers(request: HttpRequest, first: int, second: int) -> HttpResponse:
    """Show both answers to a test, as a part of the comparison or as a page."""
    results = Result.objects.select_related("run", "test", "issue", "revision")
    pair = [get_object_or_404(results, pk=pk) for pk in (first, second)]
    reader = current_user(request)
    if hidden_from(reader) & {first, second}:
        raise PermissionDenied("You are reviewing this result blind: submit your verdict first.")
    record(reader, {first, second})
    answers_url = reverse("reports:compare_answers", args=[first, second])
    context = {
        "answer_pair": answer_pair(pair[0], pair[1], reader),
        "answers_url": answers_url,
        "verdict_forms": _verdict_forms(pair, reader, answers_url),
        "may_adjudicate": request.user.has_perm("runs.adjudicate"),
        "may_choose": may_choose(pair, reader),
    }
    if PART in request.GET:
        return TemplateResponse(
            request, "reports/compare/answers.html", {**context, "is_part": True}
        )
    title = f"Test {pair[1].test_id}: two answers"
    return page(request, "reports/compare/answers_page.html", title, **context)


def _verdict_forms(
    pair: Sequence[Result], reader: User, next_url: str
) -> dict[int, VerdictForm | None]:
    """Return the verdict form of each result; none where the reader may give no verdict."""
    if not reader.has_perm("runs.add_humanevaluation"):
        return {}
    readable = Result.objects.filter(pk__in=[result.pk for result in pair]).readable_by(reader)
    return {
        result.pk: verdict_forms(
            page_of(result, reader),
            drafts_of(result, reader),
            name=f"evaluation-{result.pk}",
            next_url=next_url,
        ).get(WHOLE_TEST)
        for result in readable.select_related("run", "issue", "test", "revision__template")
    }


@needs("runs.view_run")
def runs(request: HttpRequest) -> HttpResponse:
    """List runs that match the search, as a part of the page."""
    chosen = [row_number(number) for number in request.GET.getlist("runs")]
    found = Run.objects.in_bulk(chosen)
    kept = [found[number] for number in chosen if number in found]
    context = {"offered": offers(kept, bounded_text(request.GET.get("find"), 100))}
    return TemplateResponse(request, "reports/compare/run_options.html", context)


@needs("runs.control_run")
@require_POST
def baseline(request: HttpRequest, pk: int) -> HttpResponse:
    """Set a run as the baseline of its model in its suite, or remove it."""
    run = get_object_or_404(Run.objects.select_related("suite"), pk=pk)
    try:
        if request.POST.get("act") == "unpin":
            messages.success(request, f"Baseline of {run.model_name} in {unpin(run)} removed.")
        else:
            suite = pin(run)
            said = f"{run.label} is now the baseline of {run.model_name} in {suite}."
            messages.success(request, said)
    except NoBaseline as refused:
        messages.error(request, refused.message)
    return HttpResponseRedirect(page_url("compare", runs=request.POST.getlist("runs")))
