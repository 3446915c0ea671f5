"""Refusals of what somebody asked for: pages and the API show what they say. Pure."""

from collections.abc import Iterable, Sequence


class NotPossible(ValueError):
    """A refusal by the current state; the message says why.

    `problems` lists all reasons. `moves` are the names of what is possible instead; None: not
    known. `field` is what is wrong about the request in place of the state: a field's name, or ""
    for several of them together; None: nothing.
    """

    field: str | None = None
    moves: list[str] | None = None

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = list(problems) or [message]


class Refused(NotPossible):
    """A change that cannot be made now; `problems` lists every reason."""

    def __init__(
        self,
        problems: Sequence[str],
        *,
        field: str | None = None,
        moves: Iterable[str] | None = None,
    ) -> None:
        super().__init__(" ".join(problems), problems)
        self.field = field
        self.moves = None if moves is None else list(moves)
