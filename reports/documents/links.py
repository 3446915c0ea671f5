"""Addresses of report pages with their filters."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from evalhub.work.models import Batch


def page_url(key: str, **state: Any) -> str:
    """Return the address of a report page; None and "" are left out, a model row gives its ID."""
    pairs = [(name, part) for name, value in state.items() for part in _parts(value)]
    return f"{_page_path(key)}?{urlencode(pairs)}".rstrip("?")


def run_url(run: Model) -> str:
    """Return the address of a run's page."""
    return row_url("reports:run", run.pk)


def results_url(run: Model, **filters: Any) -> str:
    """Return the address of a run's results, filtered as in `runs.result_list.filters`."""
    return results_urls([run], **filters)[0]


def results_urls(runs: Iterable[Model], **filters: Any) -> list[str]:
    """Return the address of the results of each run, with the same filters."""
    query = urlencode(filters)
    return [f"{run_url(run)}?{query}#results" for run in runs]


def calls_url(batches: Iterable[Batch], **filters: Any) -> str:
    """Return the address of the calls that these batches made, in the call log."""
    query = {"batch__in": ",".join(one.work_key for one in batches), **filters}
    return f"{reverse('admin:evalhub_call_changelist')}?{urlencode(query)}"


def row_url(name: str, pk: int) -> str:
    """Return the address with this URL name of a row, such as its admin page."""
    before, after = _row_path(name)
    return f"{before}{pk}{after}"


@lru_cache
def _row_path(name: str) -> tuple[str, str]:
    """Return the parts of an address before and after the row's ID."""
    before, _, after = reverse(name, args=[PLACE]).partition(str(PLACE))
    return before, after


PLACE = 10**17
"""Placeholder of a row's ID: nothing else in an address looks like it."""


@lru_cache
def _page_path(key: str) -> str:
    """Cache the address: reversing is slow, and a table has many links to few pages."""
    return reverse(f"reports:{key}")


def _parts(value: Any) -> Iterable[Any]:
    if value is None or value == "" or value is False:
        return []
    if value is True:
        return ["on"]
    parts = value if isinstance(value, list | tuple) else [value]
    return [part.pk if isinstance(part, Model) else part for part in parts]
