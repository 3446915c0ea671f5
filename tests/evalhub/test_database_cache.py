"""Computed values in the cache that all processes share."""

from dataclasses import dataclass, make_dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

import pytest
from django.core.cache import caches
from django.utils import timezone

from evalhub.models import CachedValue
from evalhub.values.computed_cache import cached, computed
from evalhub.values.database_cache import cull
from evalhub.values.typed_json import ByKey

pytestmark = pytest.mark.django_db


class Colour(StrEnum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float | None = None


@dataclass(frozen=True)
class Line:
    points: tuple[Point, ...]
    by_place: ByKey[Point, ByKey[int | str, Colour]]
    seen: frozenset[int] = frozenset({1})
    at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    cost: Decimal = Decimal("1.20")
    worst: float = float("inf")


def raises() -> Line:
    raise AssertionError("computed again")


def test_values_are_computed_once_and_come_back_as_they_were():
    line = Line((Point(1), Point(2, 0.5)), {Point(1): {1: Colour.RED, "1": Colour.RED}})
    assert cached("line", [1], Line) is None
    assert computed("line", [1], Line, lambda: line) == line
    found = cached("line", [1], Line)
    assert (found, type(found.points[0])) == (line, Point)
    assert type(next(iter(found.by_place))) is Point
    assert computed("line", [1], Line, raises) == line
    assert cached("line", [2], Line) is None


def test_a_value_of_an_earlier_version_is_computed_again():
    earlier = make_dataclass("Figure", [("n", int)])
    computed("figure", {}, earlier, lambda: earlier(1))
    later = make_dataclass("Figure", [("total", int)])
    assert cached("figure", {}, later) is None
    assert computed("figure", {}, later, lambda: later(2)) == later(2)


def test_values_expire_and_are_deleted():
    cache = caches["computed"]
    cache.set("a", 1, 60)
    cache.set("b", 2, 60)
    CachedValue.objects.filter(value="1").update(expires_at=timezone.now() - timedelta(seconds=1))
    assert (cache.get("a"), cache.get("b")) == (None, 2)

    cull()
    assert CachedValue.objects.get().value == "2"


def test_additions_of_several_processes_are_counted():
    cache = caches["computed"]
    assert cache.add("n", 0, 60)
    assert not cache.add("n", 0, 60)
    assert [cache.incr("n"), cache.incr("n", 5)] == [1, 6]
    with pytest.raises(ValueError, match="not found"):
        cache.incr("none")
