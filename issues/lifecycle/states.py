"""State machine of issues and tests: moves, their rights, and making them.

Callers check `may` before `move`; impossible moves are refused with a reason.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.lifecycle.readiness import problems_of_issue, problems_of_test
from issues.models import Issue, IssueState, ResolutionLabel, Test, TestState

T = TypeVar("T")

Actor = User | AnonymousUser
HasState = Issue | Test

CHANGE_ISSUE, APPROVE_ISSUE = "issues.change_issue", "issues.approve_issue"
CHANGE_TEST, APPROVE_TEST = "issues.change_test", "issues.approve_test"

MAX_REASON = 100
"""Maximum length of a reason in the history."""

HISTORY_READ = 50
"""Versions searched for a row's last change of state."""


def check(row: Model) -> None:
    """Raise Refused with what the row's own rules say against saving it."""
    try:
        row.clean()
    except ValidationError as error:
        raise Refused(error.messages) from None


@dataclass(frozen=True)
class Move:
    """A change of state.

    `rights` maps each possible start to the required right. A move that requires `readiness` is
    refused while the row has problems.
    """

    name: str
    label: str
    done: str
    rights: dict[str, str]
    target: str
    readiness: bool = False
    confirmed: bool = False


def _moves(change: str, approve: str) -> tuple[Move, ...]:
    """Return the moves with these rights; tests have the states of issues except resolved."""
    draft, in_review, approved, resolved, deprecated = IssueState
    starts: dict[str, str] = dict.fromkeys((draft, in_review, approved, resolved), approve)
    back: dict[str, str] = {in_review: change, approved: approve, deprecated: approve}
    return (
        Move(
            "review",
            "Send to review",
            "sent to review",
            {draft: change},
            in_review,
            readiness=True,
        ),
        Move(
            "approve",
            "Approve",
            "approved",
            {draft: approve, in_review: approve},
            approved,
            readiness=True,
        ),
        Move(
            "resolve",
            "Resolve",
            "resolved",
            {approved: approve},
            resolved,
            readiness=True,
            confirmed=True,
        ),
        Move("reopen", "Reopen", "reopened", {resolved: approve}, approved, readiness=True),
        Move("draft", "Back to draft", "put back to draft", back, draft),
        Move("deprecate", "Deprecate", "deprecated", starts, deprecated, confirmed=True),
    )


ISSUE_MOVES = _moves(CHANGE_ISSUE, APPROVE_ISSUE)
TEST_MOVES = tuple(
    move for move in _moves(CHANGE_TEST, APPROVE_TEST) if move.name not in ("resolve", "reopen")
)


def moves_of(row: HasState) -> tuple[Move, ...]:
    return ISSUE_MOVES if isinstance(row, Issue) else TEST_MOVES


def move_named(row: HasState, name: str) -> Move | None:
    return next((move for move in moves_of(row) if move.name == name), None)


def may(move: Move, row: HasState, user: Actor) -> bool:
    """Return True if the user may make the move from the row's present state."""
    right = move.rights.get(row.state)
    return right is not None and not is_merged(row) and user.has_perm(right)


def is_merged(row: HasState) -> bool:
    """Return True for a merged issue, which keeps its state until the merge is undone."""
    return isinstance(row, Issue) and row.merged_into_id is not None


def open_moves(row: HasState, user: Actor | None) -> list[Move]:
    """Return the moves that the user may make now; for None, all that the state allows."""
    if user is None:
        return [move for move in moves_of(row) if row.state in move.rights and not is_merged(row)]
    return [move for move in moves_of(row) if may(move, row, user)]


def problems_of(row: HasState) -> list[str]:
    """List the problems that block review."""
    return problems_of_issue(row) if isinstance(row, Issue) else problems_of_test(row)


def move(row: HasState, name: str, *, by: User | None, reason: str = "") -> None:
    """Change the row's state, with an optional reason in its history.

    Raises:
        Refused: The move is impossible from the present state, or the row has problems.
    """
    _move(row, name, by, {}, reason)


