from decimal import Decimal

import pytest
from django.db.models import Count, Max

from evalhub.fixed_query import fixed_query
from evalhub.values.many_numbers import Among
from issues.models import Issue
from runs.models import Result
from tests.factories import make_issue, make_run, make_test

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


def test_a_key_may_be_several():
    @fixed_query
    def titles(issues, other):
        chosen = Issue.objects.filter(Among("pk", issues)).exclude(pk=other)
        return chosen.order_by("pk").values_list("title")

    first, second, third = (make_issue(title=title).pk for title in "ABC")

    assert titles([first, second, third], second) == [("A",), ("C",)]
    assert titles({second}, 0) == [("B",)]
    assert titles([], 0) == []


def test_rows_are_those_of_the_queryset():
    def figures(run):
        rows = Result.objects.filter(run=run).values_list("run__params", "cost_usd")
        return rows.annotate(n=Count("pk"), created=Max("run__created_at"))

    run = make_run(make_test(), params={"seed": 7})
    run.results.update(cost_usd=Decimal("0.25"))

    [(params, cost, n, created)] = rows = fixed_query(figures)(run.pk)

    assert rows == list(figures(run.pk))
    assert (params, cost, n, created) == ({"seed": 7}, Decimal("0.25"), 1, run.created_at)
    assert isinstance(cost, Decimal)
