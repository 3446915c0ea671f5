from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponseRedirect
from unfold.decorators import display
from unfold.views import ChangeList

from evalhub.wording import DASH, percent
from issues.admin.issue import IssueAdmin
from issues.models import Issue
from runs.admin.preselection import to_launch_form
from runs.models import Outcome, Result

admin.site.unregister(Issue)


class IssueList(ChangeList):
    """The page of issues, with their pass rates in the latest run."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rates = latest_rates(self.result_list)
        for issue in self.result_list:
            issue.latest = rates.get(issue.pk)


def latest_rates(issues: Any) -> dict[int, tuple[int, int]]:
    """Passed and decided results of each issue in the newest run that has any; one query."""
    decided = Result.objects.filter(outcome__in=[Outcome.PASSED, Outcome.FAILED])
    newest = decided.order_by("-run_id").values("run_id")[:1]
    rows = decided.filter(issue__in=issues, run_id=Subquery(newest)).order_by().values("issue_id")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), decided=Count("pk")
    )
    return {row["issue_id"]: (row["passed"], row["decided"]) for row in counted}


@admin.register(Issue)
class IssueAdminWithRuns(IssueAdmin):
    """What runs add to the list of issues."""

    list_display: Any = (*IssueAdmin.list_display[:5], "latest_rate", *IssueAdmin.list_display[5:])
    actions: Any = (*IssueAdmin.actions, "launch_selected")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return IssueList

    @display(description="latest run")
    def latest_rate(self, issue: Any) -> str:
        passed, decided = issue.latest or (0, 0)
        return f"{percent(passed / decided)} ({passed}/{decided})" if decided else DASH

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("runs.add_launch"))

    @admin.action(permissions=["launch"], description="Launch a run with these")
    def launch_selected(
        self, request: HttpRequest, queryset: QuerySet[Issue]
    ) -> HttpResponseRedirect:
        return to_launch_form(request, "issues", list(queryset.values_list("pk", flat=True)))
