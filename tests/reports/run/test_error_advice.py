"""Advice on errors."""

import pytest

from evalhub.llm.errors import CallErrorKind
from reports.run.usage_tables import ADVICE


@pytest.mark.parametrize("kind", list(CallErrorKind))
def test_every_kind_of_error_has_advice(kind):
    assert ADVICE[kind.value]
