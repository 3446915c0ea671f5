"""Page that makes a suite from a selection of tests, or adds the selection to a suite."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from evalhub.access.saved_filters import saved_query
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from evalhub.admin_site.pages import PageAdmin, current_user, require
from evalhub.display.formatting import counted
from evalhub.models import User
from issues.content.test_texts import named_tests
from issues.models import Issue, Tag, Test, TestState
from issues.test_filter import FilterRefused, TestFilter, read_filter
from runs.admin.launch.preselection import address_of_rows, selection_in
from runs.models import Suite
from runs.suites.suite_making import add_to_suite, make_suite
from runs.suites.test_selection import TestSelection

KINDS = ("tests", "issues", "tags", "runs", "launches")
"""Query parameters with the rows that name the tests."""
FILTER = "filter"
"""Query parameter with the filter of the list in which the tests were selected."""
SELECTED, MATCHING = "selected", "matching"


class SuiteForm(forms.Form):
    """`test_filter` is that of the list in which the tests were selected, if any."""

    name = forms.CharField(
        max_length=150, required=False, label="New suite", widget=UnfoldAdminTextInputWidget
    )
    suite = forms.ModelChoiceField(
        Suite.objects.filter(filter=""),
        required=False,
        label="Or add to",
        empty_label="choose a suite",
        widget=UnfoldAdminSelectWidget,
    )
    takes = forms.ChoiceField(label="Its tests", widget=UnfoldAdminRadioSelectWidget)

    def __init__(self, sent: Any, *, total: int, test_filter: TestFilter | None) -> None:
        super().__init__(sent, initial={"takes": SELECTED})
        self.test_filter = test_filter
        if test_filter is None:
            del self.fields["takes"]
            return
        now = counted(test_filter.tests.count(), "test")
        takes: Any = self.fields["takes"]
        takes.choices = [
            (SELECTED, f"The {counted(total, 'test')} selected"),
            (MATCHING, f"Living: at each launch, those that match “{test_filter}” ({now} now)"),
        ]

    @property
    def is_living(self) -> bool:
        return bool(self.cleaned_data.get("takes") == MATCHING)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if Suite.objects.filter(name=name).exists():
            raise forms.ValidationError(f"There is a suite “{name}”. Choose it below.")
        return name

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and bool(data.get("name")) == bool(data.get("suite")):
            raise forms.ValidationError("Enter a name, or choose one suite to add to.")
        if not self.errors and self.is_living and data["suite"]:
            raise forms.ValidationError(
                "A living suite is a new one: enter a name, or add only the tests selected."
            )
        return data


def make_page(request: HttpRequest, owner: PageAdmin) -> HttpResponse:
    """Ask for a name or a suite (GET), and put the selected tests there (POST)."""
    may_add = request.user.has_perm("runs.add_suite") and request.user.has_perm("runs.change_suite")
    require(may_add, request.user.has_perm("issues.view_test"))
    user = current_user(request)
    named = TestSelection(**selection_in(request, KINDS)).named.readable_by(user)
    open_tests = named.exclude(state=TestState.DEPRECATED).select_related("issue")
    tests = list(open_tests.order_by("pk"))
    test_filter = _filter(request.GET.get(FILTER, ""), user)
    form = SuiteForm(request.POST or None, total=len(tests), test_filter=test_filter)
    if not tests:
        owner.say(request, "There is no test in this selection that you can see.")
        return HttpResponseRedirect(owner.url_of("changelist"))
    if request.method == "POST" and form.is_valid():
        suite = form.cleaned_data["suite"]
        if test_filter is not None and form.is_living:
            name, query = form.cleaned_data["name"], test_filter.query
            suite = make_suite(name, test_filter=query, by=user)
            owner.say_done(request, f"Living suite created: {test_filter}.")
        elif suite is None:
            suite = make_suite(form.cleaned_data["name"], tests, by=user)
            owner.say_done(request, f"Suite created with {counted(len(tests), 'test')}.")
        else:
            added = add_to_suite(suite, tests, by=user)
            owner.say_done(request, f"{counted(added, 'test')} added to {suite}.")
        return HttpResponseRedirect(owner.url_of("change", suite.pk))
    waiting = sum(test.state != TestState.APPROVED for test in tests)
    sentences = [f"{waiting} of them will run once approved."] if waiting else []
    return owner.page(
        request,
        "evalhub/confirm.html",
        title=f"Make a suite of {counted(len(tests), 'test')}",
        crumb="Make a suite",
        sentences=sentences,
        rows=named_tests(tests),
        form=form,
        button="Save suite",
        back_url=owner.url_of("changelist"),
    )


def _filter(query: str, by: User) -> TestFilter | None:
    """Return the filter, None if the list was not filtered or is by what no suite can follow."""
    try:
        return read_filter(query, by=by)
    except FilterRefused:
        return None


@admin.action(description="Make a suite …")
def suite_of_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponseRedirect:
    url = address_of_rows(request, "admin:runs_suite_make", queryset)
    if queryset.model is Test and (query := saved_query(request.GET.urlencode())):
        url += f"&{urlencode({FILTER: query})}"
    return HttpResponseRedirect(url)


def panel_of_issue(request: HttpRequest, issue: Any) -> PanelPart:
    if not issue.counts.open_tests:
        return PanelPart()
    url = f"{reverse('admin:runs_suite_make')}?issues={issue.pk}"
    return PanelPart([Button("Make a suite …", url, is_link=True)])


contribute(Contribution(permission="runs.add_suite", actions=(suite_of_selected,)), Tag, Test)
contribute(
    Contribution(permission="runs.add_suite", actions=(suite_of_selected,), panel=panel_of_issue),
    Issue,
)
