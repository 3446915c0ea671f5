"""“Try in workbench” on tests and judge templates, and on the list of results."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from evalhub.admin_site.pages import current_user, row_number
from evalhub.display.formatting import counted
from issues.drafting.destinations import DestinationKind, contribute_destination
from issues.models import JudgeTemplate, LibraryCriterion, Test
from runs.laboratory.workbench.contents import new_bench
from runs.laboratory.workbench.drafts import BenchDestination, found, of
from runs.laboratory.workbench.models import Workbench
from runs.laboratory.workbench.rows import rows_from_results
from runs.models import Result

ADD = "workbench.add_workbench"


def _button(**fields: object) -> PanelPart:
    url = reverse("admin:workbench_workbench_start")
    sent = {name: str(value) for name, value in fields.items()}
    return PanelPart([Button("Try in workbench", url, sent)])


def panel_of_test(request: HttpRequest, test: Any) -> PanelPart:
    return _button(test=test.pk)


def panel_of_template(request: HttpRequest, template: Any) -> PanelPart:
    return _button(template=template.pk)


def panel_of_library(request: HttpRequest, entry: Any) -> PanelPart:
    return _button(library=entry.pk)


@admin.action(description="Try in a workbench …")
def try_in_workbench(model_admin: Any, request: HttpRequest, queryset: Any) -> HttpResponse | None:
    """Add the answers to a workbench of the user's choice, or to a new one."""
    user = current_user(request)
    own = [b for b in Workbench.objects.seen_by(user) if b.may_be_edited_by(user)]
    if "workbench" not in request.POST:
        page: HttpResponse = model_admin.action_page(
            request,
            "try_in_workbench",
            queryset.select_related(None).only("pk"),
            title=f"Try {counted(queryset.count(), 'result')} in a workbench",
            sentences=["The answers become rows. Nothing about the results changes."],
            form=_choice_form(own),
            button="Add rows",
        )
        return page
    number = row_number(request.POST["workbench"])
    bench = next((each for each in own if each.pk == number), None)
    with model_admin.refusals_shown(request):
        bench = bench or new_bench(user, name="Results")
        rows = rows_from_results(bench, queryset, user)
        model_admin.say_done(request, f"Added {counted(len(rows), 'row')}.")
        return HttpResponseRedirect(bench.get_absolute_url())
    return None


def _choice_form(own: list[Workbench]) -> Any:
    choices = [("new", "a new workbench"), *((str(bench.pk), str(bench)) for bench in own)]
    field = forms.ChoiceField(choices=choices, widget=forms.Select({"class": "eh-input"}))
    return type("WorkbenchChoice", (forms.Form,), {"workbench": field})()


contribute_destination(DestinationKind(BenchDestination.parameter, found, of))
contribute(Contribution(permission=ADD, panel=panel_of_test), Test)
contribute(Contribution(permission=ADD, panel=panel_of_template), JudgeTemplate)
contribute(Contribution(permission=ADD, panel=panel_of_library), LibraryCriterion)
contribute(Contribution(permission=ADD, actions=(try_in_workbench,)), Result)
