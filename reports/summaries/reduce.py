"""Reduce a large set of runs to fit the analyst's context.

The rule: if everything fits, it is sent whole. Otherwise tests are taken in turn, of each issue
its worst first, then of each its second worst, and so on; longer texts are cut; and the tests that
do not fit any more are left out. Figures over all tests are always sent.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeVar

CHARACTERS_PER_TOKEN = 3
"""Characters per token, fewer than in English, so that other text fits as well."""

REPLY_TOKENS = 900
GRADE_TOKENS = 60
"""Tokens of all findings, and of each grade."""

REPLY_SHARE = 3
"""The reply is reserved at most one part in this many of the context."""

FULL_CONTEXT = 12_000
"""With a smaller context the analyst gets a shorter prompt."""

SMALL_ROOM = 24_000
CUT, SHORT_CUT = 1_200, 300
"""Characters to which texts are cut, fewer if space is short."""

OMITTED = " […] "
PATIENCE = 5
"""Tests in a row that may be too long before selection stops."""


class RankedTest(NamedTuple):
    """A test, its issue, and its mean score over all runs, in [0, 1]; None: not measured."""

    test: int
    issue: int
    mean: float | None


def worst_first(ranks: Iterable[RankedTest]) -> list[int]:
    """Order the tests for sending; those without a score come last."""
    by_issue: dict[int, list[RankedTest]] = defaultdict(list)
    for rank in sorted(ranks, key=_badness):
        by_issue[rank.issue].append(rank)
    in_turn = ((turn, rank) for tests in by_issue.values() for turn, rank in enumerate(tests))
    ordered = sorted(in_turn, key=lambda one: (one[1].mean is None, one[0], _badness(one[1])))
    return [rank.test for _, rank in ordered]


def _badness(rank: RankedTest) -> tuple[bool, float, int]:
    return rank.mean is None, rank.mean or 0.0, rank.test


def cut(text: str, limit: int | None) -> str:
    """Cut the middle out of a text longer than the limit; None: no limit."""
    if limit is None or len(text) <= limit:
        return text
    head = limit * 3 // 4
    return text[:head] + OMITTED + text[len(text) - (limit - head) :]


def reply_tokens(context_tokens: int, grades: int) -> int:
    """Return the tokens reserved for a reply with this many grades."""
    return min(context_tokens // REPLY_SHARE, REPLY_TOKENS + GRADE_TOKENS * grades)


def room(context_tokens: int, reply: int, fixed: int) -> int:
    """Return the characters left for tests after the reply and `fixed` ones; at least 0."""
    return max(0, (context_tokens - reply) * CHARACTERS_PER_TOKEN - fixed)


def limit_of(room: int) -> int:
    """Return the characters to which each text is cut if not everything fits."""
    return CUT if room > SMALL_ROOM else SHORT_CUT


class Sized(Protocol):
    @property
    def text(self) -> str: ...


S = TypeVar("S", bound=Sized)


def fitting(sections: Iterable[S], room: int, *, patience: int = PATIENCE) -> Iterator[S]:
    """Return the sections that fit into the space, in order.

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
