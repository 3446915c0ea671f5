"""Launching a run from lists of lower floors, and an issue's pass rate in the latest run."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponseRedirect
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.admin_site.contributions import Contribution, ListColumn, contribute
from evalhub.admin_site.pages import row_number
from evalhub.formatting import percent
from issues.models import Issue, Tag, Test
from runs.admin.launch.preselection import to_launch_form
from runs.models import Outcome, Result

BOUNDS = (25, 50, 80, 100)


def latest_scored() -> QuerySet[Result]:
    """Passed and failed results of the newest run that has any."""
    scored = Result.objects.filter(outcome__in=[Outcome.PASSED, Outcome.FAILED])
    newest = scored.order_by("-run_id").values("run_id")[:1]
    return scored.filter(run_id=Subquery(newest)).order_by()


def rates_by_issue(results: QuerySet[Result]) -> QuerySet[Any]:
    """Passed and scored results of each issue, as `issue_id`, `passed` and `scored`."""
    passed = Count("pk", filter=Q(outcome=Outcome.PASSED))
    return results.values("issue_id").annotate(passed=passed, scored=Count("pk"))


class RateFilter(DropdownFilter):
    """An issue's pass rate in the latest run."""

    title, parameter_name = "latest run", "latest_rate"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        below = [(str(bound), f"below {bound}%") for bound in BOUNDS]
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
        bounded = F("scored") * bound
        rates = rates_by_issue(latest_scored()).annotate(hundredfold=F("passed") * 100)
        is_met = Q(hundredfold=bounded) if chosen == "all" else Q(hundredfold__lt=bounded)
        return queryset.filter(pk__in=rates.filter(is_met).values("issue_id"))


def latest_rates(issues: Sequence[Issue]) -> dict[int, str]:
    """Pass rates in the newest run with any scored result, by issue: "75% (3/4)"."""
    rows = rates_by_issue(latest_scored().filter(issue__in=[issue.pk for issue in issues]))
    return {
        row["issue_id"]: f"{percent(row['passed'] / row['scored'])} "
        f"({row['passed']}/{row['scored']})"
        for row in rows
    }


@admin.action(description="Launch a run with these")
def launch_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponseRedirect:
    field = f"{queryset.model._meta.model_name}s"
    return to_launch_form(request, field, list(queryset.values_list("pk", flat=True)))


contribute(Contribution(permission="runs.add_launch", actions=(launch_selected,)), Issue, Tag, Test)
contribute(
    Contribution(
        columns=(ListColumn("latest run", after="test_counts", texts_of=latest_rates),),
        filters=(RateFilter,),
    ),
    Issue,
)
