"""What of a large set of runs is sent, so that it fits what the analyst can read.

The rule: if everything fits, it is sent whole. Otherwise tests are taken in turn, of each issue
its worst first, then of each its second worst, and so on; longer texts are cut; and the tests that
do not fit any more are left out. Figures over all tests are always sent.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

CHARACTERS_PER_TOKEN = 3
"""Fewer than a token of English has, so that other text fits as well."""

REPLY_TOKENS = 900
GRADE_TOKENS = 60
"""What findings take in all, and each grade."""

REPLY_SHARE = 3
"""At most one part in so many of the context is kept for the reply."""

FULL_CONTEXT = 12_000
"""An analyst that reads fewer tokens is asked for less, in fewer words."""

SMALL_ROOM = 24_000
CUT, SHORT_CUT = 1_200, 300
"""Texts are cut to so many characters, and to fewer where the room is small."""

OMITTED = " […] "
PATIENCE = 5
"""So many tests in turn may be too long before no other is tried."""


class TestRank(NamedTuple):
    """A test, its issue, and its mean score over all runs, in [0, 1]; None: not measured."""

    test: int
    issue: int
    mean: float | None


def worst_first(standings: Iterable[TestRank]) -> list[int]:
    """The tests in the order in which they are sent; those without a score come last."""
    by_issue: dict[int, list[TestRank]] = defaultdict(list)
    for standing in sorted(standings, key=_badness):
        by_issue[standing.issue].append(standing)
    in_turn = (
        (turn, standing) for tests in by_issue.values() for turn, standing in enumerate(tests)
    )
    ordered = sorted(in_turn, key=lambda one: (one[1].mean is None, one[0], _badness(one[1])))
    return [standing.test for _, standing in ordered]


def _badness(standing: TestRank) -> tuple[bool, float, int]:
    return standing.mean is None, standing.mean or 0.0, standing.test


def cut(text: str, limit: int | None) -> str:
    """The text; a longer one without its middle. None: there is no limit."""
    if limit is None or len(text) <= limit:
        return text
    head = limit * 3 // 4
    return text[:head] + OMITTED + text[len(text) - (limit - head) :]


def reply_tokens(context_tokens: int, grades: int) -> int:
    """What is kept of the context for a reply with so many grades."""
    return min(context_tokens // REPLY_SHARE, REPLY_TOKENS + GRADE_TOKENS * grades)


def room(context_tokens: int, reply: int, fixed: int) -> int:
    """How many characters of tests fit beside the reply and `fixed` characters; at least 0."""
    return max(0, (context_tokens - reply) * CHARACTERS_PER_TOKEN - fixed)


def limit_of(room: int) -> int:
    """To how many characters each text is cut, where not everything fits."""
    return CUT if room > SMALL_ROOM else SHORT_CUT


class Sized(Protocol):
    @property
    def text(self) -> str: ...


S = TypeVar("S", bound=Sized)


def fitting(sections: Iterable[S], room: int, *, patience: int = PATIENCE) -> Iterator[S]:
    """The sections whose texts fit into so many characters, in their order.

    Those too long are skipped, until so many in turn were that no other is tried.
    """
    missed = 0
    for section in sections:
        if len(section.text) <= room:
            room -= len(section.text)
            missed = 0
            yield section
        elif (missed := missed + 1) >= patience:
            return
