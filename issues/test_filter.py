"""Filters of the tests list, applied apart from its page, by the list's own code."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.http import HttpRequest, QueryDict

from evalhub.access.models import User
from evalhub.access.saved_filters import MAX_QUERY, saved_query
from issues.models import Test
from issues.models.test import TestQuerySet

SEARCH = "q"
READS_TEXTS = {SEARCH, "library"}
"""Parameters by what a test says or its rubric holds."""
NO_FILTERS = ("o", "_facets")
"""Parameters of the list that leave out no test."""
PEOPLE, ME = ("author", "assignee"), "me"
YES_NO = {"1": "yes", "0": "no"}


class FilterRefused(Exception):
    """Why a query does not filter the tests list."""


@dataclass(frozen=True)
class TestFilter:
    """A filter of the tests list.

    Attributes:
        query: Its query string, normalised; the same for every reader.
        words: Its parts, such as "state: approved".
        tests: The tests that match now. `READS_TEXTS` never find sealed ones, whose texts only some
            users may read.
    """

    __test__ = False

    query: str
    words: tuple[str, ...]
    tests: TestQuerySet

    def __str__(self) -> str:
        return ", ".join(self.words)


def read_filter(text: str, *, by: User | None = None) -> TestFilter:
    """Read a query string, or the whole address of the filtered list.

    Args:
        by: The user meant by "me" in it.

    Raises:
        FilterRefused: It filters nothing, is too long, or names what the list does not know.
    """
    query = _normalised(text, by)
    if not query:
        raise FilterRefused("Nothing is filtered: filter the list of tests, then copy its address.")
    if len(query) > MAX_QUERY:
        raise FilterRefused(f"The filter has {len(query)} characters, more than {MAX_QUERY}.")
    changelist = _changelist(query)
    words, unknown = _words(changelist, QueryDict(query))
    if unknown:
        raise FilterRefused(f"The list of tests has no {', '.join(unknown)}.")
    tests: TestQuerySet = changelist.queryset
    if READS_TEXTS & QueryDict(query).keys():
        tests = tests.filter(sealed=False)
    ids = tests.order_by().values("pk")
    return TestFilter(query, tuple(words), Test.objects.filter(pk__in=ids))


def _normalised(text: str, by: User | None) -> str:
    sent = QueryDict(saved_query(text.strip().rpartition("?")[2]), mutable=True)
    for name in NO_FILTERS:
        sent.pop(name, None)
    for name in PEOPLE:
        if by is not None and sent.get(name) == ME:
            sent[name] = str(by.pk)
    return sent.urlencode()


def _changelist(query: str) -> Any:
    """Return the filtered list as somebody sees it who may read every test."""
    admin.autodiscover()  # a worker has no lists yet
    request = HttpRequest()
    request.method, request.GET = "GET", QueryDict(query)
    request.user = User(is_active=True, is_superuser=True)
    try:
        return admin.site.get_model_admin(Test).get_changelist_instance(request)
    except (IncorrectLookupParameters, SuspiciousOperation, ValidationError) as error:
        raise FilterRefused(f"The list of tests has no such filter: {query}.") from error


def _words(changelist: Any, sent: QueryDict) -> tuple[list[str], list[str]]:
    """Return the parts of the filter in words, and those whose value is unknown."""
    words, unknown, named = [], [], {SEARCH}
    for spec in changelist.filter_specs:
        for name in spec.expected_parameters():
            if name not in sent:
                continue
            named.add(name)
            value = sent[name]
            labels = {str(key): str(label) for key, label in _labels(spec)}
            if value in labels:
                words.append(f"{spec.title}: {labels[value]}")
            else:
                unknown.append(f"{spec.title} {value!r}")
    words += [f"text: “{sent[SEARCH]}”"] if SEARCH in sent else []
    unknown += [f"filter {name!r}" for name in sent if name not in named]
    return words, unknown


def _labels(spec: Any) -> list[tuple[Any, Any]]:
    choices = getattr(spec, "lookup_choices", None)
    return list(choices or spec.field.flatchoices or YES_NO.items())
