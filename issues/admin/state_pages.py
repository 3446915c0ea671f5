"""Pages of rows with a state: the panel, and for issues and tests the moves."""

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.timezone import localtime
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import ExtensibleAdmin
from evalhub.admin_site.list_download import DownloadedListAdmin
from evalhub.admin_site.pages import current_user, require
from issues.admin.badges import COLOURS, badge_of
from issues.lifecycle import states
from issues.lifecycle.states import HasState, Move
from issues.models import CommentFields

KINDS = {"approve": "primary", "review": "primary", "deprecate": "danger"}

REFUSED_SHOWN = 20
"""Number of refusals listed after an action on several rows."""


@lru_cache(maxsize=1000)
def _day(day: date) -> str:
    """Write a day; many rows of a list were changed on the same few."""
    return date_format(day)


class PanelAdmin(ExtensibleAdmin):
    """Rows with a state, whose pages begin with a panel."""

    change_form_outer_before_template = "issues/state_panel.html"

    @display(description="state", ordering="state", label=COLOURS)
    def state_label(self, row: Any) -> tuple[str, str]:
        return row.state, row.get_state_display()

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {**super().row_context(request, row), "panel": self.panel(request, row)}

    def panel(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return the context of `issues/state_panel.html`."""
        contributed = self.contributed_panel(request, row)
        return {
            "state": row.get_state_display(),
            "badge": badge_of(row.state),
            "facts": [*self.facts(row), *contributed.facts],
            "buttons": [*self.buttons(request, row), *contributed.buttons],
        }

    def facts(self, row: Any) -> list[str]:
        return []

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        return []


class StateAdmin(DownloadedListAdmin, PanelAdmin):
    """Rows whose state changes by moves, each a button on a row's page and an action of the list.

    Attributes:
        approve_right: The right to approve and deprecate selected rows.
        deprecation: Consequence of deprecating the selected rows.
    """

    instead_of_deleting = "Deprecate it instead: it stays readable and is left out of new runs."
    approve_right = ""
    deprecation = ""
    actions: Any = ("send_to_review", "approve", "deprecate")
    views = {"move": "<int:object_id>/move/"}

    @display(description="changed", ordering="updated_at")
    def changed(self, row: Any) -> str:
        return _day(localtime(row.updated_at).date())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.author = current_user(request)
        super().save_model(request, obj, form, change)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        if issubclass(formset.model, CommentFields):
            for row in formset.save(commit=False):
                row.author = current_user(request)
        super().save_formset(request, form, formset, change)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context = {**context, "show_save_and_continue": False}
        return super().render_change_form(request, context, *args, **kwargs)

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Stay on the row's page, where the next step is."""
        return self.back(request, obj)

    response_post_save_change = response_post_save_add

    def panel(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        panel = super().panel(request, row)
        moves = [self._button(move, row) for move in states.open_moves(row, request.user)]
        problems = [] if states.is_merged(row) else self.problems_of(row)
        return {**panel, "buttons": [*panel["buttons"], *moves], "problems": problems}

    def problems_of(self, row: Any) -> list[str]:
        return states.problems_of(row)

    def _button(self, move: Move, row: HasState) -> Button:
        url, kind = self.url_of("move", row.pk), KINDS.get(move.name, "")
        if move.confirmed:
            return Button(f"{move.label} …", f"{url}?move={move.name}", kind=kind, is_link=True)
        return Button(move.label, url, {"move": move.name}, kind)

    def move_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Make a move (POST) or ask for confirmation (GET)."""
        row = self.found(request, object_id)
        name = (request.POST if request.method == "POST" else request.GET).get("move", "")
        move = states.move_named(row, name)
        if move is None:
            raise Http404(f"There is no change of state called {name!r}.")
        # For an impossible move, any of its rights will do: the refusal says why.
        needed = [move.rights[row.state]] if row.state in move.rights else move.rights.values()
        require(any(request.user.has_perm(right) for right in needed))
        data: dict[str, Any] = {}
        if row.state in move.rights and (move.confirmed or request.method != "POST"):
            form = self.confirmation_form(request, row, move)
            if request.method != "POST" or not form.is_valid():
                return self._confirmation(request, row, move, form)
            data = form.cleaned_data
        with self.refusals_shown(request):
            self.carry_out(request, row, move, data)
            self.say_done(request, f"{capfirst(str(row))} is {move.done}.")
        return self.back(request, row)

    def _confirmation(
        self, request: HttpRequest, row: Any, move: Move, form: forms.Form
    ) -> HttpResponse:
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"{move.label}: {row}",
            sentences=self.consequences(row, move),
            form=form,
            hidden=[("move", move.name)],
            button=move.label,
            danger=KINDS.get(move.name) == "danger",
            back_url=self.url_of("change", row.pk),
        )

    def confirmation_form(self, request: HttpRequest, row: Any, move: Move) -> forms.Form:
        """Return the form of a move's details, without fields by default."""
        return forms.Form(request.POST or None)

    def consequences(self, row: Any, move: Move) -> list[str]:
        return [f"{capfirst(str(row))} will be {move.done}."]

    def carry_out(self, request: HttpRequest, row: Any, move: Move, data: dict[str, Any]) -> None:
        states.move(row, move.name, by=current_user(request))

    def has_approve_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(self.approve_right))

    @admin.action(permissions=["change"], description="Send to review")
    def send_to_review(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._move_selected(request, queryset, "review")

    @admin.action(permissions=["approve"], description="Approve")
    def approve(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._move_selected(request, queryset, "approve")

    @admin.action(permissions=["approve"], description="Deprecate …")
    def deprecate(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        if request.POST.get("post") == "yes":
            self._move_selected(request, queryset, "deprecate")
            return None
        return self.action_page(
            request,
            "deprecate",
            queryset,
            title=f"Deprecate: {queryset.count()}",
            sentences=[self.deprecation],
            rows=queryset[:50],
            hidden=[("post", "yes")],
            button="Deprecate",
            danger=True,
        )

    def _move_selected(self, request: HttpRequest, rows: Iterable[Any], name: str) -> None:
        """Move those rows that may be moved, and show why the others may not."""
        moved = states.move_all(rows, name, by=current_user(request))
        if moved.done:
            names = (self.opts.verbose_name, self.opts.verbose_name_plural)
            done = next(move.done for move in states.moves_of(self.model()) if move.name == name)
            self.say_done(request, f"{moved.done} {names[moved.done != 1]} {done}.")
        self.show_refused(request, moved.refused)

    def show_refused(self, request: HttpRequest, refused: list[str]) -> None:
        shown = refused[:REFUSED_SHOWN]
        if more := len(refused) - len(shown):
            shown.append(f"{more} more could not be changed.")
        for problem in shown:
            self.message_user(request, problem, messages.WARNING)
