"""Addresses of report pages with their state."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse


def page_url(key: str, **state: Any) -> str:
    """The address of a report page; None and "" are left out, a row stands for its number."""
    pairs = [(name, part) for name, value in state.items() for part in _parts(value)]
    query = urlencode(pairs)
    return f"{reverse(f'reports:{key}')}?{query}".rstrip("?")


def results_url(run: Model, **filters: Any) -> str:
    """The results of a run, on its page: those that the filters of `runs.filters` leave."""
    return f"{reverse('reports:run', args=[run.pk])}?{urlencode(filters)}#results"


def _parts(value: Any) -> Iterable[Any]:
    if value is None or value == "" or value is False:
        return []
    if value is True:
        return ["on"]
    if isinstance(value, list | tuple):
        return [part.pk if isinstance(part, Model) else part for part in value]
    return [value.pk if isinstance(value, Model) else value]
