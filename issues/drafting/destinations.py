"""Places that accepted drafts go to instead of becoming tests of the batch's issue.

Higher floors contribute them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from evalhub.access.models import User
from evalhub.models import LanguageModel
from issues.models import Draft, Generation, Test


class Destination(Protocol):
    """A place for drafts. `parameter` names it and `pk` is its number in the form's address."""

    parameter: str

    @property
    def pk(self) -> int: ...

    @property
    def test(self) -> Test | None:
        """The test whose text it shows, and so the drafts' calls."""

    @property
    def initial(self) -> Mapping[str, Any]:
        """First values of the form."""

    def get_absolute_url(self) -> str: ...

    def conflicts(self, generator: LanguageModel) -> Iterable[str]:
        """Say why the generator is not independent; a person can overrule it."""

    def started(self, generation: Generation) -> None:
        """Keep that the drafts of this batch come here."""

    def take(self, draft: Draft, expected: str, *, by: User) -> None:
        """Take an accepted draft with what a person expects, "" for nothing; raises `Refused`."""

    def give_back(self, draft: Draft, *, by: User) -> None:
        """Undo that; raises `Refused` if it was changed or used since."""


class DestinationKind(NamedTuple):
    """`found` returns the one with this number that a user may change, `of` that of a batch."""

    parameter: str
    found: Callable[[int, User], Destination | None]
    of: Callable[[Generation], Destination | None]


_kinds: list[DestinationKind] = []


def contribute_destination(kind: DestinationKind) -> None:
    _kinds.append(kind)


def destination_kinds() -> tuple[DestinationKind, ...]:
    return tuple(_kinds)


def destination_of(generation: Generation) -> Destination | None:
    """Return where a batch's accepted drafts go; None: they become tests of its issue."""
    return next((found for kind in _kinds if (found := kind.of(generation))), None)
