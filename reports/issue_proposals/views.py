"""Acceptance and dismissal of a proposal."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from evalhub.admin_site.pages import current_user
from evalhub.refusals import Refused
from issues.lifecycle.states import APPROVE_ISSUE
from issues.models import Issue
from reports.documents.links import page_url
from reports.documents.rendering import needs
from reports.issue_proposals.proposals import accept, dismiss
from reports.issue_proposals.rule import Button

DONE = {"resolve": "resolved", "reopen": "reopened"}


@require_POST
@needs(APPROVE_ISSUE)
def accept_proposal(request: HttpRequest, pk: int) -> HttpResponse:
    """Resolve or reopen the issue as proposed, or dismiss the proposal."""
    issue = get_object_or_404(Issue, pk=pk)
    act: Button = "reopen" if request.POST.get("act") == "reopen" else "resolve"
    is_dismissed = "dismiss" in request.POST
    try:
        proposal = (dismiss if is_dismissed else accept)(issue, act, by=current_user(request))
    except Refused as refused:
        for problem in refused.problems:
            messages.error(request, problem)
    else:
        done = f"The proposal to {act} “{issue}” was dismissed." if is_dismissed else ""
        messages.success(request, done or f"“{issue}” {DONE[act]}. {proposal.reason}")
    home = request.POST.get("back") == "home"
    return HttpResponseRedirect(
        reverse("admin:index") if home else page_url("issue_timeline", issue=issue)
    )