@transaction.atomic
def resolve(issue: Issue, *, labels: Iterable[ResolutionLabel], note: str, by: User | None) -> None:
    """Resolve an issue with labels or a note.

    Raises:
        Refused: As `move`, or both labels and note are missing.
    """
    labels = list(labels)
    if not labels and not note.strip():
        raise Refused(["Choose a label or write a note about the resolution."], field="note")
    _move(issue, "resolve", by, {"resolution_note": note.strip()})
    issue._history_user = by  # type: ignore[attr-defined]
    issue.resolution_labels.set(labels)


@transaction.atomic
def _move(
    row: HasState, name: str, by: User | None, changes: dict[str, str], reason: str = ""
) -> None:
    """Make the move on the locked row, together with other changes."""
    current = type(row).objects.select_for_update().get(pk=row.pk)
    found = move_named(current, name)
    if found is None or current.state not in found.rights:
        label = found.label if found else name
        state = current.get_state_display().lower()
        possible = open_moves(current, by)
        instead = " or ".join(f"“{one.label}”" for one in possible) or "nothing"
        problem = f"“{label}” is not possible: {row} is {state}. Possible: {instead}."
        raise Refused([problem], moves=[one.name for one in possible])
    if isinstance(current, Issue) and current.merged_into is not None:
        raise Refused([f"{row} was merged into {current.merged_into}. Undo the merge first."])
    if found.readiness and (problems := problems_of(current)):
        raise Refused([f"{row} cannot be {found.done} yet.", *problems])
    for field, value in {**changes, "state": found.target}.items():
        setattr(current, field, value)
        setattr(row, field, value)
    signed = f"{found.label}: {reason}" if reason else found.label
    save_signed(current, by, signed[:MAX_REASON])


@transaction.atomic
def undo(row: HasState, *, by: User) -> str:
    """Undo the last change of state if this user made it; return its name.

    Raises:
        Refused: The state was never changed, or somebody else changed it.
    """
    current = type(row).objects.select_for_update().get(pk=row.pk)
    made, before = last_move(current)
    if made is None or is_merged(current):
        raise Refused([f"{row} has no change of state to undo."])
    if made.history_user_id != by.pk:
        who = made.history_user or "the system"
        raise Refused([f"{who} made the last change of state. Use a move instead of Undo."])
    current.state = row.state = before.state
    save_signed(current, by, "Undone: " + (made.history_change_reason or "")[: MAX_REASON - 8])
    return str(made.history_change_reason or "the move")


def last_move(row: HasState) -> tuple[Any, Any]:
    """Return the version with the last change of state and the one before; None for none."""
    newer = None
    for version in row.history.order_by("-history_date", "-history_id")[:HISTORY_READ]:
        if newer is not None and version.state != newer.state:
            return newer, version
        newer = version
    return None, None


class Moved(NamedTuple):
    """Outcome of moving several rows: how many moved, and the reasons for refusals."""

    done: int
    refused: list[str]


def each(rows: Iterable[T], act: Callable[[T], object]) -> Moved:
    """Do the same to each row if possible, saving each by itself."""
    done, refused = 0, []
    for row in rows:
        try:
            act(row)
            done += 1
        except Refused as error:
            refused.append(str(error))
    return Moved(done, refused)


def move_all(rows: Iterable[HasState], name: str, *, by: User | None, reason: str = "") -> Moved:
    """Make the same move for each row if possible; a refused row stays as it is.

    The others are moved all the same, each saved by itself.
    """
    return each(rows, lambda row: move(row, name, by=by, reason=reason))


def review_again(test: Test, by: Actor) -> bool:
    """Send an approved test back to review if its editor may not approve; return True if sent.

    Call it with the edited row before saving, so that nothing runs unapproved.
    """
    if test.state != TestState.APPROVED or by.has_perm(APPROVE_TEST):
        return False
    test.state = TestState.IN_REVIEW
    return True
