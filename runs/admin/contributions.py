"""Launching a run from lists of lower floors, and an issue's pass rate in a run of a model."""

from collections.abc import Sequence
from typing import Any, cast

from django.contrib import admin
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from unfold.contrib.filters.admin import DropdownFilter

from evalhub.admin_site.contributions import Contribution, ListColumn, contribute
from evalhub.admin_site.pages import row_number
from evalhub.display.formatting import percent
from issues.models import Issue, Tag, Test
from runs.admin.launch.preselection import address_of_rows
from runs.comparison.completeness import scored_words
from runs.figures.issue_rates import RateRun, counted, models_with_runs, rate_run_of, rates_in
from runs.models import Result

BOUNDS = (25, 50, 80, 100)
MODEL = "rate_model"
"""Query parameter of the model whose pass rates are shown."""


def rate_run(request: HttpRequest) -> RateRun:
    """Return the run whose rates the list shows, chosen once per request."""
    kept = vars(request)
    if "rate_run" not in kept:
        kept["rate_run"] = rate_run_of(row_number(request.GET.get(MODEL)) or None)
    return cast(RateRun, kept["rate_run"])


class RateModelFilter(DropdownFilter):
    """The model whose run gives the pass rates; it leaves out no issue."""

    title, parameter_name = "pass rate of", MODEL
    all_option = None

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        model = rate_run(request).model
        self.shown = str(model.pk) if model else None
        return [(str(pk), name) for pk, name in models_with_runs().values_list("pk", "name")]

    def value(self) -> str | None:
        return self.shown

    def queryset(self, request: HttpRequest, queryset: QuerySet[Issue]) -> QuerySet[Issue]:
        return queryset


class RateFilter(DropdownFilter):
    """An issue's pass rate in the run that the list shows."""

    title, parameter_name = "pass rate", "pass_rate"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        below = [(str(bound), f"below {bound}%") for bound in BOUNDS]
        return [*below, ("all", "all passed"), ("none", "not in the run"), ("never", "never run")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Issue]) -> QuerySet[Issue]:
        chosen = self.value() or ""
        if not chosen:
            return queryset
        if chosen == "never":
            return queryset.exclude(Exists(Result.objects.filter(issue=OuterRef("pk"))))
        rates = counted(rate_run(request).run)
        if chosen == "none":
            return queryset.exclude(pk__in=rates.values("issue_id"))
        bound = 100 if chosen == "all" else row_number(chosen)
        if chosen != "all" and bound not in BOUNDS:
            return queryset
        bounded = F("scored") * bound
        is_met = Q(hundredfold=bounded) if chosen == "all" else Q(hundredfold__lt=bounded)
        found = rates.annotate(hundredfold=F("passed") * 100).filter(is_met)
        return queryset.filter(pk__in=found.values("issue_id"))


def rate_texts(request: HttpRequest, issues: Sequence[Issue]) -> dict[int, str]:
    """Return the pass rates by issue, such as "75% (3/4), 4/4 scored"."""
    rates = rates_in(rate_run(request).run, [issue.pk for issue in issues])
    return {
        issue: f"{percent(rate.passed / rate.scored)} ({rate.passed}/{rate.scored}), "
        f"{scored_words(rate.scored, rate.total)}"
        for issue, rate in rates.items()
    }


def rate_heading(request: HttpRequest) -> str:
    return f"Pass rate of {rate_run(request).name}" if rate_run(request).model else "Pass rate"


@admin.action(description="Launch a run with these")
def launch_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponseRedirect:
    url = address_of_rows(request, "admin:runs_launch_add", queryset)
    return HttpResponseRedirect(url)


contribute(Contribution(permission="runs.add_launch", actions=(launch_selected,)), Issue, Tag, Test)
contribute(
    Contribution(
        columns=(ListColumn("pass_rate", "test_counts", rate_heading, rate_texts),),
        filters=(RateModelFilter, RateFilter),
    ),
    Issue,
)
