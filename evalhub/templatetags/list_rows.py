from typing import Any

from django import template
from django.contrib.admin.views.main import ChangeList
from django.template.context import Context
from unfold.templatetags.unfold_list import result_headers

from evalhub.admin_site.list_table import headings_of, rows_of

register = template.Library()


@register.inclusion_tag("evalhub/list_rows.html", takes_context=True)
def list_rows(context: Context, changelist: ChangeList) -> dict[str, Any]:
    headings = list(result_headers(changelist))
    return {
        "cl": changelist,
        "is_popup": context.get("is_popup"),
        "headings": headings_of(headings),
        "rows": list(rows_of(changelist, headings)),
        "has_add_permission": context.get("has_add_permission"),
        "to_field": context.get("to_field"),
    }
