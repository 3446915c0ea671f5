"""Reasons for human review, from the facts of an answer, most severe first. Pure."""

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
    DISPUTED: "Annotators disagree",
    JUDGES_DISAGREE: "Judges disagree",
    JUDGE_FAILED: "Missing judgment",
    LOW_AGREEMENT: "Low judge agreement",
    FLIPPED: "Flipped since the baseline",
    HIGH_WEIGHT: "High-weight test",
    CHOSEN: "Added by hand",
    RANDOM: "Random sample",
}
"""Labels of all reasons, most severe first."""

RELIABLE = 0.667
"""Judges with a lower alpha agree too little to be trusted without review."""
HEAVY = 2.0
"""Tests of this weight or more need review."""


class Reason(NamedTuple):
    """A reason; `description` has this answer's figures, and no text of its test."""

    key: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of one answer.

    Attributes:
        passing, failing: Numbers of judges that pass and fail it.
        split: The number of criteria on which judges are split (see `deviation.is_split`).
        expected, answered: Numbers of judgments asked for, and given.
        is_unscored: Judging has ended without a verdict.
        agreement: Alpha of its judges; None: not measured.
        passed, passed_before: Now, and in the run `before` that it is compared with; None:
            unscored, or not in that run.
        chosen_by: The user who added it by hand; "" for none.
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
    """Return all reasons that apply, most severe first."""
    description = {
        DISPUTED: "Annotators disagree on it" if facts.is_disputed else "",
        JUDGES_DISAGREE: _disagreement(facts),
        JUDGE_FAILED: _failure(facts),
        LOW_AGREEMENT: _low_agreement(facts.agreement),
        FLIPPED: _flip(facts),
        HIGH_WEIGHT: f"Test weight {facts.weight:g}" if facts.weight >= HEAVY else "",
        CHOSEN: f"Added by {facts.chosen_by}" if facts.chosen_by else "",
    }
    return tuple(Reason(key, words) for key, words in description.items() if words)


def _disagreement(facts: Facts) -> str:
    if facts.passing and facts.failing:
        passing = f"{_judges(facts.passing)} {_verb(facts.passing, 'pass', 'passes')} it"
        return f"{passing}, {_number(facts.failing)} {_verb(facts.failing, 'fail', 'fails')} it"
    if facts.split:
        return f"Judges are split on {_number(facts.split)} {_criteria(facts.split)}"
    return ""


def _failure(facts: Facts) -> str:
    missing = facts.expected - facts.answered
    if facts.is_unscored and not facts.answered:
        return "No judge gave a verdict" if facts.expected else "Not judged"
    if missing > 0:
        are = _verb(missing, "are", "is")
        return (
            f"{_number(missing).capitalize()} of {_number(facts.expected)} judgments {are} missing"
        )
    return "Unscored" if facts.is_unscored else ""


def _low_agreement(alpha: float | None) -> str:
    if alpha is None or round(alpha, 9) >= RELIABLE:
        return ""
    return f"Low judge agreement (alpha {formatting.score(alpha)})"


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


# Stored reasons ----------------------------------------------------------------------------------


def as_json(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """Return the reasons as `ReviewItem.reasons` stores them."""
    return [reason._asdict() for reason in reasons]


def reason_label(key: str) -> str:
    """Label a reason for filters and lists."""
    return REASONS.get(key, formatting.words(key))


def key_of(stored: Mapping[str, str]) -> str:
    return stored["key"]


class Explained(Protocol):
    """An item of a queue with its reasons."""

    reasons: list[dict[str, str]]
    is_random: bool


def reason_descriptions(item: Explained) -> list[str]:
    """Describe an item's reasons, most severe first."""
    description = [
        reason.get("description") or reason_label(key_of(reason)) for reason in item.reasons
    ]
    return [*description, reason_label(RANDOM)] if item.is_random else description


def severity(reasons: Sequence[Reason]) -> int:
    """Rank the most severe reason, from 0 for the most severe; a random item ranks last."""
    ranks = {key: rank for rank, key in enumerate(REASONS)}
    return min((ranks[reason.key] for reason in reasons), default=ranks[RANDOM])
