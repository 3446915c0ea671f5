"""What several tests of reports need."""

import pytest
from django.core.cache import caches

from evalhub.access import request_limits


@pytest.fixture(autouse=True)
def _many_requests(monkeypatch):
    """A test may ask for as many pages as it likes, and counting them takes no queries."""
    for limit in ("PAGES_PER_MINUTE", "EXPENSIVE_PER_MINUTE"):
        monkeypatch.setattr(request_limits, limit, 100_000)


@pytest.fixture
def _nothing_kept(db):
    """Nothing was computed before."""
    caches["computed"].clear()
