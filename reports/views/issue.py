"""What a person does about what an issue's runs propose."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.pages import person
from issues.models import Issue
from issues.states import APPROVE_ISSUE, Refused
from reports.follow_up import accept
from reports.links import page_url
from reports.trends.proposals import Act
from reports.views.shell import needs

DONE = {"resolve": "is resolved", "reopen": "is open again"}


@require_POST
@needs(APPROVE_ISSUE)
def accept_proposal(request: HttpRequest, pk: int) -> HttpResponse:
    """Resolve or reopen the issue, as its runs propose."""
    issue = get_object_or_404(Issue, pk=pk)
    act: Act = "reopen" if request.POST.get("act") == "reopen" else "resolve"
    try:
        proposal = accept(issue, act, by=person(request))
    except Refused as refused:
        for problem in refused.problems:
            messages.error(request, problem)
    else:
        messages.success(request, f"“{issue}” {DONE[act]}. {proposal.reason}")
    home = request.POST.get("back") == "home"
    return HttpResponseRedirect(reverse("admin:index") if home else page_url("issue", issue=issue))
