"""Exports of suites and tests, and the scripts that run them again through the API."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from evalhub.admin_site.contributions import Contribution, contribute
from evalhub.admin_site.list_download import api_rows
from evalhub.admin_site.pages import require
from evalhub.files.export_files import FORMATS, Export, export_response
from issues.api.views import TestViewSet
from issues.models import Test
from runs.api.views import SuiteViewSet
from runs.exported_scripts.launches import script_of_suite, script_of_tests
from runs.models import Suite
from runs.suites.suite_tests import tests_in

SCRIPTS = ("py", "ipynb")


# Tests --------------------------------------------------------------------------------------------


def exports_of_tests(request: HttpRequest, model_admin: Any) -> list[tuple[str, str, str]]:
    return [(model_admin.url_of(f"script_{key}"), *FORMATS[key][:2]) for key in SCRIPTS]


def tests_script(file_format: str, model_admin: Any, request: HttpRequest) -> HttpResponseBase:
    """Return the script that runs the tests of the list as it is filtered."""
    require(model_admin.has_view_permission(request))
    listed = model_admin.listed(request)
    if listed is None:
        return HttpResponseRedirect(model_admin.url_of("changelist"))
    numbers = sorted(listed.values_list("pk", flat=True))
    script = script_of_tests(request.build_absolute_uri("/"), numbers)
    return export_response(file_format, "tests", Export((), None, script))


contribute(
    Contribution(
        exports=exports_of_tests,
        views=tuple(
            (f"script/{key}/", partial(tests_script, key), f"script_{key}") for key in SCRIPTS
        ),
    ),
    Test,
)


# Suites -------------------------------------------------------------------------------------------


def suite_export(request: HttpRequest, suite: Suite, file_format: str) -> HttpResponse:
    """Return a suite with its tests, as far as the user may read them, or its script."""
    if file_format not in FORMATS:
        raise Http404(f"A suite is not exported as {file_format!r}.")
    script = script_of_suite(request.build_absolute_uri("/"), suite)
    rows: Sequence[Any] = ()
    document: Any = None
    if file_format not in SCRIPTS:
        numbers = list(tests_in(suite).values_list("pk", flat=True))
        view = TestViewSet(request=request, action="list", format_kwarg=None)
        rows = [dict(row) for row in api_rows(view, numbers)]
        shown = SuiteViewSet(request=request, action="retrieve", format_kwarg=None)
        document = {"suite": dict(shown.get_serializer(suite).data), "tests": rows}
    return export_response(file_format, str(suite), Export(rows, document, script))
