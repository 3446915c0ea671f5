"""The saved filters of the list that is shown."""

from typing import Any

from django import template
from django.template.context import Context

register = template.Library()


@register.inclusion_tag("evalhub/saved_filters.html", takes_context=True)
def saved_filters(context: Context) -> dict[str, Any]:
    # Libraries of tags are loaded while the admin theme itself is.
    from evalhub.access.saved_filter_views import shown_on

    request = context["request"]
    return {"shown": shown_on(request), "csrf_token": context.get("csrf_token")}
