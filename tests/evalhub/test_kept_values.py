import base64
import os
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from django.core.cache import caches
from django.utils import timezone

from evalhub.models import KeptValue
from evalhub.values.computed import computed, kept
from evalhub.values.typed_json import Unreadable, dumps, loads


class Colour(StrEnum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: float | None = None


@dataclass(frozen=True)
class Line:
    points: tuple[Point, ...]
    colour: Colour = Colour.RED


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1, 2.5, True, "ä", float("inf")],
        {"a": [1], 3: (4, 5), (6, "x"): {7}},
        Line((Point(1), Point(2, 0.5))),
        [Colour.RED, Decimal("1.20"), frozenset({1}), datetime(2026, 1, 2, tzinfo=UTC)],
        {"dict": {"class": ["os", "system", {}]}},
    ],
)
def test_values_come_back_as_they_were(value):
    found = loads(dumps(value))
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"class":["os","system",{"command":"true"}]}',
        '{"class":["subprocess","Popen",{"args":"true"}]}',
        '{"enum":["os","system","true"]}',
        '{"class":["no.such.module","Line",{}]}',
        f'{{"class":["{__name__}","Line",{{"gone":1}}]}}',
        base64.b64encode(pickle.dumps((1,))).decode(),
        "[" * 100_000,
    ],
)
def test_no_text_makes_anything_but_values(text):
    with pytest.raises(Unreadable):
        loads(text)


def test_a_value_that_could_not_come_back_is_refused():
    with pytest.raises(TypeError, match="object"):
        dumps([object()])


# In the database ---------------------------------------------------------------------------------


class Harm:
    def __reduce__(self) -> Any:
        return os.putenv, ("HARMED", "yes")


@pytest.mark.django_db
def test_a_pickle_in_the_database_is_not_loaded():
    harm = base64.b64encode(pickle.dumps((Harm(),))).decode()
    computed("name", [1], lambda: 5)
    KeptValue.objects.update(value=harm)

    assert kept("name", [1]) is None
    assert computed("name", [1], lambda: 6) == 6
    assert kept("name", [1]) == (6,)


@pytest.mark.django_db
def test_values_expire_and_are_deleted():
    cache = caches["computed"]
    cache.set("a", 1, 60)
    cache.set("b", 2, 60)
    KeptValue.objects.filter(value="1").update(expires_at=timezone.now() - timedelta(seconds=1))
    assert (cache.get("a"), cache.get("b")) == (None, 2)

    cache._cull()
    assert KeptValue.objects.get().value == "2"


@pytest.mark.django_db
def test_additions_of_several_processes_are_counted():
    cache = caches["computed"]
    assert cache.add("n", 0, 60)
    assert not cache.add("n", 0, 60)
    assert [cache.incr("n"), cache.incr("n", 5)] == [1, 6]
    with pytest.raises(ValueError, match="not found"):
        cache.incr("none")
