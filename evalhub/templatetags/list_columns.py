from html import escape
from typing import Any

from django import template
from django.contrib.admin.views.main import ChangeList
from django.template.context import Context
from django.utils.safestring import mark_safe

register = template.Library()


@register.inclusion_tag("evalhub/list_columns.html", takes_context=True)
def list_columns(context: Context, changelist: ChangeList) -> dict[str, Any]:
    """Offer the columns of a list to choose from, and hide those that the user does not want."""
    # Tag libraries load together with the admin theme, before the models.
    from evalhub.access.columns import columns_of

    request = context["request"]
    columns = columns_of(changelist, request.user)
    return {
        "boxes": mark_safe("".join(map(_box, columns))) if len(columns) > 1 else "",
        "hidden": [column.name for column in columns if not column.is_shown],
        "model": changelist.model._meta.label_lower,
        "query": request.GET.urlencode(),
        "csrf_token": context.get("csrf_token"),
    }


def _box(column: Any) -> str:
    name, checked = escape(column.name), " checked" if column.is_shown else ""
    box = f'<input type="checkbox" name="shown" value="{name}"{checked}>'
    hidden = f'<input type="hidden" name="column" value="{name}">'
    return f"{hidden}<label>{box} {escape(column.heading)}</label>"
