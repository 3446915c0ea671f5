"""Shared by the pages of issues and tests: the panel with the state, and its moves."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.text import capfirst

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import ExtensibleAdmin
from evalhub.admin_site.pages import current_user
from issues import states
from issues.admin.badges import badge_of
from issues.states import HasState, Move, Refused

KINDS = {"approve": "primary", "review": "primary", "deprecate": "danger"}

REFUSED_SHOWN = 20
"""Number of refusals listed after an action on several rows."""


class StateAdmin(ExtensibleAdmin):
    """Rows whose state changes by moves, each a button."""

    change_form_outer_before_template = "issues/state_panel.html"
    instead_of_deleting = "Deprecate it instead: it stays readable and is left out of new runs."

    def get_urls(self) -> list[URLPattern]:
        return [
            self.view_path("<int:object_id>/move/", self.move_view, "move"),
            *super().get_urls(),
        ]

    # The panel -----------------------------------------------------------------------------------

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        row = kwargs.get("obj")
        panel = self.panel(request, row) if row is not None else None
        return super().render_change_form(request, {**context, "panel": panel}, *args, **kwargs)

    def panel(self, request: HttpRequest, row: HasState) -> dict[str, Any]:
        """Return state, moves and problems for `issues/state_panel.html`."""
        contributed = self.contributed_panel(request, row)
        own = self.acts(request, row)
        return {
            "state": row.get_state_display(),
            "badge": badge_of(row.state),
            "facts": [*self.facts(row), *contributed.facts],
            "acts": [*own, *contributed.buttons, *self._moves(request, row)],
            "problems": [] if states.is_merged(row) else states.problems_of(row),
            "problems_title": "Missing for review:",
        }

    def facts(self, row: HasState) -> list[str]:
        return []

    def acts(self, request: HttpRequest, row: HasState) -> list[Button]:
        """Return the buttons besides the moves."""
        return []

    def _moves(self, request: HttpRequest, row: HasState) -> list[Button]:
        url = self.url_of("move", row.pk)
        return [self._button(move, url) for move in states.open_moves(row, request.user)]

    def _button(self, move: Move, url: str) -> Button:
        kind = KINDS.get(move.name, "")
        if move.confirmed:
            return Button(f"{move.label} …", f"{url}?move={move.name}", kind=kind, is_link=True)
        return Button(move.label, url, {"move": move.name}, kind)

    # Moving one ----------------------------------------------------------------------------------

    def move_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Make a move (POST) or ask for confirmation (GET)."""
        row = self.found(request, object_id)
        asked = request.POST if request.method == "POST" else request.GET
        move = states.move_named(row, asked.get("move", ""))
        if move is None:
            raise Http404(f"There is no change of state called {asked.get('move')!r}.")
        if not self._has_right(request, row, move):
            raise PermissionDenied
        if row.state in move.rights and self._needs_confirmation(request, move):
            return self.ask(request, row, move)
        self._make(request, row, move)
        return self.back(request, row)

    def ask(self, request: HttpRequest, row: Any, move: Move) -> HttpResponse:
        """Page to confirm a move."""
        form = self.confirmation_form(request, row, move)
        if request.method == "POST" and form.is_valid():
            self._make(request, row, move, form.cleaned_data)
            return self.back(request, row)
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

    def _needs_confirmation(self, request: HttpRequest, move: Move) -> bool:
        return move.confirmed or request.method != "POST"

    def _has_right(self, request: HttpRequest, row: HasState, move: Move) -> bool:
        """Check the right for the move; for an impossible one, any of its rights will do."""
        rights = set(move.rights.values())
        needed = {move.rights[row.state]} if row.state in move.rights else rights
        return any(request.user.has_perm(right) for right in needed)

    def _make(
        self, request: HttpRequest, row: Any, move: Move, data: dict[str, Any] | None = None
    ) -> None:
        try:
            self.carry_out(request, row, move, data or {})
        except Refused as error:
            self.say(request, *error.problems)
            return
        self.message_user(request, f"{capfirst(str(row))} is {move.done}.", messages.SUCCESS)

    # Moving several ------------------------------------------------------------------------------

    def move_selected(self, request: HttpRequest, rows: Iterable[Any], name: str) -> None:
        moved = states.move_all(rows, name, by=current_user(request))
        label = (
            (self.model._meta.verbose_name_plural or "rows")
            if moved.done != 1
            else (self.model._meta.verbose_name or "row")
        )
        done = next(m.done for m in self._all_moves() if m.name == name)
        if moved.done:
            self.message_user(request, f"{moved.done} {label} {done}.", messages.SUCCESS)
        self.report_refused(request, moved.refused)

    def report_refused(self, request: HttpRequest, refused: list[str]) -> None:
        for problem in refused[:REFUSED_SHOWN]:
            self.message_user(request, problem, messages.WARNING)
        if len(refused) > REFUSED_SHOWN:
            more = f"{len(refused) - REFUSED_SHOWN} more could not be changed."
            self.message_user(request, more, messages.WARNING)

    def _all_moves(self) -> tuple[Move, ...]:
        return states.moves_of(self.model())

    def confirm_selected(
        self, request: HttpRequest, rows: QuerySet[Any], name: str, sentence: str
    ) -> HttpResponse | None:
        """Ask for confirmation before moving the selected rows; None once moved."""
        if request.POST.get("post") == "yes":
            self.move_selected(request, rows, name)
            return None
        hidden = [("action", name), ("post", "yes")]
        hidden += [(ACTION_CHECKBOX_NAME, str(row.pk)) for row in rows]
        label = next(m.label for m in self._all_moves() if m.name == name)
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"{label}: {rows.count()}",
            sentences=[sentence],
            rows=[str(row) for row in rows[:50]],
            hidden=hidden,
            button=label,
            danger=True,
            back_url=self.url_of("changelist"),
        )
