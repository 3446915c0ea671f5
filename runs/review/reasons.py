"""Reasons for human review, from the facts of an answer, most severe first. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.display import formatting
from evalhub.statistics.agreement.alpha_bands import TENTATIVE

REQUESTED = "requested"
DISPUTED = "disputed"
JUDGES_DISAGREE = "judges_disagree"
JUDGE_FAILED = "judge_failed"
LOW_AGREEMENT = "low_agreement"
FLIPPED = "flipped"
HIGH_WEIGHT = "high_weight"
RANDOM = "random"

REASONS = {
    REQUESTED: "Added by an annotator",
    DISPUTED: "Annotators disagree",
    JUDGES_DISAGREE: "Judges disagree",
    JUDGE_FAILED: "Missing judgment",
    LOW_AGREEMENT: "Low judge agreement",
    FLIPPED: "Flipped since the baseline",
    HIGH_WEIGHT: "High-weight test",
    RANDOM: "Random sample",
}
"""Labels of all reasons, most severe first."""

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


def reasons_of(facts: Facts) -> tuple[Reason, ...]:
    """Return all reasons that apply, most severe first."""
    description = {
        DISPUTED: "Annotators disagree on it" if facts.is_disputed else "",
        JUDGES_DISAGREE: _disagreement(facts),
        JUDGE_FAILED: _failure(facts),
        LOW_AGREEMENT: _low_agreement(facts.agreement),
        FLIPPED: _flip(facts),
        HIGH_WEIGHT: f"Test weight {facts.weight:g}" if facts.weight >= HEAVY else "",
    }
    return tuple(Reason(key, words) for key, words in description.items() if words)


def _disagreement(facts: Facts) -> str:
    if facts.passing and facts.failing:
        judges = _plural(facts.passing, "judges pass", "judge passes")
        fail = _plural(facts.failing, "fail", "fails")
        passing, failing = _number(facts.passing).capitalize(), _number(facts.failing)
        return f"{passing} {judges} it, {failing} {fail} it"
    if facts.split:
        criteria = _plural(facts.split, "criteria", "criterion")
        return f"Judges are split on {_number(facts.split)} {criteria}"
    return ""


def _failure(facts: Facts) -> str:
    missing = facts.expected - facts.answered
    if facts.is_unscored and not facts.answered:
        return "No judge gave a verdict" if facts.expected else "Not judged"
    if missing > 0:
        are = _plural(missing, "are", "is")
        found = f"{_number(missing)} of {_number(facts.expected)} judgments {are} missing"
        return found.capitalize()
    return "Unscored" if facts.is_unscored else ""


def _low_agreement(alpha: float | None) -> str:
    if alpha is None or round(alpha, 9) >= TENTATIVE:
        return ""
    return f"Low judge agreement (alpha {formatting.score(alpha)})"


def _flip(facts: Facts) -> str:
    if facts.passed is None or facts.passed_before in (None, facts.passed):
        return ""
    now, then = ("Passed", "failed") if facts.passed else ("Failed", "passed")
    return f"{now} now, {then} in {facts.before} (one answer each, not tested)"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else formatting.count(n)


def _plural(n: int, several: str, one: str) -> str:
    return one if n == 1 else several


# Stored reasons ----------------------------------------------------------------------------------


def as_json(reasons: Iterable[Reason]) -> list[dict[str, str]]:
    """Return the reasons as `ReviewItem.reasons` stores them."""
    return [reason._asdict() for reason in reasons]


def reason_descriptions(reasons: Iterable[Mapping[str, str]], *, is_random: bool) -> list[str]:
    """Describe stored reasons, most severe first."""
    descriptions = [reason["description"] for reason in reasons]
    return [*descriptions, REASONS[RANDOM]] if is_random else descriptions


def severity(reasons: Sequence[Reason]) -> int:
    """Rank the most severe reason, from 0 for the most severe; a random item ranks last."""
    ranks = {key: rank for rank, key in enumerate(REASONS)}
    return min((ranks[reason.key] for reason in reasons), default=ranks[RANDOM])
