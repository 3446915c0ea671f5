"""Selection of labelled examples for a judge prompt, and their text there. Pure.

An example of the judged test, or of one with the same input, is never shown: it would reveal the
verdict. Texts of examples are as untrusted as those of the case.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalhub.llm import word_vectors
from evalhub.statistics.cosine import cosine
from evalhub.values.digest import digest
from issues.judge_templates.fences import BLOCKS, neutralised

NEAREST = "nearest"
DIGITS = 6
"""Decimals of a similarity before comparison, so that equal texts tie on every machine."""

LEAD = (
    "## Examples\n"
    "People judged the {n} below; judge as they did. Blocks that are named OF EXAMPLE belong to "
    "these, and are not what you are asked to judge."
)
END = "The examples end here."
NOT_NEAREST = (
    "The nearest examples could not be found, as no word vectors could be had for this case: "
    "the first ones are shown."
)

Similarity = Callable[[str, str], float | None]


@dataclass(frozen=True)
class ShownExample:
    """A labelled example. `reply` is its verdict in the judges' reply format.

    Attributes:
        test_id: Test that it comes from; None if written for the template.
        criterion: Judged criterion; "" for the answer as a whole.
        worth: Value of its option, as text; "" if the scale has no such option.
    """

    pk: int
    test_id: int | None
    input: str
    output: str
    reference: str
    guidelines: str
    criterion: str
    reply: str
    worth: str

    @property
    def text(self) -> str:
        """Text by which similarity is measured."""
        return f"{self.input}\n{self.output}"

    @cached_property
    def asked_digest(self) -> str | None:
        return asked_digest(self.input)

    def as_values(self) -> list[str]:
        """Return all its texts, for the digest of a prompt's values."""
        texts = (self.input, self.output, self.reference, self.guidelines, self.criterion)
        return [*texts, self.reply, self.worth]


class ExampleQuery(NamedTuple):
    """A case to judge: a test's conversation and answer, as a whole or by one criterion.

    `conversation` is the conversation as text, `output` the answer. `test_id` is None for an
    unsaved test.
    """

    test_id: int | None
    conversation: str
    output: str
    is_criterion: bool


class Choice(NamedTuple):
    """Selected examples, in order. `note` names a fallback, or is ""."""

    examples: tuple[ShownExample, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Examples:
    """A template's examples in order, of which up to `most` are shown.

    `choice` is "fixed", the first ones, or "nearest", those most similar to the case.
    """

    rows: tuple[ShownExample, ...] = ()
    choice: str = "fixed"
    most: int = 0

    @property
    def takes_long(self) -> bool:
        """Return True if choosing needs computation, some milliseconds per example."""
        return bool(self.rows) and self.choice == NEAREST

    def for_query(self, query: ExampleQuery, similarity: Similarity | None = None) -> Choice:
        """Select examples; deterministic.

        Args:
            similarity: Of two texts; None: by built-in word vectors.
        """
        fit = self.that_fit(query)
        if self.choice != NEAREST or len(fit) <= 1 or not self.most:
            return Choice(tuple(fit[: self.most]))
        case = f"{query.conversation}\n{query.output}"
        found = [(similarity or built_in_similarity)(case, example.text) for example in fit]
        if all(near is None for near in found):
            return Choice(tuple(fit[: self.most]), NOT_NEAREST)
        near = [-2.0 if value is None else round(value, DIGITS) for value in found]
        order = sorted(range(len(fit)), key=lambda place: (-near[place], place))
        return Choice(tuple(fit[place] for place in order[: self.most]))

    def that_fit(self, query: ExampleQuery) -> list[ShownExample]:
        """Return examples of the same kind, from neither this test nor one with the same input."""
        asked = asked_digest(query.conversation) if self.rows else None
        return [
            row
            for row in self.rows
            if bool(row.criterion) == query.is_criterion
            and (row.test_id is None or row.test_id != query.test_id)
            and (row.asked_digest is None or row.asked_digest != asked)
        ]


NO_EXAMPLES = Examples()


def built_in_similarity(first: str, second: str) -> float | None:
    """Return the cosine of the built-in vectors; None without them or without known words."""
    try:
        return cosine(word_vectors.embed(first), word_vectors.embed(second))
    except word_vectors.NoWordVectors:
        return None


_TURN = re.compile(r"\d+\. (?P<role>\w+)(?: \(generated\))?:")


def asked_digest(conversation: str) -> str | None:
    """Return the users' turns of a conversation, ignoring case and spaces.

    System prompts and generated turns differ between runs of a test and do not count. None without
    user turns.
    """
    words = " ".join(_users(conversation)).casefold().split()
    return digest(words) if words else None


def _users(conversation: str) -> list[str]:
    lines = conversation.splitlines()
    if not lines or not _TURN.fullmatch(lines[0]):
        return lines
    kept, is_user = [], False
    for line in lines:
        if turn := _TURN.fullmatch(line):
            is_user = turn["role"] == "user"
        elif is_user:
            kept.append(line)
    return kept


# In words ----------------------------------------------------------------------------------------


def as_text(examples: Sequence[ShownExample], shows: Collection[str], nonce: str) -> str:
    """Render the examples for a prompt; "" for none.

    Args:
        shows: Variables that the template names: no other text of an example is shown.
        nonce: Nonce of the prompt.
    """
    if not examples:
        return ""
    n = "answer" if len(examples) == 1 else f"{len(examples)} answers"
    parts = [
        "\n".join(_lines(example, number, shows, nonce))
        for number, example in enumerate(examples, 1)
    ]
    return "\n\n".join([LEAD.format(n=n), *parts, END])


def _lines(example: ShownExample, number: int, shows: Collection[str], nonce: str) -> Iterator[str]:
    yield f"### Example {number}"
    for name in ("input", "output", "reference"):
        text = getattr(example, name)
        if text and (name == "output" or name in shows):
            title = f"{BLOCKS[name]} OF EXAMPLE {number} {nonce}"
            yield f"[BEGIN {title}]\n{neutralised(text)}\n[END {title}]"
    if example.guidelines and "guidelines" in shows:
        yield "Guidelines:\n" + _indented(example.guidelines)
    if example.criterion:
        yield "Criterion:\n" + _indented(example.criterion)
    worth = f", worth {example.worth} of 1" if example.worth else ""
    yield f"The right reply{worth}:\n{neutralised(example.reply)}"


def _indented(text: str) -> str:
    """Indent each line, so that none can pose as one of the prompt's."""
    return "\n".join(f"    {line}" for line in neutralised(text).splitlines())
