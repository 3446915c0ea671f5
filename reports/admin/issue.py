from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from issues.models import Issue
from issues.states import APPROVE_ISSUE, HasState
from reports.documents.links import page_url
from reports.issue_proposals.proposals import proposal_of
from reports.issue_proposals.rule import Proposal
from runs.admin.issue import IssueAdminWithRuns

admin.site.unregister(Issue)


@admin.register(Issue)
class IssueAdminWithReports(IssueAdminWithRuns):
    """An issue's page leads to its life, and says what its runs propose."""

    def panel(self, request: HttpRequest, row: HasState) -> dict[str, Any]:
        panel = super().panel(request, row)
        if not isinstance(row, Issue) or not request.user.has_perm("runs.view_run"):
            return panel
        acts = [
            Button("Timeline", page_url("issue_timeline", issue=row), is_link=True),
            *panel["acts"],
        ]
        proposal = proposal_of(row)
        if proposal is None:
            return {**panel, "acts": acts}
        if request.user.has_perm(APPROVE_ISSUE):
            acts = [_accept(proposal), *acts]
        return {**panel, "facts": [*panel["facts"], proposal.brief], "acts": acts}


def _accept(proposal: Proposal) -> Button:
    url = reverse("reports:accept_proposal", args=[proposal.issue])
    return Button(f"{proposal.act.capitalize()} as proposed", url, {"act": proposal.act}, "primary")
