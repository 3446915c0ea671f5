"""The ways from the list of runs to their comparison."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.template.loader import render_to_string

from evalhub.admin_site.contributions import Contribution, ListColumn, contribute
from reports.documents.links import page_url
from runs.comparison.comparability import scoring_of
from runs.comparison.comparability_rule import comparability
from runs.models import Run

ALONE = "With the baseline of its suite, or the run before it"


def compare_links(request: HttpRequest, runs: Sequence[Any]) -> dict[int, str]:
    """Return links by listed run: to the runs shown of its launch, or to its baseline."""
    together: dict[Any, list[Any]] = defaultdict(list)
    for run in runs:
        together[run.launch_id or f"run {run.pk}"].append(run)
    links = {key: _link(of_launch) for key, of_launch in together.items()}
    return {run.pk: links[key] for key, of_launch in together.items() for run in of_launch}


def _link(runs: Sequence[Any]) -> str:
    first, *others = (scoring_of(run, run.figures.current) for run in runs)
    shown = {
        "url": page_url("compare", runs=list(runs)),
        "title": "Runs launched together" if others else ALONE,
        "number": len(runs),
        "launch": runs[0].launch.label if runs[0].launch else "",
        "is_different": not all(comparability(first, other) for other in others),
    }
    return render_to_string("reports/compare_link.html", shown)


@admin.action(description="Compare")
def compare_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Run]
) -> HttpResponseRedirect:
    return HttpResponseRedirect(page_url("compare", runs=list(queryset.order_by("pk"))))


contribute(
    Contribution(
        permission="runs.view_run",
        actions=(compare_selected,),
        columns=(ListColumn("compare", "pass_rate", lambda request: "Compare", compare_links),),
    ),
    Run,
)
