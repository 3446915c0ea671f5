"""A word that only sealed texts hold is answered like nonsense, by whatever can be asked for one.

Every list of the admin and of the API with each of its filters, every search, every order, for
those who may not read sealed tests. Look-ups that no filter declares: `test_query_leaks`.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from django.contrib import admin
from django.core.cache import caches
from django.db.models import CharField, F, JSONField, TextField
from django.db.models.expressions import OrderBy
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.urls import resolve, reverse

from tests.factories import make_user
from tests.test_access_matrix import addresses as all_addresses
from tests.test_access_matrix import url_of
from tests.test_sealed_everywhere import BARRED, SECRET, clients_of, text_of
from tests.test_sealed_everywhere import rows as sealed_rows

pytestmark = pytest.mark.django_db

rows = sealed_rows
NONSENSE = "wordsealeds"
SEARCHES = {
    "admin:search": "s={}&extended=1",
    "admin:autocomplete": "app_label=runs&model_name=suite&field_name=tests&term={}",
    "admin:issues_issue_board": "q={}",
    "admin:issues_issue_download": "q={}",
    "admin:issues_issue_merge": "q={}",
    "admin:issues_issue_link": "q={}",
    "admin:issues_librarycriterion_download": "q={}",
    "admin:issues_test_download": "q={}",
    "admin:issues_feedback_download": "q={}",
    "admin:issues_feedback_inbox": "q={}",
    "admin:issues_feedback_issues": "q={}",
    "admin:runs_suite_make": "filter=q%3D{}",
    "reports:run": "q={}",
    "reports:run_rows": "q={}",
    "reports:run_csv": "q={}",
    "reports:run_json": "q={}",
    "reports:compare_runs": "find={}",
    "reports:summary": "q={}",
}
"""Addresses that look for words, besides lists. Similarity: `issues/similarity/test_search`."""


@pytest.fixture(autouse=True)
def _is_what_it_shall_be():
    assert len(NONSENSE) == len(SECRET)


def differs(ask: Callable[[str], Any]) -> bool:
    """Whether the planted word is answered in another way than a word that nothing holds.

    Asked twice, as a page may also change by itself.
    """
    caches["default"].clear()  # requests are limited
    return all(bool(ask(SECRET) != ask(NONSENSE)) for _ in range(2))


# Lists of the admin ------------------------------------------------------------------------------


def lists() -> Iterator[tuple[str, Any]]:
    for model, model_admin in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"
        yield reverse(name), model_admin


def rows_at(client: Client, url: str, name: str, word: str) -> Any:
    """The rows that a list finds, or how it refuses."""
    response = client.get(url, {name: word})
    listed = (getattr(response, "context_data", None) or {}).get("cl")
    found = listed and [row.pk for row in listed.result_list]
    return response.status_code, response.headers.get("Location"), found


@pytest.mark.parametrize("who", BARRED)
def test_no_list_of_the_admin_finds_it(who, rows, monkeypatch):
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    client = Client(raise_request_exception=False)
    client.force_login(BARRED[who]())
    tried, told = set(), []
    for url, _ in lists():
        response = client.get(url)
        listed = (getattr(response, "context_data", None) or {}).get("cl")
        if listed is None:
            continue
        names = {name for spec in listed.filter_specs for name in spec.expected_parameters()}
        for name in sorted(names | {"q"}):
            tried.add((url, name))
            if differs(partial(rows_at, client, url, name)):
                told.append(f"{url}?{name}=")

    assert told == []
    assert len(tried) > 60


def test_who_may_read_it_finds_it(rows, monkeypatch):
    """So what the other tests do can find something."""
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    client = Client()
    client.force_login(make_user("superuser"))
    found = {url for url, _ in lists() if differs(partial(rows_at, client, url, "q"))}

    names = ("issues_issue", "issues_test", "issues_feedback", "runs_result", "review_correction")
    assert {reverse(f"admin:{name}_changelist") for name in names} <= found


def test_no_list_of_the_admin_is_ordered_by_a_sealed_text(rows, client, monkeypatch):
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")
    client.force_login(make_user("superuser"))
    by, wrong = 0, []
    for url, model_admin in lists():
        listed = (getattr(client.get(url), "context_data", None) or {}).get("cl")
        for column in listed.list_display if listed else ():
            if order := listed.get_ordering_field(column):
                by += 1
                if is_sealed(model_admin.model, order):
                    wrong.append(f"{url}: {column}")

    assert wrong == []
    assert by > 60


def is_sealed(model: Any, order: Any) -> bool:
    """Whether an order, such as `-issue__title`, is by a text that is sealed."""
    if isinstance(order, OrderBy):
        order = order.expression
    name = order.name if isinstance(order, F) else str(order)
    *steps, last = name.removeprefix("-").split("__")
    for step in steps:
        model = model._meta.get_field(step).related_model
    return last in getattr(model, "sealed_fields", ())


# The API -----------------------------------------------------------------------------------------


def api_lists() -> Iterator[tuple[str, Any]]:
    """Each list of the API, with its view."""
    for address in all_addresses():
        is_list = address.name.startswith("api-") and address.name.endswith("-list")
        if is_list and "GET" in address.methods:
            url = reverse(address.name)
            yield url, resolve(url).func.cls


def body_at(client: Any, url: str, name: str, word: str) -> Any:
    response = client.get(url, {name: word})
    return response.status_code, response.content.decode().replace(word, "")


@pytest.mark.parametrize("who", BARRED)
def test_no_filter_of_the_api_finds_it(who, rows):
    _, script = clients_of(BARRED[who]())
    tried, told = 0, []
    for url, view in api_lists():
        if script.get(url).status_code == 403:
            continue
        filterset = getattr(view, "filterset_class", None)
        for name in filterset.base_filters if filterset else ():
            tried += 1
            if differs(partial(body_at, script, url, name)):
                told.append(f"{url}?{name}=")

    assert told == []
    assert tried > 60


def test_the_api_filters_and_orders_by_no_text_that_it_does_not_declare(rows):
    """Each column of each list, by a person who may read everything."""
    _, script = clients_of(make_user("superuser"))
    tried, wrong = 0, []
    for url, view in api_lists():
        model = getattr(getattr(view, "queryset", None), "model", None)
        filterset = getattr(view, "filterset_class", None)
        declared = set(filterset.base_filters) if filterset else set()
        orders = {*(getattr(view, "ordering_fields", None) or ()), "id"}
        if model is None:
            continue
        wrong += [f"{url} is ordered by {name}" for name in orders if is_sealed(model, name)]
        for field in model._meta.concrete_fields:
            if not isinstance(field, (CharField, TextField, JSONField)):
                continue
            tried += 1
            caches["default"].clear()
            lookups = [field.name] * (field.name not in declared)
            lookups += [f"{field.name}__{how}" for how in ("startswith", "gt", "regex")]
            lookups += ["ordering"] * (field.name not in orders)
            for name in lookups:
                value = field.name if name == "ordering" else SECRET
                if script.get(url, {name: value}).status_code != 400:
                    wrong.append(f"{url}?{name}={value}")

    assert wrong == []
    assert tried > 80


# Searches ----------------------------------------------------------------------------------------


def said_at(client: Any, url: str, query: str, word: str) -> str:
    text = text_of(client.get(f"{url}?{query.format(word)}"))
    text = re.sub(r'nonce="[^"]*"|csrf[^>]*|"\d+\.\d+(e-\d+)? (s|seconds|ms)"', "", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "", text)
    return text.replace(word, "").replace(json.dumps(word), "")


@pytest.mark.parametrize("who", BARRED)
def test_no_search_tells_it(who, rows):
    browser, script = clients_of(BARRED[who]())
    told = []
    for address in all_addresses():
        if query := SEARCHES.get(address.name):
            url = url_of(address, rows)
            client = script if url.startswith("/api/") else browser
            if differs(partial(said_at, client, url, query)):
                told.append(address.name)

    assert told == []


def test_every_search_is_among_them():
    names = {address.name for address in all_addresses()}
    searches = {name for name in names if re.search(r":search|_download|autocomplete|_rows", name)}
    of_lists = {name for name in searches if name.startswith(("admin:issues", "admin:search"))}

    assert of_lists <= SEARCHES.keys() <= names
