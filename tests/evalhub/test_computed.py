"""Figures that are kept between requests."""

import sys
from types import ModuleType

import pytest

from evalhub.computed import computed


@pytest.mark.django_db
def test_value_kept_by_an_earlier_version_is_computed_again(monkeypatch):
    earlier = ModuleType("earlier")
    exec("class Figure: pass", earlier.__dict__)
    monkeypatch.setitem(sys.modules, "earlier", earlier)
    computed("figure", {}, earlier.Figure)
    del earlier.Figure
    assert computed("figure", {}, lambda: 1) == 1
    assert computed("figure", {}, lambda: 2) == 1
