"""Examples as judges read them: which of a template's are shown with a case, and in what words.

An example of the test that is judged, or of one that asks the same, is never shown with it: the
judge would be told the verdict. Texts of examples are as untrusted as those of the case.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from evalhub.digest import digest
from evalhub.llm import word_vectors
from evalhub.statistics.cosine import cosine
from issues.judge_templates.fences import BLOCKS, neutralised

NEAREST = "nearest"
DIGITS = 6
"""Nearness is compared after rounding, so that equal texts tie wherever it is computed."""

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
    """One example of a template. `reply` is its verdict in the form in which judges reply.

    Attributes:
        test_id: The test that it comes from; None: a person wrote it for the template.
        criterion: What was judged; "" is the answer as a whole.
        worth: The value of its option, as text; "" where the scale has no such option.
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
        """What nearness goes by."""
        return f"{self.input}\n{self.output}"

    @cached_property
    def asked_digest(self) -> str | None:
        return asked_digest(self.input)

    def as_values(self) -> list[str]:
        """All its texts, for the digest of a prompt's values."""
        texts = (self.input, self.output, self.reference, self.guidelines, self.criterion)
        return [*texts, self.reply, self.worth]


class ExampleQuery(NamedTuple):
    """What a judge is asked about: a case of a test, and whether one criterion or all of it.

    `conversation` is the conversation as text, `output` the answer. `test_id` None: of no stored
    test.
    """

    test_id: int | None
    conversation: str
    output: str
    is_criterion: bool


class Choice(NamedTuple):
    """The examples that are shown, in order. `note` says what had to be done instead, or ""."""

    examples: tuple[ShownExample, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Examples:
    """Those of a template in their order, of which at most `most` are shown.

    `choice` is "fixed", the first ones, or "nearest", those most like the case.
    """

    rows: tuple[ShownExample, ...] = ()
    choice: str = "fixed"
    most: int = 0

    @property
    def takes_long(self) -> bool:
        """Whether choosing takes more than to count: some milliseconds for each example."""
        return bool(self.rows) and self.choice == NEAREST

    def for_query(self, query: ExampleQuery, similarity: Similarity | None = None) -> Choice:
        """Which are shown. Equal arguments give equal ones, in equal order.

        Args:
            nearness: How near two texts are; None: by the built-in word vectors.
        """
        fit = self.that_fit(query)
        if self.choice != NEAREST or len(fit) <= 1 or not self.most:
            return Choice(tuple(fit[: self.most]))
        near = _by_similarity(fit, query, similarity or built_in_similarity)
        if near is None:
            return Choice(tuple(fit[: self.most]), NOT_NEAREST)
        return Choice(tuple(near[: self.most]))

    def that_fit(self, query: ExampleQuery) -> list[ShownExample]:
        """Those about the same kind of matter, and neither of this test nor of its like."""
        asked = asked_digest(query.conversation) if self.rows else None
        return [
            row
            for row in self.rows
            if bool(row.criterion) == query.is_criterion
            and (row.test_id is None or row.test_id != query.test_id)
            and (row.asked_digest is None or row.asked_digest != asked)
        ]


NO_EXAMPLES = Examples()


def _by_similarity(
    examples: Sequence[ShownExample], query: ExampleQuery, similarity: Similarity
) -> list[ShownExample] | None:
    """The nearest first, ties in their order; None where nothing can be said of the case."""
    case = f"{query.conversation}\n{query.output}"
    found = [similarity(case, example.text) for example in examples]
    if all(near is None for near in found):
        return None
    near = [-2.0 if value is None else round(value, DIGITS) for value in found]
    order = sorted(range(len(examples)), key=lambda place: (-near[place], place))
    return [examples[place] for place in order]


def built_in_similarity(first: str, second: str) -> float | None:
    """The cosine of the built-in vectors; None where there are none, or no word is known."""
    try:
        return cosine(word_vectors.embed(first), word_vectors.embed(second))
    except word_vectors.NoWordVectors:
        return None


_TURN = re.compile(r"\d+\. (?P<role>\w+)(?: \(generated\))?:")


def asked_digest(conversation: str) -> str | None:
    """Of what users say in a conversation as judges read it, spaces and case aside.

    System prompts and generated turns differ between runs of one test, and do not count. None
    where nothing is asked.
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
    """The examples as they stand in a prompt; "" where there are none.

    Args:
        shows: The variables that the template names: nothing else of an example is shown.
        nonce: That of the prompt.
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
    """No line of it can pose as one of ours."""
    return "\n".join(f"    {line}" for line in neutralised(text).splitlines())
