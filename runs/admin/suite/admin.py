from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from evalhub.access.request_limits import expensive
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.later_tabs import LaterInline, LaterTabs
from evalhub.admin_site.lists import count_by
from evalhub.admin_site.pages import require
from evalhub.display.formatting import DASH, counted
from evalhub.display.html import link
from evalhub.files.export_files import FORMATS
from evalhub.models import User
from issues.models import Test
from issues.test_filter import read_filter
from runs.admin.exports import suite_export
from runs.admin.suite.gate_fields import GATE_FIELDS, GateFields, gate_of, initial_of
from runs.admin.suite.import_file import RIGHT, import_file_page
from runs.admin.suite.import_weval import import_page, may_import
from runs.admin.suite.make import make_page
from runs.comparison.baselines import check
from runs.models import Run, Suite, SuiteVersion
from runs.suites.suite_tests import change_words, read_suite, tests_in

GATE_HELP = (
    "A run fails if one of these rules applies to it. Leave a field empty to turn its rule off. "
    "Continuous integration asks the gate with manage.py gate or POST /api/v1/gates/; "
    "notifications of a regression follow it too."
)


TESTS = ("filter", "tests")
"""Fields of the tests: a suite has one of them."""
BOTH = "A suite has a filter or tests of its own, not both: remove one of them."


