"""Addresses of report pages with their state."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse


def page_url(key: str, **state: Any) -> str:
    """The address of a report page; None and "" are left out, a row stands for its number."""
    pairs = [(name, part) for name, value in state.items() for part in _parts(value)]
    query = urlencode(pairs)
    return f"{_page_path(key)}?{query}".rstrip("?")


def run_url(run: Model) -> str:
    """The page of a run."""
    return _run_url(run.pk)


def results_url(run: Model, **filters: Any) -> str:
    """Return the address of a run's results, filtered as in `runs.figures.filters`."""
    return f"{run_url(run)}?{urlencode(filters)}#results"


def row_url(name: str, pk: int) -> str:
    """The address of this name of one row, such as its page in the admin."""
    before, after = _row_path(name)
    return f"{before}{pk}{after}"


@lru_cache
def _row_path(name: str) -> tuple[str, str]:
    """What stands before and behind the row's number."""
    before, _, after = reverse(name, args=[PLACE]).partition(str(PLACE))
    return before, after


PLACE = 10**17
"""Stands for a row's number: nothing else in an address looks like it."""


@lru_cache
def _page_path(key: str) -> str:
    """Reversing takes a while, and a table has many links to few pages and runs."""
    return reverse(f"reports:{key}")


@lru_cache(maxsize=1024)
def _run_url(pk: int) -> str:
    return reverse("reports:run", args=[pk])


def _parts(value: Any) -> Iterable[Any]:
    if value is None or value == "" or value is False:
        return []
    if value is True:
        return ["on"]
    if isinstance(value, list | tuple):
        return [part.pk if isinstance(part, Model) else part for part in value]
    return [value.pk if isinstance(value, Model) else value]
