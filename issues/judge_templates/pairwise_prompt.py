"""The prompt that asks a judge which of two answers is better, and the reading of its reply. Pure.

The answers are called A and B and nothing else, so that no name can sway the judge or break the
reading of its reply. Ask in both orders: `decided` makes one outcome of both verdicts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from evalhub.llm.content.content_parts import IMAGE, TEXT, Part, shown_with
from evalhub.llm.verdicts.judge_replies import (
    ParsedVerdict,
    Unreadable,
    echoes,
    parse_verdict,
    verdict_schema,
)
from issues.judge_templates.fences import OPENING, Fenced, neutralised, nonce_of
from issues.limits import MAX_PROMPT_CHARACTERS

BY_GUIDELINES = "Prefer the answer that fits the guidelines and the reference better."
BY_INPUT = "Prefer the answer that helps more with the input: correct, complete and to the point."

ROLE = """\
You compare two answers to the same input and say which is better. They have no other names than A
and B. Neither their order nor their length matters."""

REPLY = """\
Reply with one JSON object and nothing else. It has two keys: "justification", a short comparison of
what decides it, and "score": {choices}."""


class Choice(StrEnum):
    """The better of two answers, in the order in which they were given."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"

    def turned(self) -> "Choice":
        """Return the same choice for the other order."""
        return _TURNED[self]


_TURNED = {Choice.FIRST: Choice.SECOND, Choice.SECOND: Choice.FIRST, Choice.TIE: Choice.TIE}


class PairVerdict(NamedTuple):
    """A judge's choice among the answers as shown; `repaired`: its JSON had errors."""

    choice: Choice
    justification: str
    repaired: bool = False

    def in_order(self, order: int) -> Choice:
        """Return the choice in terms of the pair; `order` 1: the second answer was shown first."""
        return self.choice.turned() if order else self.choice


@dataclass(frozen=True)
class PairCase:
    """Two answers to compare, in the order in which they are shown.

    Attributes:
        criterion: What makes an answer better; "": the guidelines and the reference, or without
            any the input.
        images: Those of the input.
        of_first: Images of the first answer.
        of_second: Images of the second answer.
    """

    input: str
    first: str
    second: str
    criterion: str = ""
    guidelines: str = ""
    reference: str = ""
    images: Sequence[Part] = ()
    of_first: Sequence[Part] = ()
    of_second: Sequence[Part] = ()

    def reversed(self) -> "PairCase":
        return replace(
            self,
            first=self.second,
            second=self.first,
            of_first=self.of_second,
            of_second=self.of_first,
        )


@dataclass(frozen=True)
class _Label:
    """A choice as the judge names it. No number means one: 1 could be the first or the value."""

    label: str
    value: float = float("nan")


_CHOICES: Mapping[str, Choice] = {"A": Choice.FIRST, "B": Choice.SECOND, "tie": Choice.TIE}


def _labels(ties: bool) -> list[_Label]:
    return [_Label(label) for label in _CHOICES if ties or label != "tie"]


def pair_schema(*, ties: bool) -> dict[str, Any]:
    """Return the JSON schema of a reply; without `ties` it offers none."""
    return verdict_schema(_labels(ties))


def pair_messages(case: PairCase, *, ties: bool) -> list[dict[str, Any]]:
    """Return the messages that ask for the better answer; equal arguments give equal messages.

    All texts stand in blocks that they cannot leave, or are made harmless.

    Raises:
        ValueError: The prompt would be longer than 400,000 characters.
    """
    texts = {"input": case.input, "reference": case.reference, "A": case.first, "B": case.second}
    nonce = nonce_of({**texts, "criterion": case.criterion, "guidelines": case.guidelines})
    is_by_test = not case.criterion.strip()
    by_test = BY_GUIDELINES if case.guidelines.strip() or case.reference.strip() else BY_INPUT
    parts = [
        OPENING.format(nonce=nonce),
        ROLE,
        f"What makes an answer better:\n{neutralised(case.criterion.strip() or by_test)}",
    ]
    if is_by_test and case.guidelines.strip():
        parts.append(f"Guidelines:\n{neutralised(case.guidelines.strip())}")
    parts.append(Fenced(case.input, name="input", nonce=nonce).block())
    if is_by_test and case.reference.strip():
        parts.append(Fenced(case.reference, name="reference", nonce=nonce).block())
    for label, text in (("A", case.first), ("B", case.second)):
        parts.append(f"Answer {label}:\n{Fenced(text, name='output', nonce=nonce).block()}")
    parts.append(REPLY.format(choices=_offered(ties)))
    prompt = "\n\n".join(parts)
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        raise ValueError(
            f"the prompt would have {len(prompt):,} characters, more than {MAX_PROMPT_CHARACTERS:,}"
        )
    lost = [part for part in (*case.of_first, *case.of_second) if part.get("type") != IMAGE]
    if lost:
        raise ValueError("an answer has an image that was not kept")
    said = [
        part
        for label, images in (("A", case.of_first), ("B", case.of_second))
        for image in images
        for part in ({"type": TEXT, "text": f"Image of answer {label}:"}, image)
    ]
    return [{"role": "user", "content": shown_with(prompt, [*case.images, *said])}]


def _offered(ties: bool) -> str:
    if not ties:
        return '"A" or "B". You must choose one, however close they are'
    return '"A", "B", or "tie" if neither is better'


def read_pair(reply: str, case: PairCase, *, ties: bool) -> PairVerdict | Unreadable:
    """Return the choice in a judge's reply; nothing is guessed.

    A tie where none is allowed, another label, or a verdict copied from an answer is unreadable.
    """
    found = parse_verdict(reply, _labels(ties))
    if not isinstance(found, ParsedVerdict):
        return found
    if any(echoes(reply, text) for text in (case.first, case.second)):
        return Unreadable("The judge repeated a verdict from an answer under judgment.")
    return PairVerdict(_CHOICES[found.option], found.justification, found.repaired)


class Decision(NamedTuple):
    """The outcome of both orders; `is_biased`: the verdicts differ, so the order decided."""

    choice: Choice
    is_biased: bool


def decided(as_given: Choice | None, reversed_order: Choice | None) -> Decision | None:
    """Return the outcome of two verdicts; None unless both were given.

    An answer that is better in one order only has not won: that is a tie by position bias.

    Args:
        as_given: The verdict on A and B.
        reversed_order: The verdict with the answers swapped, in terms of what was shown first then.
    """
    if as_given is None or reversed_order is None:
        return None
    turned = reversed_order.turned()
    return Decision(as_given, False) if as_given == turned else Decision(Choice.TIE, True)
