"""Review and approval of issues, which take tests along, and their undo."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import current_user, require
from evalhub.display.formatting import counted
from evalhub.refusals import Refused
from issues.admin.state_pages import StateAdmin
from issues.lifecycle import states
from issues.lifecycle.moves_with_tests import (
    TAKES_TESTS,
    WITH_TESTS_IN,
    movable_counts,
    move_tests_of,
    move_with_tests,
    said_of,
    undo_with_tests,
    undone_text,
)
from issues.lifecycle.states import Move, Moved

VERBS = {"review": "Send {} to review", "approve": "Approve {}"}


class MovesWithTests(StateAdmin):
    """Moves of the issue admin."""

    post_views = {"move_tests": "<int:object_id>/tests/", "undo": "<int:object_id>/undo/"}

    def test_buttons(self, request: HttpRequest, issue: Any) -> list[Button]:
        """Buttons that move the tests of an issue already in review, and the user's own undo."""
        if states.is_merged(issue):
            return []
        user, buttons = current_user(request), []
        if issue.state in WITH_TESTS_IN:
            for name, number in movable_counts(issue, issue.counts, by=user).items():
                if number:
                    label = VERBS[name].format(counted(number, "test"))
                    url = self.url_of("move_tests", issue.pk)
                    buttons.append(Button(label, url, {"move": name}, "primary"))
        versions = issue.history.order_by("-history_date", "-history_id")
        columns = ("state", "history_user", "history_change_reason")
        match list(versions.values_list(*columns)[:2]):
            case [(state, by, reason), (before, *_)] if state != before and by == user.pk:
                name = (reason or "").split(":")[0]
            case _:
                name = ""
        if name not in ("", "Undone"):
            buttons.append(Button(f"Undo “{name}”", self.url_of("undo", issue.pk)))
        return buttons

    def carry_out(self, request: HttpRequest, row: Any, move: Move, data: dict[str, Any]) -> None:
        if move.name not in TAKES_TESTS:
            return super().carry_out(request, row, move, data)
        moved = move_with_tests(row, move.name, by=current_user(request))
        self._say_moved(request, moved, move)
        return None

    def _say_moved(self, request: HttpRequest, moved: Moved, move: Move) -> None:
        """Say which tests went along, and why others did not."""
        if moved.done:
            self.say_done(request, f"{counted(moved.done, 'test')} {move.done}.")
        self.show_refused(request, moved.refused)

    def _move_selected(self, request: HttpRequest, rows: Iterable[Any], name: str) -> None:
        if name not in TAKES_TESTS:
            return super()._move_selected(request, rows, name)
        done, tests, refused = 0, 0, list[str]()
        move = next(move for move in states.ISSUE_MOVES if move.name == name)
        for issue in rows:
            try:
                along = move_with_tests(issue, name, by=current_user(request))
            except Refused as error:
                refused.append(str(error))
                continue
            done, tests = done + 1, tests + along.done
            refused += along.refused
        if done:
            text = f"{counted(done, 'issue')} {move.done}."
            self.say_done(request, text + said_of(Moved(tests, []), move.done))
        self.show_refused(request, refused)
        return None

    def move_tests_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Send an issue's tests to review, or approve them, in one act."""
        issue = self.found(request, object_id)
        name = request.POST.get("move", "")
        needed = {"review": states.CHANGE_TEST, "approve": states.APPROVE_TEST}.get(name)
        require(needed and request.user.has_perm(needed))
        moved = move_tests_of(issue, name, by=current_user(request))
        self._say_moved(request, moved, next(m for m in states.TEST_MOVES if m.name == name))
        return self.back(request, issue)

    def undo_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Undo the user's last move of the issue, and of the tests along with it."""
        issue = self.posted(request, object_id)
        with self.refusals_shown(request):
            name, tests = undo_with_tests(issue, by=current_user(request))
            self.say_done(request, capfirst(undone_text(issue, name, tests)))
        return self.back(request, issue)
