"""Cards of the board: an issue with its neighbouring states, and the right to move it there."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from issues import states
from issues.models import Issue, IssueState
from issues.states import ISSUE_MOVES, Actor, Move


class Card(NamedTuple):
    """A card; `back` and `on` are the states before and after the issue's, "" for none."""

    issue: Any
    figure: str
    back: str
    on: str
    may_move_back: bool
    may_move_on: bool

    @property
    def move_back_label(self) -> str:
        return IssueState(self.back).label.lower() if self.back else ""

    @property
    def move_on_label(self) -> str:
        return IssueState(self.on).label.lower() if self.on else ""


def move_to(state: str, target: str) -> Move | None:
    """Return the move between two states, None for none."""
    moves = (move for move in ISSUE_MOVES if state in move.rights and move.target == target)
    return next(moves, None)


def neighbour(state: str, step: int) -> str:
    """Return the nearest reachable state before (-1) or after (1), "" for none."""
    order = [str(value) for value in IssueState]
    place = order.index(state)
    others = order[place + 1 :] if step > 0 else order[:place][::-1]
    return next((other for other in others if move_to(state, other)), "")


def cards_of(issues: Sequence[Any], figures: Mapping[int, str], user: Actor) -> Iterator[Card]:
    """Make a card for each issue; `figures` are texts about runs by issue id."""
    for issue in issues:
        back, on = neighbour(issue.state, -1), neighbour(issue.state, 1)
        may_move_back, may_move_on = _may(issue, back, user), _may(issue, on, user)
        yield Card(issue, figures.get(issue.pk, ""), back, on, may_move_back, may_move_on)


def _may(issue: Issue, target: str, user: Actor) -> bool:
    move = move_to(issue.state, target)
    return move is not None and states.may(move, issue, user)


def why_not(issue: Issue, target: str, move: Move | None) -> str:
    """Explain why this user cannot move the issue there."""
    now = issue.get_state_display().lower()
    if issue.merged_into is not None:
        return f"{issue} was merged into {issue.merged_into}. Undo the merge first."
    if move is not None:
        return f"To {move.label.lower()} {issue}, you need the right to approve issues."
    known = target in IssueState.values
    to = IssueState(target).label.lower() if known else "an unknown state"
    leads = " or ".join(m.target.replace("_", " ") for m in ISSUE_MOVES if issue.state in m.rights)
    return f"{issue} cannot move from {now} to {to}. It can move to {leads}."
