"""Lists of more rows than are counted."""

import pytest

from evalhub.admin_site.lists import BoundedPaginator
from runs.admin.result.admin import ResultAdmin
from runs.models import Result
from tests.factories import make_run, make_test

pytestmark = pytest.mark.django_db

LIST = "/admin/runs/result/"
BY_SCORE = "5"
"""The place of the column in the list, which its heading links to."""


@pytest.fixture(autouse=True)
def three_results(monkeypatch):
    monkeypatch.setattr(BoundedPaginator, "most", 2)
    make_run(make_test(), make_test(), make_test())


def test_a_list_shows_its_first_rows_and_says_so(admin_client):
    assert "the first 2 results: filter or search" in admin_client.get(LIST).content.decode()


def test_a_list_of_as_many_rows_shows_all(admin_client):
    Result.objects.last().delete()
    assert "the first" not in admin_client.get(LIST).content.decode()


def scored(*scores):
    for result, score in zip(Result.objects.order_by("-run_id", "pk"), scores, strict=True):
        Result.objects.filter(pk=result.pk).update(score=score)
    return list(Result.objects.order_by("-run_id", "pk"))


def listed(admin_client, **query):
    response = admin_client.get(LIST, query)
    return [row.pk for row in response.context["cl"].result_list], response.content.decode()


def test_the_first_rows_of_a_longer_list_are_sorted_and_the_page_says_so(admin_client, monkeypatch):
    monkeypatch.setattr(ResultAdmin, "list_per_page", 1)
    first, second, _third = scored(0.9, 0.5, 0.1)

    pages = [listed(admin_client, o=BY_SCORE, p=number) for number in (1, 2)]

    assert [shown for shown, _ in pages] == [[second.pk], [first.pk]]
    assert "sorted among the first 2 results" in pages[0][1]


def test_a_list_that_shows_all_its_rows_sorts_them_all(admin_client, monkeypatch):
    monkeypatch.setattr(BoundedPaginator, "most", 3)
    first, second, third = scored(0.9, 0.5, 0.1)

    shown, page = listed(admin_client, o=BY_SCORE)

    assert shown == [third.pk, second.pk, first.pk]
    assert "sorted among" not in page


def test_an_action_on_more_rows_than_are_shown_is_refused(admin_client):
    row = Result.objects.first()
    sent = {"action": "override_selected", "select_across": "1", "_selected_action": row.pk}
    page = admin_client.post(LIST, sent, follow=True).content.decode()
    assert "The list has more than 2 rows: filter it" in page
