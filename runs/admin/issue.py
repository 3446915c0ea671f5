from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponseRedirect
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import display
from unfold.views import ChangeList

from evalhub.admin_site.pages import row_number
from evalhub.formatting import DASH, percent
from issues.admin.issue.admin import IssueAdmin
from issues.models import Issue
from runs.admin.launch.preselection import to_launch_form
from runs.models import Outcome, Result

admin.site.unregister(Issue)


BOUNDS = (25, 50, 80, 100)


class IssueList(ChangeList):
    """The page of issues, with their pass rates in the latest run."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rates = latest_rates(self.result_list)
        for issue in self.result_list:
            issue.latest = rates.get(issue.pk)


def latest_scored() -> QuerySet[Result]:
    """Passed and failed results of the newest run that has any."""
    scored = Result.objects.filter(outcome__in=[Outcome.PASSED, Outcome.FAILED])
    newest = scored.order_by("-run_id").values("run_id")[:1]
    return scored.filter(run_id=Subquery(newest)).order_by()


class RateFilter(DropdownFilter):
    """How often an issue passed in the latest run."""

    title, parameter_name = "latest run", "latest_rate"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        below = [(str(bound), f"below {bound} %") for bound in BOUNDS]
        return [*below, ("all", "all passed"), ("none", "not in it"), ("never", "never run")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Issue]) -> QuerySet[Issue]:
        chosen = self.value() or ""
        if chosen == "never":
            return queryset.exclude(Exists(Result.objects.filter(issue=OuterRef("pk"))))
        if chosen == "none":
            return queryset.exclude(pk__in=latest_scored().values("issue_id"))
        bound = 100 if chosen == "all" else row_number(chosen)
        if chosen != "all" and bound not in BOUNDS:
            return queryset
        counted = (
            latest_scored()
            .values("issue_id")
            .annotate(passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), scored=Count("pk"))
        )
        bounded = F("scored") * bound
        rates = counted.annotate(hundredfold=F("passed") * 100)
        is_met = Q(hundredfold=bounded) if chosen == "all" else Q(hundredfold__lt=bounded)
        return queryset.filter(pk__in=rates.filter(is_met).values("issue_id"))


def latest_rates(issues: Any) -> dict[int, tuple[int, int]]:
    """Passed and decided results of each issue in the newest run that has any; one query."""
    rows = latest_scored().filter(issue__in=issues).values("issue_id")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)), scored=Count("pk")
    )
    return {row["issue_id"]: (row["passed"], row["scored"]) for row in counted}


def rate_words(passed: int, scored: int) -> str:
    return f"{percent(passed / scored)} ({passed}/{scored})"


@admin.register(Issue)
class IssueAdminWithRuns(IssueAdmin):
    """What runs add to the list of issues."""

    list_display: Any = (*IssueAdmin.list_display[:5], "latest_rate", *IssueAdmin.list_display[5:])
    list_filter: Any = (*IssueAdmin.list_filter, RateFilter)
    actions: Any = (*IssueAdmin.actions, "launch_selected")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return IssueList

    @display(description="latest run")
    def latest_rate(self, issue: Any) -> str:
        return rate_words(*issue.latest) if issue.latest else DASH

    def figures_of(self, issues: Sequence[Issue]) -> dict[int, str]:
        rates = latest_rates([issue.pk for issue in issues])
        return {key: f"{rate_words(*counts)} in the latest run" for key, counts in rates.items()}

    def has_launch_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("runs.add_launch"))

    @admin.action(permissions=["launch"], description="Launch a run with these")
    def launch_selected(
        self, request: HttpRequest, queryset: QuerySet[Issue]
    ) -> HttpResponseRedirect:
        return to_launch_form(request, "issues", list(queryset.values_list("pk", flat=True)))
