from typing import Any, NamedTuple

from django import template
from django.contrib import admin
from django.db.models import Model
from django.db.models.options import Options
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.text import capfirst

register = template.Library()


class Part(NamedTuple):
    """A part of the heading; one that `is_long` is cut where it does not fit, others never."""

    title: str
    link: str = ""
    is_long: bool = False


@register.inclusion_tag("evalhub/heading.html", takes_context=True)
def heading(context: Context) -> dict[str, list[Part]]:
    """Return the parts of the heading, from the sidebar's entry to the page."""
    row = context.get("original") or context.get("object")
    row = row if isinstance(row, Model) else None
    opts = context.get("opts") or (row._meta if row else None)
    title, act = str(context.get("title") or ""), context.get("crumb")
    link = _link(opts, "changelist") if opts else ""
    entry = _entry(context, link)
    parts = [Part(entry["title"], entry["link"])] if entry else []
    if opts is None:
        return {"parts": _without_repeats([*parts, Part(title, is_long=True)])}
    places = entry["places"] if entry else []
    named = [place["title"] for place in places if place["link"] == link]
    parts.append(Part(named[0] if named else capfirst(plural_name(opts)), link))
    if row:
        parts.append(Part(str(row), _link(opts, "change", row.pk), is_long=True))
    elif "cl" not in context:
        act = act or title
    if act:
        parts.append(Part(str(act), is_long=row is None))
    return {"parts": _without_repeats(parts)}


def _entry(context: Context, link: str) -> dict[str, Any] | None:
    """Return the entry of the sidebar that the page belongs to: that of its list, or the active."""
    groups = context.get("sidebar_navigation") or []
    items = [item for group in groups for item in group["items"]]
    listing = [item for item in items if link and link in [one["link"] for one in item["places"]]]
    found = listing or [item for item in items if item["active"]]
    return max(found, key=lambda item: bool(item["active"]), default=None)


def _without_repeats(parts: list[Part]) -> list[Part]:
    """Leave out an entry that is called as the list or page after it."""
    first, *others = parts
    return others if others and others[0].title == first.title else parts


@register.simple_tag
def plural_name(opts: Options) -> str:
    """Return the plural name of a table's rows, from its admin or model."""
    is_listed = admin.site.is_registered(opts.model)
    own = getattr(admin.site.get_model_admin(opts.model), "rows_name", "") if is_listed else ""
    return str(own or opts.verbose_name_plural)


def _link(opts: Options, page: str, *args: object) -> str:
    try:
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}", args=args)
    except NoReverseMatch:
        return ""