class SuiteForm(GateFields, forms.ModelForm):
    user: User | None = None
    """Set by the page: the user meant by "me" in a filter."""

    class Meta:
        model = Suite
        fields = (
            *("name", "description", *TESTS, "tags", "baselines", "baseline_release"),
            *("defaults", "reopens_issues"),
        )
        labels = {"defaults": "Launch defaults"}
        help_texts = {
            "filter": "Instead of tests: filter the list of tests, and paste its address here. "
            "Each launch takes the approved tests that match then, and keeps them as a version.",
            "defaults": "JSON object of launch options. Easier: fill in the launch form and choose "
            "“Save as suite defaults”.",
        }
        widgets = {
            "filter": UnfoldAdminTextInputWidget,
            "defaults": UnfoldAdminTextareaWidget(attrs={"rows": 5, "class": "eh-mono"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        suite = kwargs.get("instance")
        if suite and suite.pk:  # their numbers are all that a form needs of hundreds of tests
            prefetch_related_objects([suite], Prefetch("tests", Test.objects.only("pk")))
        super().__init__(*args, **kwargs)
        self.initial = {**initial_of(self.instance.gate), **self.initial}
        tests: Any = self.fields.get("tests")
        if tests:  # each is named after its issue
            tests.queryset = tests.queryset.select_related("issue").only("issue__title")
            select = getattr(tests.widget, "widget", tests.widget)  # wrapped by the admin
            select.template_name = "evalhub/select.html"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not any(name in self.errors for name in GATE_FIELDS):
            self.instance.gate = gate_of(cleaned)
        if cleaned.get("filter") and cleaned.get("tests"):
            self.add_error("filter", BOTH)
        return cleaned

    def clean_filter(self) -> str:
        text: str = self.cleaned_data["filter"].strip()
        return read_filter(text, by=self.user).query if text else ""

    def clean_baselines(self) -> Any:
        runs = self.cleaned_data["baselines"]
        check(self.instance, runs)
        return runs

    def clean_defaults(self) -> Any:
        return self.cleaned_data["defaults"] or {}


class VersionInline(LaterInline):
    """The tests of each launch where they differ from those of the launch before."""

    model = SuiteVersion
    verbose_name_plural = "versions"
    fields = readonly_fields = ("version", "test_count", "change", "created_at", "run_link")

    @display(description="version")
    def version(self, version: SuiteVersion) -> str:
        return f"version {version.number}"

    @display(description="tests")
    def test_count(self, version: SuiteVersion) -> int:
        return len(version.tests)

    @display(description="change")
    def change(self, version: SuiteVersion) -> str:
        return change_words(version) or DASH

    @display(description="runs")
    def run_link(self, version: SuiteVersion) -> SafeString:
        url = f"{reverse('admin:runs_run_changelist')}?suite_version__id__exact={version.pk}"
        return link(url, version.runs.count())


@admin.register(Suite)
class SuiteAdmin(LaterTabs, HistoryAdmin):
    when_empty = "A suite is a named set of tests that you run repeatedly."
    list_display = ("name", "test_count", "is_living", "run_link", "created_at")
    search_fields = ("name", "description")
    autocomplete_fields = ("tests", "tags", "baselines", "baseline_release")
    form = SuiteForm
    fieldsets = (
        (
            None,
            {
                "fields": (
                    *("name", "description", *TESTS, "tests_now", "tags"),
                    *("baselines", "baseline_release", "defaults", "reopens_issues"),
                )
            },
        ),
        ("Gate", {"description": GATE_HELP, "fields": GATE_FIELDS}),
    )
    readonly_fieldsets = (fieldsets[0], ("Gate", {"fields": ("gate_in_words",)}))
    readonly_fields = ("tests_now",)
    actions_detail = ("launch_suite",)
    list_before_template = "runs/suite/list_before.html"
    change_form_outer_before_template = "runs/suite/form_before.html"
    views = {
        "import_weval": "import/",
        "import_file": "import-file/",
        "make": "make/",
        "export": "<int:object_id>/export/<str:file_format>/",
    }

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        context = {
            **(extra_context or {}),
            "may_import": may_import(request),
            "may_import_file": request.user.has_perm(RIGHT),
        }
        response: HttpResponse = super().changelist_view(request, context)
        return response

    def import_weval_view(self, request: HttpRequest) -> HttpResponse:
        require(may_import(request))
        return import_page(request, self)

    @expensive
    def import_file_view(self, request: HttpRequest) -> HttpResponse:
        return import_file_page(request, self)

    @expensive
    def export_view(self, request: HttpRequest, object_id: int, file_format: str) -> HttpResponse:
        return suite_export(request, self.found(request, object_id), file_format)

    def row_context(self, request: HttpRequest, row: Suite) -> dict[str, Any]:
        exports = [(self.url_of("export", row.pk, key), *FORMATS[key][:2]) for key in FORMATS]
        return {**super().row_context(request, row), "exports": exports}

    def make_view(self, request: HttpRequest) -> HttpResponse:
        return make_page(request, self)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None and not self.has_change_permission(request, obj):
            return self.readonly_fieldsets
        return self.fieldsets

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return [VersionInline] if obj else []

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        return type(form)(form.__name__, (form,), {"user": request.user})

    @display(description="Tests at the next launch")
    def tests_now(self, suite: Any) -> str:
        """Read them once: the theme asks five times for a read-only field."""
        if not hasattr(suite, "tests_in_words"):
            suite.tests_in_words = self._tests_now(suite)
        found: str = suite.tests_in_words
        return found

    def _tests_now(self, suite: Suite) -> str:
        if suite.pk is None:
            return DASH
        tests, filter_words, problem = read_suite(suite)
        if problem:
            return problem
        total, runnable = tests.count(), tests.runnable().count()
        words = f"{counted(runnable, 'test')} of {total:,}: only approved ones run"
        if not suite.filter:
            return words
        url = f"{reverse('admin:issues_test_changelist')}?{suite.filter}"
        return link(url, filter_words, f". {words}")

    @display(description="A run fails if")
    def gate_in_words(self, suite: Suite) -> str:
        return suite.gate_policy.in_words()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Suite]:
        suites: QuerySet[Suite] = super().get_queryset(request)
        return suites.annotate(
            test_total=count_by("suite", Suite.tests.through.objects.all()),
            run_total=count_by("suite", Run.objects.all()),
        )

    @display(description="Tests", ordering="test_total")
    def test_count(self, suite: Suite) -> int:
        living = tests_in(suite).count() if suite.filter else None
        return int(suite.test_total) if living is None else living  # type: ignore[attr-defined]

    @display(description="Living", boolean=True)
    def is_living(self, suite: Suite) -> bool:
        return bool(suite.filter)

    @display(description="Runs", ordering="run_total")
    def run_link(self, suite: Suite) -> SafeString:
        url = f"{reverse('admin:runs_run_changelist')}?suite__id__exact={suite.pk}"
        runs = suite.run_total  # type: ignore[attr-defined]
        return link(url, runs)

    def has_launch_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return bool(request.user.has_perm("runs.add_launch"))

    @action(description="Launch a run", permissions=["launch"])
    def launch_suite(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        return HttpResponseRedirect(f"{reverse('admin:runs_launch_add')}?suite={object_id}")
