import pytest

from issues.models import Test
from tests.factories import make_issue, make_test

pytestmark = pytest.mark.django_db


def test_tests_are_named_alike_whether_they_are_made_or_not():
    tests = [make_test(issue=make_issue(title="Counts wrongly")), make_test()]
    assert sorted(Test.objects.names()) == [(test.pk, str(test)) for test in tests]
