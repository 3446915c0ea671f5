from django.http import QueryDict

from runs.result_list.filters import Filters


def read(query):
    return Filters.read(QueryDict(query))


def test_a_view_survives_the_url():
    query = "outcome=failed&outcome=error&issue=3&tag=math+and+code&q=%C3%A4&sort=-score"
    query += "&test=5&domain=law"
    filters = read(query + "&overridden=1&disputed=1&failed_judgments=1&by_judge=1&page=2")

    assert read(filters.query(page=filters.page)) == filters


def test_changing_a_filter_goes_to_the_first_page():
    assert read("outcome=failed&page=7").query(tag="x") == "outcome=failed&tag=x"


def test_a_filter_can_be_taken_away():
    assert read("outcome=failed&issue=3").query(outcomes=(), issue=None) == ""


def test_what_is_wrong_is_named_and_left_out():
    filters = read("outcome=lost&issue=x&sort=colour&page=0")

    assert (filters.outcomes, filters.issue, filters.sort, filters.page) == ((), None, "", 1)
    assert [problem.split()[1].rstrip(":") for problem in filters.problems] == [
        "outcome=lost",
        "sort=colour",
        "issue=x",
        "page=0",
    ]


def test_an_order_leaves_nothing_out():
    assert not read("sort=score&page=2&by_judge=1").narrows
    assert read("tag=math").narrows
