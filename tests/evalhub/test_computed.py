"""Figures that are kept between requests."""

import sys
from dataclasses import make_dataclass
from types import ModuleType

import pytest

from evalhub.values.computed import computed


@pytest.mark.django_db
def test_value_kept_by_an_earlier_version_is_computed_again(monkeypatch):
    earlier = ModuleType("earlier")
    earlier.Figure = make_dataclass("Figure", [("n", int, 1)], namespace={"__module__": "earlier"})
    monkeypatch.setitem(sys.modules, "earlier", earlier)
    computed("figure", {}, earlier.Figure)
    del earlier.Figure
    assert computed("figure", {}, lambda: 1) == 1
    assert computed("figure", {}, lambda: 2) == 1
