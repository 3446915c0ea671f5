from datetime import timedelta

import pytest
from django.utils import timezone

from evalhub.values import clock

pytestmark = pytest.mark.django_db


def test_the_databases_time_is_aware_and_about_ours():
    assert abs(clock.now() - timezone.now()) < timedelta(seconds=5)


def test_time_goes_on_within_a_transaction():
    """PostgreSQL's now() is constant there; heartbeats compared by it would never be new."""
    first = clock.now()
    assert any(clock.now() > first for _ in range(1000))


def test_ago_is_before_now():
    assert timedelta(seconds=9) < clock.now() - clock.ago(10) < timedelta(seconds=11)
