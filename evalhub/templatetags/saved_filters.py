from typing import Any

from django import template
from django.template.context import Context

register = template.Library()


@register.inclusion_tag("evalhub/saved_filters.html", takes_context=True)
def saved_filters(context: Context) -> dict[str, Any]:
    # Tag libraries load together with the admin theme, before the models.
    from evalhub.access.saved_filter_views import shown_on

    request = context["request"]
    return {"shown": shown_on(request), "csrf_token": context.get("csrf_token")}
