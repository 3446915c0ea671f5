"""Mark human evaluations as labelled examples, from a result page or a review queue."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse

from evalhub.admin_site.pages import address_back, bounded_text, current_user, require, row_number
from runs.admin.result.navigation import ResultNavigation
from runs.models import HumanEvaluation, Result
from runs.scoring.examples import mark, unmark

MARK, UNMARK = "runs.add_example", "runs.delete_example"
MAX_NOTE = 4000


def may_mark(request: HttpRequest, result: Result) -> bool:
    """Tell whether the user may mark evaluations of this result; not those of sealed tests."""
    return bool(request.user.has_perm(MARK)) and not result.test.sealed


def marked(request: HttpRequest, result: Result, navigation: ResultNavigation) -> HttpResponse:
    """Mark or unmark as the form says, and redirect to the page it came from."""
    number = row_number(request.POST.get("evaluation"))
    evaluation = get_object_or_404(HumanEvaluation, result=result, pk=number)
    by = current_user(request)
    try:
        if request.POST.get("act") == "unmark":
            require(by.has_perm(UNMARK))
            unmark(evaluation, by=by)
            messages.success(request, "Example removed. Copies in templates stay.")
        else:
            mark(evaluation, bounded_text(request.POST.get("note"), MAX_NOTE), by=by)
            messages.success(
                request, "Marked as an example. Copy it into a template from “Labelled examples”."
            )
    except ValidationError as error:
        for message in error.messages:
            messages.error(request, message)
    page = reverse("admin:runs_result_change", args=[result.pk])
    return HttpResponseRedirect(address_back(request, f"{page}{navigation.suffix}#people"))
