"""Search of the command palette: pages of the site and rows of its tables.

Rows come from the admin's own querysets, so that users find only what they can open.
"""

from collections.abc import Iterator
from functools import reduce
from json import dumps
from operator import or_
from typing import Any, NamedTuple

from django.apps import apps
from django.conf import settings
from django.contrib.admin import ModelAdmin
from django.db.models import JSONField, Model, Q
from django.http import HttpRequest
from django.urls import reverse
from unfold.sites import UnfoldAdminSite

from evalhub.admin_site.pages import row_number
from evalhub.limits import PALETTE_ROWS

MAX_SEARCH = 100
"""Characters of a search; the rest is ignored."""


class Hit(NamedTuple):
    title: str
    where: str
    url: str


class Group(NamedTuple):
    """Hits of one kind; `more_url` lists all of them if some are left out."""

    title: str
    hits: list[Hit]
    more_url: str = ""


def found(site: UnfoldAdminSite, request: HttpRequest, words: str) -> list[Group]:
    """Return matches by group; without words, all pages of the site."""
    words = " ".join(words.split())[:MAX_SEARCH]
    pages = [hit for hit in pages_of(site, request) if has_words(f"{hit.title} {hit.where}", words)]
    if not words:
        return [Group("Pages", pages)]
    groups = [Group("Pages", pages[:PALETTE_ROWS]), *rows_of(site, request, words)]
    return [group for group in groups if group.hits]


def has_words(text: str, words: str) -> bool:
    """Return whether the text contains each word, regardless of case."""
    return all(word in text.lower() for word in words.lower().split())


def pages_of(site: UnfoldAdminSite, request: HttpRequest) -> Iterator[Hit]:
    """Yield the entries of the sidebar that have a page, and the places of all, with purpose."""
    for group in site.get_sidebar_list(request):
        for item in group["items"]:
            if item["has_page"]:
                yield Hit(item["title"], "", item["link"])
            yield from (Hit(each["title"], each["about"], each["link"]) for each in item["places"])


def rows_of(site: UnfoldAdminSite, request: HttpRequest, words: str) -> Iterator[Group]:
    for label in settings.SEARCHED:
        model = apps.get_model(label)
        if not site.is_registered(model):
            continue
        model_admin = site.get_model_admin(model)
        if not model_admin.has_view_permission(request):
            continue
        rows = matching(model_admin, request, words)
        hits = [hit_of(model_admin, row) for row in rows[:PALETTE_ROWS]]
        title = str(model._meta.verbose_name_plural).capitalize()
        yield Group(title, hits, url_of(model, "changelist") if len(rows) > PALETTE_ROWS else "")


def matching(model_admin: ModelAdmin, request: HttpRequest, words: str) -> list[Any]:
    """Return matching rows, one more than is shown, to detect that there are more."""
    readable = model_admin.get_queryset(request).order_by("-pk")
    fields = getattr(model_admin, "found_by", ()) or model_admin.get_search_fields(request)
    condition = Q()
    for word in _asked(model_admin.model, words):
        condition &= reduce(
            or_, (_contains(model_admin.model, field, word) for field in fields), Q()
        )
    keys = readable.order_by().filter(condition).values("pk")
    return list(readable.prefetch_related(None).filter(pk__in=keys)[: PALETTE_ROWS + 1])


def _asked(model: type[Model], words: str) -> list[str]:
    """Return the words that a row must have; "result 12" asks for the result of this number."""
    asked = words.split()
    named = [word for word in asked if word.lower() != model._meta.verbose_name]
    return named if len(named) == 1 and row_number(named[0].removeprefix("#")) else asked


def _contains(model: type[Model], field: str, word: str) -> Q:
    """Match a word in a field; `=id` matches the row's number, also as #12."""
    if field.startswith("="):
        return Q(**{field[1:]: row_number(word.removeprefix("#"))})
    plain = Q(**{f"{field}__icontains": word})
    columns = model._meta.fields  # without annotations
    is_json = any(isinstance(column, JSONField) for column in columns if column.name == field)
    # SQLite stores JSON with non-ASCII letters escaped.
    return plain | Q(**{f"{field}__icontains": dumps(word)[1:-1]}) if is_json else plain


def hit_of(model_admin: ModelAdmin, row: Any) -> Hit:
    """Describe a row by its admin's `found_as`, or by its name and number."""
    named = getattr(model_admin, "found_as", None)
    title, where = named(row) if named else (str(row), f"{row._meta.verbose_name} {row.pk}")
    has_page = hasattr(row, "get_absolute_url")
    return Hit(title, where, row.get_absolute_url() if has_page else url_of(row, "change", row.pk))


def url_of(model: Model | type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)
