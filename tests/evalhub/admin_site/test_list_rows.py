"""The rows of the admin's lists."""

import re

import pytest

from evalhub.display.filter_chip import select
from issues.models import Tag
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db


def rows(client, address, **query):
    html = client.get(address, query).content.decode()
    return re.findall(r'<tr class="data-row">.*?</tr>', html, re.S)


def test_a_row_leads_to_its_page_and_back_to_the_filtered_list(client):
    client.force_login(make_user("viewer"))
    issue = make_issue(title="Adds wrongly", severity="high")
    (row,) = rows(client, "/admin/issues/issue/", severity__exact="high")

    address = f"/admin/issues/issue/{issue.pk}/change/?_changelist_filters=severity__exact%3Dhigh"
    assert f'<a href="{address}">Adds wrongly</a>' in row


def test_a_row_has_a_label_for_each_of_its_cells(client):
    client.force_login(make_user("viewer"))
    make_issue(title="<b>Adds</b> wrongly")
    (row,) = rows(client, "/admin/issues/issue/")

    assert '<th class="field-title" data-label="title">' in row
    assert "&lt;b&gt;Adds&lt;/b&gt; wrongly" in row
    assert '<td class="field-assignee nowrap" data-label="assignee">—</td>' in row


def test_a_row_is_chosen_by_its_number(client):
    client.force_login(make_user("maintainer"))
    test = make_test("Add 2 and 2.")
    (row,) = rows(client, "/admin/issues/test/")

    assert f'name="_selected_action" value="{test.pk}" aria-label="Select record"' in row


def test_a_full_page_of_rows_is_small(client):
    client.force_login(make_user("maintainer"))
    Tag.objects.bulk_create(Tag(name=f"tag {n}", kind="other") for n in range(60))
    response = client.get("/admin/issues/tag/")

    assert len(rows(client, "/admin/issues/tag/")) == 25
    assert len(response.content) < 100 * 1024


def test_a_choice_is_written_as_a_form_writes_it():
    html = select("of", [("", "All"), (2, "<two>"), ("3", "three")], 2, {"class": "eh-input"})

    assert html == (
        '<select name="of" class="eh-input"><option value="">All</option>'
        '<option value="2" selected>&lt;two&gt;</option><option value="3">three</option></select>'
    )
