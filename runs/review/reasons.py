"""Why an answer deserves a person: from facts to reasons, the gravest first. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from evalhub import formatting

DISPUTED = "disputed"
JUDGES_DISAGREE = "judges_disagree"
JUDGE_FAILED = "judge_failed"
LOW_AGREEMENT = "low_agreement"
FLIPPED = "flipped"
HIGH_WEIGHT = "high_weight"
CHOSEN = "chosen"
RANDOM = "random"

REASONS = {
    DISPUTED: "People disagree",
    JUDGES_DISAGREE: "Judges disagree",
    JUDGE_FAILED: "A judge's verdict is missing",
    LOW_AGREEMENT: "Judges agree little",
    FLIPPED: "Flipped against the baseline",
    HIGH_WEIGHT: "Its test weighs much",
    CHOSEN: "Added by hand",
    RANDOM: "Drawn at random",
}
"""Every reason in general words, the gravest first."""

RELIABLE = 0.667
"""Judges whose alpha is lower agree too little for their verdict to be taken as it is."""
HEAVY = 2.0
"""A test of this weight or more counts so much that a person should look."""


class Reason(NamedTuple):
    """A reason. `description` has this answer's figures, and no text of its test."""

    key: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is known of one answer.

    Attributes:
        passing, failing: How many judges would let it pass, and how many would not.
        split: On how many criteria the judges lie far apart (see `deviation.is_split`).
        expected, answered: Verdicts that judges were asked for, and those that they gave.
        is_unjudged: Judging has ended, and there is no verdict.
        agreement: Alpha of its judges; None: not measured.
        passed, passed_before: Now, and in the run `before` with which it is compared; None: that
            is not decided, or it was not in that run.
        chosen_by: Who added it by hand; "": nobody.
    """

    is_disputed: bool = False
    passing: int = 0
    failing: int = 0
    split: int = 0
    expected: int = 0
    answered: int = 0
    is_unscored: bool = False
    agreement: float | None = None
    weight: float = 1.0
    passed: bool | None = None
    passed_before: bool | None = None
    before: str = ""
    chosen_by: str = ""


def reasons_of(facts: Facts) -> tuple[Reason, ...]:
    """All reasons that hold, the gravest first; () where nothing sets the answer apart."""
    description = {
        DISPUTED: "Two people's verdicts on it differ" if facts.is_disputed else "",
        JUDGES_DISAGREE: _disagreement(facts),
        JUDGE_FAILED: _failure(facts),
        LOW_AGREEMENT: _low_agreement(facts.agreement),
        FLIPPED: _flip(facts),
        HIGH_WEIGHT: f"Its test has weight {facts.weight:g}" if facts.weight >= HEAVY else "",
        CHOSEN: f"Added by hand, by {facts.chosen_by}" if facts.chosen_by else "",
    }
    return tuple(Reason(key, words) for key, words in description.items() if words)


def _disagreement(facts: Facts) -> str:
    if facts.passing and facts.failing:
        passing = f"{_judges(facts.passing)} {_verb(facts.passing, 'pass', 'passes')} it"
        return f"{passing}, {_number(facts.failing)} {_verb(facts.failing, 'fail', 'fails')} it"
    if facts.split:
        return f"The judges lie far apart on {_number(facts.split)} {_criteria(facts.split)}"
    return ""


def _failure(facts: Facts) -> str:
    missing = facts.expected - facts.answered
    if facts.is_unscored and not facts.answered:
        return "No judge gave a verdict" if facts.expected else "Nothing has judged it"
    if missing > 0:
        are = _verb(missing, "are", "is")
        return (
            f"{_number(missing).capitalize()} of {_number(facts.expected)} verdicts {are} missing"
        )
    return "It could not be decided" if facts.is_unscored else ""


def _low_agreement(alpha: float | None) -> str:
    if alpha is None or round(alpha, 9) >= RELIABLE:
        return ""
    return f"The judges agree little (alpha {formatting.score(alpha)})"


def _flip(facts: Facts) -> str:
    if facts.passed is None or facts.passed_before in (None, facts.passed):
        return ""
    now, then = ("Passed", "failed") if facts.passed else ("Failed", "passed")
    return f"{now} now, {then} in {facts.before}"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else formatting.count(n)


def _verb(n: int, several: str, one: str) -> str:
    return one if n == 1 else several


def _judges(n: int) -> str:
    return f"{_number(n).capitalize()} {_verb(n, 'judges', 'judge')}"


def _criteria(n: int) -> str:
    return _verb(n, "criteria", "criterion")


# As an item keeps them ---------------------------------------------------------------------------


def as_json(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """The reasons as `ReviewItem.reasons` holds them."""
    return [reason._asdict() for reason in reasons]


def reason_label(key: str) -> str:
    """A reason in general words, for filters and legends."""
    return REASONS.get(key, formatting.words(key))


def key_of(stored: Mapping[str, str]) -> str:
    """The key of a reason as an item keeps it."""
    return stored["key"]


class Explained(Protocol):
    """An item of a queue, as far as it says why it is there."""

    reasons: list[dict[str, str]]
    is_random: bool


def reason_descriptions(item: Explained) -> list[str]:
    """Why an item is in its queue, in words, the gravest reason first."""
    description = [
        reason.get("description") or reason_label(key_of(reason)) for reason in item.reasons
    ]
    return [*description, reason_label(RANDOM)] if item.is_random else description


def severity(reasons: Sequence[Reason]) -> int:
    """The rank of the gravest reason, 0 being the gravest of all; that of chance where none is."""
    ranks = {key: rank for rank, key in enumerate(REASONS)}
    return min((ranks[reason.key] for reason in reasons), default=ranks[RANDOM])
