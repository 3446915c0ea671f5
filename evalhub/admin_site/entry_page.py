"""The page of an entry of the sidebar: what it leads to, by topic."""

from collections import defaultdict
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse


def entry_page(request: HttpRequest) -> HttpResponse:
    """List the places of the entry with this address, for those who may open any."""
    context = admin.site.each_context(request)
    items = [item for group in context["sidebar_navigation"] for item in group["items"]]
    entry = next((item for item in items if item["link"] == request.path), None)
    if entry is None:
        raise PermissionDenied
    topics: dict[str, list[Any]] = defaultdict(list)
    for place in entry["places"]:
        topics[place["topic"]].append(place)
    shown = {**context, "title": entry["title"], "topics": dict(topics)}
    return TemplateResponse(request, "evalhub/entry.html", shown)
