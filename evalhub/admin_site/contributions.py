"""Additions of higher floors to the admin pages of lower floors' models.

An app contributes in its `admin` module, which Django imports before it serves a page.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from django.contrib.admin.options import IS_POPUP_VAR
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.lists import PageChangeList
from evalhub.admin_site.pages import PageAdmin
from evalhub.display.formatting import DASH


class ListColumn(NamedTuple):
    """A text for each row of a list, read for a whole page in one go.

    Attributes:
        name: In the list's HTML, and set on each row: no field of the model may have it.
        after: The column that it follows; the list must show it to all who see this one.
        heading: Returns its heading for this request.
        texts_of: Returns the texts of these rows, by primary key.
    """

    name: str
    after: str
    heading: Callable[[HttpRequest], str]
    texts_of: Callable[[HttpRequest, Sequence[Any]], Mapping[int, str]]


class ShownColumn:
    """A `ListColumn` in the list of one request, as Django's admin calls it."""

    def __init__(self, column: ListColumn, request: HttpRequest) -> None:
        self.column, self.request = column, request
        self.__name__, self.short_description = column.name, column.heading(request)

    def __call__(self, row: Any) -> str:
        return str(getattr(row, self.__name__))

    def texts_of(self, rows: Sequence[Any]) -> Mapping[int, str]:
        return self.column.texts_of(self.request, rows)

    def load(self, rows: Sequence[Any]) -> None:
        texts = self.texts_of(rows)
        for row in rows:
            setattr(row, self.__name__, texts.get(row.pk, DASH))


class PanelPart(NamedTuple):
    buttons: Sequence[Button] = ()
    facts: Sequence[str] = ()


@dataclass(frozen=True)
class Contribution:
    """Additions to a model's list, and to the page of a row.

    Attributes:
        permission: The right without which a user sees nothing of it; its views check their own.
        panel: Returns buttons and facts for the panel above a row's form.
        section: Returns HTML to show below the form, "" for none.
        form_section: The same, and for the form of a new row (None) too.
        views: Further pages below the model's list: route, view of model admin and request, name.
        actions: Functions of model admin, request and queryset, as Django's actions are; offered to
            all with `permission`, whatever `permissions` of their own they declare.
        exports: Returns address, title and use of each further export of the list.
        columns: Further columns of the list.
        filters: Further filters of the list, as in `list_filter`.
    """

    permission: str = ""
    panel: Callable[[HttpRequest, Any], PanelPart] = lambda request, row: PanelPart()
    section: Callable[[HttpRequest, Any], str] = lambda request, row: ""
    form_section: Callable[[HttpRequest, Any], str] = lambda request, row: ""
    views: tuple[tuple[str, Callable[..., HttpResponseBase], str], ...] = ()
    actions: tuple[Callable[..., Any], ...] = ()
    exports: Callable[[HttpRequest, Any], Sequence[tuple[str, str, str]]] = lambda r, admin: ()
    columns: tuple[ListColumn, ...] = ()
    filters: tuple[Any, ...] = ()


_contributions: defaultdict[type[Model], list[Contribution]] = defaultdict(list)


def contribute(contribution: Contribution, *models: type[Model]) -> None:
    for model in models:
        _contributions[model].append(contribution)


class LoadedChangeList(PageChangeList):
    """A list whose further columns are read for all rows of a page at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        rows: list[Any] = list(self.result_list)  # type: ignore[has-type]
        self.load(request, rows)
        self.result_list = rows

    def load(self, request: HttpRequest, rows: Sequence[Any]) -> None:
        """Read for all rows shown what their columns say."""
        for column in self.model_admin.contributed_columns(request):
            column.load(rows)


class ExtensibleListAdmin(PageAdmin):
    """Admin of a model to whose list and panel higher floors contribute."""

    def contributed_columns(self, request: HttpRequest) -> list[ShownColumn]:
        granted = self._granted(request)
        return [ShownColumn(column, request) for each in granted for column in each.columns]

    def _granted(self, request: HttpRequest) -> list[Contribution]:
        return [
            contribution
            for contribution in _contributions[self.model]
            if not contribution.permission or request.user.has_perm(contribution.permission)
        ]

    def contributed_panel(self, request: HttpRequest, row: Any) -> PanelPart:
        parts = [each.panel(request, row) for each in self._granted(request)]
        return PanelPart(
            [button for part in parts for button in part.buttons],
            [fact for part in parts for fact in part.facts],
        )

    def contributed_sections(self, request: HttpRequest, row: Any) -> list[str]:
        """Return HTML to show below the page of a row."""
        return [each.section(request, row) for each in self._granted(request)]

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        shown: list[Any] = list(super().get_list_display(request))
        for shown_column in self.contributed_columns(request):
            names = [getattr(column, "__name__", column) for column in shown]
            shown.insert(names.index(shown_column.column.after) + 1, shown_column)
        return shown

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        contributed = chain(*(each.filters for each in self._granted(request)))
        return [*super().get_list_filter(request), *contributed]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions: dict[str, Any] = super().get_actions(request)
        if IS_POPUP_VAR in request.GET:
            return actions
        functions = chain(*(each.actions for each in self._granted(request)))
        contributed = [self.get_action(function) for function in functions]
        return actions | {name: (function, name, label) for function, name, label in contributed}

    def further_exports(self, request: HttpRequest) -> list[tuple[str, str, str]]:
        return list(chain(*(each.exports(request, self) for each in self._granted(request))))

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PageChangeList]:
        return LoadedChangeList


class ExtensibleAdmin(ExtensibleListAdmin, HistoryAdmin):
    """Admin of a model to whose list and pages higher floors contribute."""

    change_form_outer_after_template = "evalhub/contributed_sections.html"

    def get_urls(self) -> list[URLPattern]:
        views = chain(*(each.views for each in _contributions[self.model]))
        urls = [self.view_path(route, partial(view, self), name) for route, view, name in views]
        return [*urls, *super().get_urls()]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        sections = [each.form_section(request, row) for each in self._granted(request)]
        if row:
            sections += self.contributed_sections(request, row)
        context = {**context, "sections": sections}
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response
