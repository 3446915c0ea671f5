import pytest

from evalhub.fixed_query import fixed_query
from issues.models import Issue
from tests.factories import make_issue

pytestmark = pytest.mark.django_db


def test_a_query_is_written_once_for_all_keys():
    written = []

    @fixed_query
    def titles(issue, other):
        written.append(issue)
        return Issue.objects.filter(pk__in=(issue, other)).order_by("pk").values_list("title")

    first, second, third = (make_issue(title=title).pk for title in "ABC")

    assert titles(first, third) == [("A",), ("C",)]
    assert titles(second, 0) == [("B",)]
    assert len(written) == 1
