"""What the command palette finds: pages of the site and rows of its tables, for who asks.

Rows are read through the admin's own querysets, so that nobody finds what they could not open.
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

PER_KIND = 6
LONGEST = 100
"""Characters of a search; what is typed beyond them is not looked for."""


class Hit(NamedTuple):
    title: str
    where: str
    url: str


class Group(NamedTuple):
    """Hits of one kind; `has_more` where there are more than are shown, at `more_url`."""

    title: str
    hits: list[Hit]
    more_url: str = ""


def found(site: UnfoldAdminSite, request: HttpRequest, words: str) -> list[Group]:
    """What the words find, group by group; without words the pages of the site."""
    words = " ".join(words.split())[:LONGEST]
    pages = [hit for hit in pages_of(site, request) if has_words(hit.title, words)]
    if not words:
        return [Group("Pages", pages)]
    groups = [Group("Pages", pages[:PER_KIND]), *rows_of(site, request, words)]
    return [group for group in groups if group.hits]


def has_words(text: str, words: str) -> bool:
    """Whether each word is in the text, in whichever case."""
    return all(word in text.lower() for word in words.lower().split())


def pages_of(site: UnfoldAdminSite, request: HttpRequest) -> Iterator[Hit]:
    """The items of the sidebar, and pages that the admins of tables name besides."""
    for group in site.get_sidebar_list(request):
        where = str(group.get("title", ""))
        yield from (Hit(item["title"], where, str(item["link"])) for item in group["items"])
    for model_admin in site._registry.values():
        if hasattr(model_admin, "pages_to_find") and model_admin.has_view_permission(request):
            where = str(model_admin.opts.verbose_name_plural).capitalize()
            for title, url in model_admin.pages_to_find(request):
                yield Hit(title, where, url)


def rows_of(site: UnfoldAdminSite, request: HttpRequest, words: str) -> Iterator[Group]:
    """The newest rows that match, at most a few of each table that is searched."""
    for label in settings.SEARCHED:
        model = apps.get_model(label)
        model_admin = site._registry.get(model)
        if model_admin is None or not model_admin.has_view_permission(request):
            continue
        rows = matching(model_admin, request, words)
        hits = [hit_of(model_admin, row) for row in rows[:PER_KIND]]
        title = str(model._meta.verbose_name_plural).capitalize()
        yield Group(title, hits, url_of(model, "changelist") if len(rows) > PER_KIND else "")


def matching(model_admin: ModelAdmin, request: HttpRequest, words: str) -> list[Any]:
    """One row more than is shown, so that it can be told that there are more."""
    readable = model_admin.get_queryset(request).order_by("-pk")
    fields = getattr(model_admin, "found_by", ()) or model_admin.get_search_fields(request)
    condition = Q()
    for word in words.split():
        condition &= reduce(or_, (_says(model_admin.model, field, word) for field in fields), Q())
    keys = readable.order_by().filter(condition).values("pk")
    return list(readable.prefetch_related(None).filter(pk__in=keys)[: PER_KIND + 1])


def _says(model: type[Model], field: str, word: str) -> Q:
    """That a field has the word; `=id` is the row's number, alone or as #12."""
    if field.startswith("="):
        return Q(**{field[1:]: row_number(word.removeprefix("#"))})
    said = Q(**{f"{field}__icontains": word})
    columns = model._meta.fields  # what a queryset adds is none of them
    is_json = any(isinstance(column, JSONField) for column in columns if column.name == field)
    # SQLite keeps JSON with its letters beyond ASCII escaped.
    return said | Q(**{f"{field}__icontains": dumps(word)[1:-1]}) if is_json else said


def hit_of(model_admin: ModelAdmin, row: Any) -> Hit:
    """A row as its admin names it for who looks for it."""
    named = getattr(model_admin, "found_as", None)
    title, where = named(row) if named else (str(row), f"{row._meta.verbose_name} {row.pk}")
    has_page = hasattr(row, "get_absolute_url")
    return Hit(title, where, row.get_absolute_url() if has_page else url_of(row, "change", row.pk))


def url_of(model: Model | type[Model], page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)
