"""Lists of more rows than are counted."""

import pytest

from evalhub.admin_site.lists import BoundedPaginator
from runs.models import Result
from tests.factories import make_run, make_test

pytestmark = pytest.mark.django_db

LIST = "/admin/runs/result/"


@pytest.fixture(autouse=True)
def three_results(monkeypatch):
    monkeypatch.setattr(BoundedPaginator, "most", 2)
    make_run(make_test(), make_test(), make_test())


def test_a_list_shows_its_first_rows_and_says_so(admin_client):
    assert "the first 2 results: filter or search" in admin_client.get(LIST).content.decode()


def test_a_list_of_as_many_rows_shows_all(admin_client):
    Result.objects.last().delete()
    assert "the first" not in admin_client.get(LIST).content.decode()


def test_an_action_on_more_rows_than_are_shown_is_refused(admin_client):
    row = Result.objects.first()
    sent = {"action": "override_selected", "select_across": "1", "_selected_action": row.pk}
    page = admin_client.post(LIST, sent, follow=True).content.decode()
    assert "The list has more than 2 rows: filter it" in page
