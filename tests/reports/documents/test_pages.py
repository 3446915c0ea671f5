"""Every report page: the page, its files and the API tell the same figures."""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.core.cache import caches
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.display.formatting import percent
from reports.documents.cells import headings, words
from reports.documents.document import Column, Document, Linked, Table
from reports.documents.exports import csv_of, markdown_of
from reports.documents.origin import COLUMNS as ORIGIN
from reports.documents.origin import Origin
from reports.documents.reading import Reading
from reports.registry import page_of
from runs.figures.rate import Rate
from tests.api import client_of
from tests.factories import make_user
from tests.reports.workspaces import VIEWS, make_workspace, state_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser():
    client = Client()
    client.force_login(make_user("superuser"))
    return client


def cells_in(html, key):
    """The texts of a table's body on a page, row by row, with the rows behind a line."""
    found = re.findall(rf'<table[^>]*data-table="{key}".*?</table>', html, re.S)
    bodies = "".join(table.split("<tbody>")[1] for table in found)
    rows = re.findall(r"<tr>(.*?)</tr>", bodies, re.S)
    return [[text_of(cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)] for row in rows]


def text_of(html):
    return re.sub(r"[\s(),]+", "", unescape(re.sub(r"<[^>]*>", "", html)))


def test_page_file_and_api_tell_the_same_figures(browser, subtests):
    workspace, viewer = make_workspace(), make_user("viewer")
    for key, view in VIEWS:
        with subtests.test(key, **view):
            assert_told_alike(browser, viewer, key, state_for(key, workspace) | view)


def assert_told_alike(browser, viewer, key, state):
    page = browser.get(reverse(f"reports:{key}"), {**state, "compute": "1"}).content.decode()
    answer = browser.get(f"/api/v1/reports/{key}/", state).json()
    form = page_of(key).form(as_query(state))
    document = page_of(key).build(form.filters, Reading(viewer))

    assert document.tables, "the ledger of this test shows nothing on this page"
    for table in document.tables:
        shown = cells_in(page, table.key)
        expected = [
            [text_of(reads(v, c.form, table)) for v, c in beside(row, table)] for row in table.rows
        ]
        assert [texts(row) for row in shown] == [texts(row) for row in expected[:50]]
        names = [column.name for column in table.columns]
        told = answer["tables"][table.key]["rows"]
        assert [list(row) for row in told] == [names] * len(table.rows)
        url = reverse(f"reports:{key}_download", args=["csv"])
        file = browser.get(url, {**state, "table": table.key})
        lines = list(csv.reader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
        assert lines[0] == [*headings(table.columns), *ORIGIN]
        assert len(lines) == len(told) + 1
        assert_same_figures(lines[1:], told, table)


def reads(value, form, table):
    """What stands in a cell of a page; a shaded one has its interval only as its title."""
    value = value.value if isinstance(value, Linked) else value
    if table.look == "heat" and isinstance(value, Rate):
        return f"{percent(value.share)} of {value.n:,}"
    return words(value, form)


def beside(row, table):
    return zip(row, table.columns, strict=True)


def texts(row):
    return [cell.replace("%", "").replace("—", "") for cell in row]


def assert_same_figures(lines, told, table):
    """Each number of the file is the API's, to the last digit."""
    for line, row in zip(lines, told, strict=True):
        cells = dict(zip([*headings(table.columns), *ORIGIN], line, strict=True))
        for column in table.columns:
            value = row[column.name]
            if column.form == "rate":
                share = value and value["share"]
                assert cells[f"{column.name}_share"] == ("" if share is None else str(share))
                assert cells[f"{column.name}_n"] == ("" if value is None else str(value["n"]))
            elif isinstance(value, int | float) and not isinstance(value, bool):
                assert float(cells[column.name]) == value


def as_query(state):
    query = QueryDict(mutable=True)
    for name, value in state.items():
        query.setlist(name, value if isinstance(value, list) else [value])
    return query


def test_a_file_of_the_whole_report_holds_what_the_page_says(browser, subtests):
    workspace = make_workspace()
    for key, view in VIEWS:
        with subtests.test(key, **view):
            state = state_for(key, workspace) | view
            json_file, md, html = (
                browser.get(reverse(f"reports:{key}_download", args=[ending]), state)
                for ending in ("json", "md", "html")
            )
            written = json.loads(json_file.content)
            assert browser.get(f"/api/v1/reports/{key}/", state).json().items() <= written.items()
            assert written["url"].startswith(f"http://testserver{reverse(f'reports:{key}')}")
            assert md.content.decode().startswith("# ")
            assert "<main " in html.content.decode()
            shown = re.sub(r"<script.*?</script>", "", html.content.decode(), flags=re.S)
            asked = re.findall(r'<(?:link|img|script)[^>]*(?:src|href)="(?!#)', shown)
            assert not asked, "the file asks for something elsewhere"


def test_without_runs_a_page_opens_and_its_tab_has_its_name(browser, subtests):
    for key, view in VIEWS:
        with subtests.test(key, **view):
            page = browser.get(reverse(f"reports:{key}"), state_for(key, None) | view)
            tab = re.search(r"<title>(.*?)</title>", page.content.decode(), re.S)
            assert f"{page_of(key).title} | EvalHub" in tab[1]


def test_more_runs_need_no_more_queries(browser, subtests):
    def count(key, view, workspace):
        state = state_for(key, workspace) | view
        browser.get(reverse(f"reports:{key}"), {**state, "compute": "1"})
        with CaptureQueriesContext(connection) as caught:
            assert browser.get(reverse(f"reports:{key}"), state).status_code == 200
        return len(caught)

    small = make_workspace(releases=4)
    few = [count(key, view, small) for key, view in VIEWS]
    large = make_workspace(releases=8)
    for (key, view), least in zip(VIEWS, few, strict=True):
        with subtests.test(key, **view):
            assert count(key, view, large) <= least


def test_a_wrong_value_is_named_and_the_rest_is_shown(browser, subtests):
    for key, view in VIEWS:
        fields = page_of(key).form.base_fields
        name = next((n for n, f in fields.items() if type(f).__name__ != "CharField"), None)
        if name:
            with subtests.test(key, **view):
                wrong = {**view, name: "no-such-thing"}
                page = browser.get(reverse(f"reports:{key}"), wrong)
                assert page.status_code == 200
                assert "no-such-thing" in page.content.decode()
                assert browser.get(f"/api/v1/reports/{key}/", wrong).status_code == 400


def test_who_may_not_see_runs_sees_no_report(subtests):
    stranger = client_of("")
    for key, view in VIEWS:
        with subtests.test(key, **view):
            assert stranger.get(f"/api/v1/reports/{key}/", view).status_code == 403


def test_judges_are_not_cleared_before_they_are_computed(browser):
    caches["computed"].clear()
    make_workspace()
    url = reverse("reports:judge_reliability")

    first = browser.get(url, {"tab": "judges"}).content.decode()
    then = browser.get(url, {"tab": "judges", "compute": "1"}).content.decode()

    assert "their reliability is being computed" in first
    assert "no serious concern" not in first
    assert "Being computed…" in first
    assert "being computed" not in then.lower()


def test_text_that_looks_like_a_formula_stays_text_in_a_file():
    table = Table("t", "T", (Column("name", "Name"),), (("=1+1",),))

    assert "'=1+1" in "".join(csv_of(table, Origin("")))


def test_text_of_people_cannot_break_a_markdown_table():
    table = Table("t", "T", (Column("name", "Name"),), (("a|b\n# c",),))

    assert "a\\|b \\# c" in markdown_of(Document("Which?", tables=(table,)))
