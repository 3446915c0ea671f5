"""The request to an analyst about a set of runs: anonymous, reduced to fit, and checked."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from reports.summaries import prompt, short_prompt, source_query
from reports.summaries.dimensions import DIMENSIONS, Dimension
from reports.summaries.figure_table import FigureTable
from reports.summaries.key import Key, make_key
from reports.summaries.mask import MASKS, Masking, Name, leaks, names_of, without_own
from reports.summaries.prompt import Clean
from reports.summaries.reduce import (
    FULL_CONTEXT,
    fitting,
    limit_of,
    reply_tokens,
    room,
    worst_first,
)
from reports.summaries.source_data import Case, Overview
from runs.models import Run

CHUNK = 20
"""Tests whose texts are read per query."""

NONCE = 6
"""Characters of a nonce. It is derived from the seed, which no text knows: a long one would
take much of a small context."""

LEAK, NOTHING, TOO_SMALL = "leak", "nothing_to_read", "too_small"


class Unsendable(ValueError):
    """No request can be sent; `kind` and the message say why, without quoting answers."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Section:
    """A test as sent, with the names removed from it."""

    id: str
    case: Case
    text: str
    masked: Counter[str]


@dataclass(frozen=True)
class Draft:
    """A request to send. `notes` list what was left out, cut, or could not be masked.

    `figures` are the cells that claims may name; none where no figures were sent.
    """

    messages: list[dict[str, str]]
    reply_tokens: int
    key: Key
    figures: FigureTable
    masked: dict[str, int]
    notes: list[str]
    tests: list[int]


class Form(Protocol):
    """The prompt module: `prompt`, or `short_prompt` for a small context."""

    def dimensions(self) -> tuple[Dimension, ...]: ...
    def overview_text(self, overview: Overview, clean: Clean) -> str: ...
    def case_text(
        self, case: Case, name: str, *, limit: int | None, nonce: str, clean: Clean
    ) -> str: ...
    def messages(
        self, key: Key, head: str, cases: Sequence[str], nonce: str
    ) -> list[dict[str, str]]: ...
    def schema(self, key: Key) -> dict[str, Any]: ...


def form_of(context_tokens: int) -> Form:
    return prompt if context_tokens >= FULL_CONTEXT else short_prompt


@dataclass(frozen=True)
class _Frame:
    """Everything around the tests, and what is needed to write them."""

    runs: Sequence[Run]
    key: Key
    names: Sequence[Name]
    nonce: str
    form: Form


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
    form = form_of(context_tokens)
    nonce = hashlib.sha256(f"{seed}:{number}".encode()).hexdigest()[:NONCE]
    own = text_of(form.messages(key, "", [], nonce))
    fixed = "\n".join([own, prompt.LAYOUT, *MASKS.values()])
    names, unmaskable = without_own(names_of(source_query.known_of(runs)), fixed)
    frame = _Frame(runs, key, names, nonce, form)

    overview, masking = source_query.overview_of(runs, key), Masking(names)
    head = form.overview_text(overview, _clean(masking))
    reply = reply_of(context_tokens, key)
    sections, limit, of = _reduced(frame, room(context_tokens, reply, len(own) + len(head)))
    sent = form.messages(key, head, [section.text for section in sections], nonce)
    if found := leaks(text_of(sent), names):
        listed = ", ".join(f"“{name}”" for name in found)
        raise Unsendable(
            LEAK,
            f"Not sent: {listed} would have leaked. Rename the model, or leave the test out that "
            "is about it.",
        )
    return Draft(
        messages=sent,
        reply_tokens=reply,
        key=replace(
            key,
            tests={section.id: section.case.test for section in sections},
            groups=overview.titles() if head else {},
        ),
        figures=overview.table() if head else FigureTable({}),
        masked=dict(sum((section.masked for section in sections), masking.counts).most_common()),
        notes=_notes(frame, overview, (len(sections), of, limit), unmaskable),
        tests=[section.case.test for section in sections],
    )


def text_of(sent: Sequence[dict[str, str]]) -> str:
    return "\n".join(message["content"] for message in sent)


def reply_of(context_tokens: int, key: Key) -> int:
    """Return the tokens reserved for the reply about these models."""
    dimensions = form_of(context_tokens).dimensions()
    return reply_tokens(context_tokens, len(key.models) * len(dimensions))


def _clean(masking: Masking) -> Clean:
    return lambda text: prompt.harmless(masking(text))


def _reduced(frame: _Frame, space: int) -> tuple[list[Section], int | None, int]:
    """Return the tests that fit, the character limit of their texts, and the count of all tests."""
    order = worst_first(source_query.test_ranks_of(frame.runs))
    if not order:
        raise Unsendable(NOTHING, "No answer may be sent: every test is sealed or unanswered.")
    whole = list(fitting(_sections(frame, order, None), space, patience=1))
    if len(whole) == len(order):
        return whole, None, len(order)
    limit = limit_of(space)
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
        some = order[start : start + CHUNK]
        cases = source_query.cases_of(frame.runs, frame.key, some)
        for place, case in enumerate(cases, start + 1):
            masking = Masking(frame.names)
            name, clean = f"P_{place}", _clean(masking)
            text = frame.form.case_text(case, name, limit=limit, nonce=frame.nonce, clean=clean)
            yield Section(name, case, f"{text}\n\n", masking.counts)


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
    graded = len(frame.form.dimensions())
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
