"""What several tests of reports need."""

import pytest
from django.core.cache import caches


@pytest.fixture
def _nothing_kept(db):
    """Nothing was computed before."""
    caches["computed"].clear()
