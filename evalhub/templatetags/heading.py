from typing import NamedTuple

from django import template
from django.contrib import admin
from django.db.models import Model
from django.db.models.options import Options
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.text import capfirst

register = template.Library()


class Part(NamedTuple):
    title: str
    link: str = ""


@register.inclusion_tag("evalhub/heading.html", takes_context=True)
def heading(context: Context) -> dict[str, list[Part]]:
    """Return the parts of the heading, from the section to the page."""
    row = context.get("original") or context.get("object")
    row = row if isinstance(row, Model) else None
    opts = context.get("opts") or (row._meta if row else None)
    title, act = context.get("title"), context.get("crumb")
    if opts is None:
        return {"parts": [Part(str(title or ""))]}
    section = str(_admin_text(opts, "section") or opts.app_config.verbose_name)
    parts = [Part(section), Part(capfirst(rows_of(opts)), _link(opts, "changelist"))]
    if row:
        parts.append(Part(str(row), _link(opts, "change", row.pk)))
    elif "cl" not in context:
        act = act or title
    return {"parts": [*parts, Part(str(act))] if act else parts}


@register.simple_tag(name="rows_of")
def rows_of(opts: Options) -> str:
    """Return the plural name of a table's rows, from its admin or model."""
    return str(_admin_text(opts, "rows") or opts.verbose_name_plural)


def _admin_text(opts: Options, name: str) -> str:
    return getattr(admin.site._registry.get(opts.model), name, "")


def _link(opts: Options, page: str, *args: object) -> str:
    try:
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}", args=args)
    except NoReverseMatch:
        return ""
