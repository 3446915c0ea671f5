"""Whole numbers of rows, read as one text."""

import pytest
from django.db.models import Count, F

from evalhub.models import User
from evalhub.values.packed_numbers import packed_rows
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_numbers_of_each_row_are_read():
    users = [make_user("viewer"), make_user("viewer")]

    found = packed_rows(User.objects.filter(pk__in=[one.pk for one in users]), "pk", -F("pk"))

    assert sorted(found.tolist()) == [[one.pk, -one.pk] for one in users]


def test_numbers_of_groups_are_read():
    make_user("viewer")
    grouped = User.objects.values("is_active").annotate(n=Count("pk"))

    assert packed_rows(grouped, "n").tolist() == [[User.objects.count()]]


def test_no_rows_keep_their_columns():
    assert packed_rows(User.objects.none(), "pk", "pk").shape == (0, 2)
    assert packed_rows(User.objects.filter(pk=0), "pk", "pk").shape == (0, 2)
