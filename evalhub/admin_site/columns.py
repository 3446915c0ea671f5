"""The columns of a list that a user hides."""

from collections.abc import Collection
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import label_for_field
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from evalhub.access.models import User

PREFERENCE = "hidden columns"
MOST = 50
"""Columns that a list can hide."""


class Column(NamedTuple):
    name: str
    heading: str
    is_shown: bool


def columns_of(changelist: ChangeList, user: User) -> list[Column]:
    """Return the columns that the user can hide: all but the first."""
    hidden = hidden_columns(user, changelist.model)
    display: list[Any] = [each for each in changelist.list_display if each != "action_checkbox"]
    headings = {
        _name(each): label_for_field(each, changelist.model, changelist.model_admin)
        for each in display[1:]
    }
    return [
        Column(name, capfirst(str(text)), name not in hidden) for name, text in headings.items()
    ]


def hidden_columns(user: User, model: type[Model]) -> frozenset[str]:
    return frozenset(user.preferences.get(PREFERENCE, {}).get(model._meta.label_lower, ()))


def hide_columns(user: User, model: type[Model], names: Collection[str]) -> None:
    chosen = user.preferences.get(PREFERENCE, {})
    user.prefer(**{PREFERENCE: {**chosen, model._meta.label_lower: sorted(names)}})


@require_POST
def columns_view(request: HttpRequest) -> HttpResponse:
    """Save which of a list's columns the user sees, and return to the list.

    Raises:
        Http404: No list is of this model.
    """
    models = {model._meta.label_lower: model for model in apps.get_models()}
    model = models.get(request.POST.get("model", ""))
    if model is None or not admin.site.is_registered(model):
        raise Http404("There is no such list.")
    if not admin.site.get_model_admin(model).has_view_permission(request):
        raise PermissionDenied
    offered = {name for name in request.POST.getlist("column")[:MOST] if name.isidentifier()}
    hide_columns(cast(User, request.user), model, offered - set(request.POST.getlist("shown")))
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return HttpResponseRedirect(f"{address}?{request.POST.get('query', '')}".rstrip("?"))


def _name(column: Any) -> str:
    return column if isinstance(column, str) else str(column.__name__)
