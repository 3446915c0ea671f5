"""The request to an analyst about a set of runs: anonymous, reduced to fit, and checked.

If everything fits, it is sent whole. Otherwise tests are taken in turn, of each issue its worst
first, then of each its second worst, and so on; longer texts are cut; and the tests that do not fit
any more are left out. Figures over all tests are always sent, unless the size has none.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from reports.summaries import source_query
from reports.summaries.analyst import prompt
from reports.summaries.analyst.dimensions import DIMENSIONS
from reports.summaries.analyst.key import FigureTable, Key, make_key
from reports.summaries.analyst.mask import MASKS, Masking, Name, leaks, names_of, without_own
from reports.summaries.source_query import Overview, RankedTest
from runs.models import Run

CHUNK = 20
"""Tests whose texts are read per query."""

NONCE = 6
"""Characters of a nonce. It is derived from the seed, which no text knows: a long one would
take much of a small context."""

CHARACTERS_PER_TOKEN = 3
"""Characters per token, fewer than in English, so that other text fits as well."""

REPLY_TOKENS = 900
GRADE_TOKENS = 60
"""Tokens of all findings, and of each grade."""

REPLY_SHARE = 3
"""The reply is reserved at most one part in this many of the context."""

SMALL_ROOM = 24_000
CUT, SHORT_CUT = 1_200, 300
"""Characters to which texts are cut, fewer if space is short."""

PATIENCE = 5
"""Tests in a row that may be too long before selection stops."""

LEAK, NOTHING, TOO_SMALL = "leak", "nothing_to_read", "too_small"


class Unsendable(ValueError):
    """No request can be sent; `kind` and the message say why, without quoting answers."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Section(NamedTuple):
    """A test as sent: its id, its row, its text, and the names removed from it."""

    id: str
    test: int
    text: str
    masked: Counter[str] = Counter()


@dataclass(frozen=True)
class Draft:
    """A request to send. `notes` list what was left out, cut, or could not be masked.

    `figures` are the cells that claims may name; none where no figures were sent.
    """

    messages: list[dict[str, str]]
    key: Key
    figures: FigureTable
    masked: dict[str, int]
    notes: list[str]
    tests: list[int]


@dataclass(frozen=True)
class _Frame:
    """Everything around the tests, and what is needed to write them."""

    runs: Sequence[Run]
    key: Key
    names: Sequence[Name]
    nonce: str
    size: prompt.Size


def draft_of(runs: Sequence[Run], *, context_tokens: int, seed: int, number: int = 1) -> Draft:
    """Draft the request about these runs. Equal arguments and rows give equal drafts.

    Args:
        runs: Of one suite, with their language models and suites.
        context_tokens: What the analyst reads and writes at most.
        seed: Decides the anonymous ids.
        number: Of the try; ids, and the fences around untrusted texts, differ from try to try.

    Raises:
        Unsendable: There is nothing to send, no room for it, or a name would leak.
    """
    key = make_key(source_query.subjects_of(runs), seed + number)
    size = prompt.size_of(context_tokens)
    nonce = hashlib.sha256(f"{seed}:{number}".encode()).hexdigest()[:NONCE]
    own = text_of(prompt.messages(key, size, "", [], nonce))
    fixed = "\n".join([own, prompt.LAYOUT, *MASKS.values()])
    names, unmaskable = without_own(names_of(source_query.known_of(runs)), fixed)
    frame, masking = _Frame(runs, key, names, nonce, size), Masking(names)

    overview, head, table = source_query.overview_of(runs, key), "", FigureTable({})
    if size is prompt.FULL:
        key, table = replace(key, groups=overview.titles), overview.table
        head = prompt.overview_text(overview.suite, key, table, _clean(masking))
    space = room(context_tokens, reply_tokens(context_tokens, key), len(own) + len(head))
    sections, limit, of = _reduced(frame, space)
    sent = prompt.messages(key, size, head, [section.text for section in sections], nonce)
    if found := leaks(text_of(sent), names):
        listed = ", ".join(f"“{name}”" for name in found)
        raise Unsendable(
            LEAK,
            f"Not sent: {listed} would have leaked. Rename the model, or leave the test out that "
            "is about it.",
        )
    return Draft(
        messages=sent,
        key=replace(key, tests={section.id: section.test for section in sections}),
        figures=table,
        masked=dict(sum((section.masked for section in sections), masking.counts).most_common()),
        notes=_notes(frame, overview, (len(sections), of, limit), unmaskable),
        tests=[section.test for section in sections],
    )


