"""A condition with many numbers finds what Django's `in` finds."""

import pytest

from evalhub.models import User
from evalhub.values.id_in import IdIn
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kept", [[], [0], [0, 2]])
def test_rows_among_these_are_found(kept):
    people = [make_user("viewer", username=f"user {n}").pk for n in range(3)]
    wanted = [people[n] for n in kept]

    found = User.objects.filter(IdIn("pk", wanted), pk__in=people)
    others = User.objects.filter(~IdIn("pk", wanted), pk__in=people)

    assert sorted(found.values_list("pk", flat=True)) == wanted
    assert sorted(others.values_list("pk", flat=True)) == sorted({*people} - {*wanted})
