from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from evalhub.acts import Act
from issues.models import Issue
from issues.states import APPROVE_ISSUE, Stated
from reports.follow_up import proposal_of
from reports.links import page_url
from reports.trends.proposals import Proposal
from runs.admin.issue import IssueAdminWithRuns

admin.site.unregister(Issue)


@admin.register(Issue)
class IssueAdminWithReports(IssueAdminWithRuns):
    """An issue's page leads to its life, and says what its runs propose."""

    def panel(self, request: HttpRequest, row: Stated) -> dict[str, Any]:
        panel = super().panel(request, row)
        if not isinstance(row, Issue) or not request.user.has_perm("runs.view_run"):
            return panel
        acts = [Act("Life", page_url("issue", issue=row), is_link=True), *panel["acts"]]
        proposal = proposal_of(row)
        if proposal is None:
            return {**panel, "acts": acts}
        if request.user.has_perm(APPROVE_ISSUE):
            acts = [_accept(proposal), *acts]
        return {**panel, "facts": [*panel["facts"], proposal.brief], "acts": acts}


def _accept(proposal: Proposal) -> Act:
    url = reverse("reports:accept_proposal", args=[proposal.issue])
    return Act(f"{proposal.act.capitalize()} as proposed", url, {"act": proposal.act}, "primary")