def text_of(sent: Sequence[dict[str, Any]]) -> str:
    return "\n".join(message["content"] for message in sent)


def reply_tokens(context_tokens: int, key: Key) -> int:
    """Return the tokens reserved for the reply about these models."""
    grades = len(key.models) * len(prompt.size_of(context_tokens).dimensions)
    return min(context_tokens // REPLY_SHARE, REPLY_TOKENS + GRADE_TOKENS * grades)


def room(context_tokens: int, reply: int, fixed: int) -> int:
    """Return the characters left for tests after the reply and `fixed` ones; at least 0."""
    return max(0, (context_tokens - reply) * CHARACTERS_PER_TOKEN - fixed)


def _clean(masking: Masking) -> prompt.Clean:
    return lambda text: prompt.harmless(masking(text))


def _reduced(frame: _Frame, space: int) -> tuple[list[Section], int | None, int]:
    """Return the tests that fit, the character limit of their texts, and the count of all tests."""
    order = worst_first(source_query.test_ranks_of(frame.runs))
    if not order:
        raise Unsendable(NOTHING, "No answer may be sent: every test is sealed or unanswered.")
    whole = list(fitting(_sections(frame, order, None), space, patience=1))
    if len(whole) == len(order):
        return whole, None, len(order)
    limit = CUT if space > SMALL_ROOM else SHORT_CUT
    some = list(fitting(_sections(frame, order, limit), space))
    if not some:
        raise Unsendable(
            TOO_SMALL,
            f"No test fits into the analyst's context: {space:,} characters are left "
            "for tests. Give it a larger context, or choose fewer runs.",
        )
    return some, limit, len(order)


def _sections(frame: _Frame, order: Sequence[int], limit: int | None) -> Iterator[Section]:
    for start in range(0, len(order), CHUNK):
        cases = source_query.cases_of(frame.runs, frame.key, order[start : start + CHUNK])
        for place, case in enumerate(cases, start + 1):
            name, masking = f"P_{place}", Masking(frame.names)
            text = prompt.case_text(
                case, name, frame.size, limit=limit, nonce=frame.nonce, clean=_clean(masking)
            )
            yield Section(name, case.test, f"{text}\n\n", masking.counts)


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


def fitting(
    sections: Iterable[Section], room: int, *, patience: int = PATIENCE
) -> Iterator[Section]:
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


def _notes(
    frame: _Frame,
    overview: Overview,
    sent: tuple[int, int, int | None],
    unmaskable: Sequence[str],
) -> list[str]:
    """Describe what was left out or cut.

    Args:
        sent: How many tests were, of how many, and to how many characters their texts were cut.
    """
    pooled = sum(len(one.runs) for one in frame.key.variants if len(one.runs) > 1)
    graded = len(frame.size.dimensions)
    n, of, limit = sent
    if limit is not None:
        notes = [
            f"{n} of {of} tests were sent: of each issue the worst first, then of each the second "
            f"worst, until the analyst's context was full. Texts of more than {limit:,} characters "
            "were cut in their middle."
        ]
    else:
        notes = ["The one test was sent whole." if of == 1 else f"All {of} tests were sent whole."]
    if n < of and graded == len(DIMENSIONS):
        notes.append("The figures cover all tests.")
    if overview.sealed:
        notes.append(
            f"{overview.sealed} of {overview.tests} tests are sealed: their text was not sent, "
            "and their results are in the totals."
        )
    if graded < len(DIMENSIONS):
        notes.append(
            f"The analyst's context is small: it was asked for {graded} of {len(DIMENSIONS)} "
            "dimensions, shown an example, and not told the figures."
        )
    if pooled:
        notes.append(
            "Runs of the same model, system prompt and temperature were pooled: "
            f"{pooled} of {len(frame.runs)}."
        )
    if unmaskable:
        notes.append(
            f"Names that are words of the instruction were left in texts: {', '.join(unmaskable)}."
        )
    return notes
