"""The page on which an annotator labels the claims of a benchmark, one after another."""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from evalhub.admin_site.pages import PageAdmin, current_user, require, row_number
from evalhub.refusals import Refused
from runs.laboratory.trials.claims.labels import (
    SAMPLE,
    active_labels,
    label_claim,
    next_claim,
    undo,
)
from runs.laboratory.trials.models import Benchmark, Claim, ClaimLabel

ADD = "trials.add_claimlabel"


def label_page(request: HttpRequest, benchmark: Benchmark, admin: PageAdmin) -> HttpResponse:
    """Show the next claim; on POST, save the chosen option or undo the last, and go on."""
    require(request.user.has_perm(ADD))
    user = current_user(request)
    try:
        if request.method == "POST":
            _act(request, benchmark)
            return HttpResponseRedirect(request.get_full_path())
        labelling = next_claim(benchmark, by=user)
    except (Refused, ValidationError) as error:
        admin.say(request, *getattr(error, "problems", getattr(error, "messages", [])))
        return HttpResponseRedirect(benchmark.get_absolute_url())
    rows = ClaimLabel.objects.filter(claim__benchmark=benchmark)
    return admin.page(
        request,
        "runs/laboratory/trials/label.html",
        title=f"Label claims of {benchmark}",
        benchmark=benchmark,
        labelling=labelling,
        labelled=len(active_labels(rows, by=user)),
        sample=SAMPLE,
    )


def _act(request: HttpRequest, benchmark: Benchmark) -> None:
    user = current_user(request)
    if "undo" in request.POST:
        undo(benchmark, by=user)
        return
    rows = Claim.objects.select_related("left", "right", "anchor", "idea")
    claim = get_object_or_404(rows, pk=row_number(request.POST.get("claim")), benchmark=benchmark)
    label_claim(claim, request.POST.get("option", ""), by=user)
