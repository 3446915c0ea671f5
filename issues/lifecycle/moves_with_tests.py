"""Review and approval of an issue together with its tests, and their undo."""

from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from evalhub.access.models import User
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.display.formatting import counted
from issues.lifecycle.readiness import IssueCounts
from issues.lifecycle.states import Moved, last_move, may, move, move_all, move_named, undo
from issues.models import Issue, IssueState, Test, TestState

TAKES_TESTS = ("review", "approve")
"""Moves of an issue that its tests make along with it."""
WITH_TESTS_IN = (IssueState.IN_REVIEW, IssueState.APPROVED, IssueState.RESOLVED)
"""States of an issue beyond draft, in which its tests are moved without it."""


def _reason(issue: Issue) -> str:
    return f"with issue {issue.pk}"


@transaction.atomic
def move_with_tests(issue: Issue, name: str, *, by: User, reason: str = "") -> Moved:
    """Move an issue, and along with it the tests that can; return the outcome of the tests.

    Raises:
        Refused: The issue cannot be moved; then nothing is.
    """
    move(issue, name, by=by, reason=reason)
    return move_tests_of(issue, name, by=by)


def move_tests_of(issue: Issue, name: str, *, by: User) -> Moved:
    """Move those of an issue's tests that can be; refusals tell which stay, and why."""
    if name not in TAKES_TESTS:
        return Moved(0, [])
    found = movable_tests(issue, name, by=by)
    moved = move_all(found, name, by=by, reason=_reason(issue))
    hidden = issue.tests.exclude(pk__in=Test.objects.readable_by(by).values("pk")).count()
    sealed = f"{counted(hidden, 'sealed test')} not moved: you may not read sealed tests."
    return Moved(moved.done, [*moved.refused, *([sealed] if hidden else [])])


def movable_tests(issue: Issue, name: str, *, by: User) -> Sequence[Test]:
    """Return the issue's tests that this user may read, and move from their present state."""
    tests = issue.tests.readable_by(by).select_related("issue", "template").order_by("pk")
    return [test for test in tests if (step := move_named(test, name)) and may(step, test, by)]


def movable_counts(issue: Issue, counts: IssueCounts, *, by: User) -> dict[str, int]:
    """Return how many tests `movable_tests` finds, by the name of the move.

    Args:
        counts: Of the issue's rows.
    """
    if counts.sealed_tests and not by.has_perm(READ_SEALED):
        found = Counter(issue.tests.readable_by(by).order_by().values_list("state", flat=True))
    else:
        found = Counter({state: counts.tests_in(state) for state in TestState.values})
    rows = [(Test(state=state), number) for state, number in found.items()]
    return {
        name: sum(n for row, n in rows if (step := move_named(row, name)) and may(step, row, by))
        for name in TAKES_TESTS
    }


@transaction.atomic
def undo_with_tests(issue: Issue, *, by: User) -> tuple[str, int]:
    """Undo the user's last move of an issue, and of the tests that it took along.

    A test that was moved again since stays as it is.

    Returns:
        The name of the move, and the number of tests put back.

    Raises:
        Refused: As `states.undo`.
    """
    made, _ = last_move(issue)
    name = undo(issue, by=by)
    label = name.split(":")[0]
    moved = Test.history.filter(
        history_user=by,
        history_date__gte=made.history_date,
        history_change_reason=f"{label}: {_reason(issue)}",
        issue=issue.pk,
    )
    tests = Test.objects.filter(pk__in=moved.values("id")).order_by("pk")
    mine = set(moved.values_list("history_id", flat=True))
    back = [test for test in tests if (last := last_move(test)[0]) and last.history_id in mine]
    for test in back:
        undo(test, by=by)
    return name, len(back)


def said_of(moved: Moved, done: str) -> str:
    """Tell in a sentence how many tests went along; "" for none."""
    return f" {counted(moved.done, 'test')} {done} with it." if moved.done else ""


def undone_text(issue: Issue, name: str, tests: int) -> str:
    state = issue.get_state_display().lower()
    along = f", with {counted(tests, 'test')}" if tests else ""
    return f"“{name}” undone: {issue} is {state} again{along}."
