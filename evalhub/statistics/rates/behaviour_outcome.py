"""Whether a behaviour passes or fails, from the failures of its tests and how often judges err.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from evalhub.statistics.rates.binomial import at_most
from evalhub.statistics.rates.exact_rate import least_tests, upper_bound

LEVEL = 0.05
"""One-sided level of either word."""

ASSUMED_FALSE_FAILS = 0.1
"""Share of passing answers that judges are taken to fail where it was not measured."""

CORRELATION = 0.3
"""Of tests within an issue, where several issues are looked at as one."""

_NEAR = 1e-9


class Word(StrEnum):
    PASSES = "passes"
    FAILS = "fails"
    CANNOT_TELL = "cannot_tell"


class TestedAnswers(NamedTuple):
    """The answers to one test: all repeats, and with releases pooled all attempts.

    Attributes:
        answers: 1 or more.
        failed: How many of them failed, judges' word or people's.
        least_failed: With all that is missing taken as passed.
        most_failed: With all that is missing taken as failed.
        is_confirmed: A person confirmed one of the failures.
    """

    answers: int
    failed: float
    least_failed: float
    most_failed: float
    is_confirmed: bool = False

    @classmethod
    def whole(cls, answers: int, failed: int, *, is_confirmed: bool = False) -> "TestedAnswers":
        """Return answers behind which nothing is missing."""
        return cls(answers, failed, failed, failed, is_confirmed)


class FalseFails(NamedTuple):
    """The share of passing answers that judges fail, at its upper 95 % bound.

    Attributes:
        bound: In (0, 1).
        is_assumed: It was not measured.
    """

    bound: float = ASSUMED_FALSE_FAILS
    is_assumed: bool = True

    @classmethod
    def measured(cls, failed: int, passing: int) -> "FalseFails":
        """Return it from answers drawn at random that people pass, of which judges failed some."""
        return cls(upper_bound(failed, passing), is_assumed=False) if passing else cls()


@dataclass(frozen=True)
class BehaviourOutcome:
    """What is known of a behaviour.

    Attributes:
        rate: Mean over the tests of the share of failed answers, in [0, 1].
        upper: The largest rate that is not refuted, with what is missing taken as failed.
        limit: The rate that may not be exceeded.
        tests: Distinct tests.
        failing: Of them, those that fail more often than judges err.
        with_failures: Of them, those with a failed answer.
        missing: Answers of which something is missing that could change their outcome.
        is_confirmed: A person confirmed a failure.
        more_needed: Tests without a failure that would show it passes; None: it fails.
    """

    word: Word
    rate: float
    upper: float
    limit: float
    tests: int
    failing: int
    with_failures: int
    failed_answers: float
    answers: int
    missing: int
    is_confirmed: bool
    false_fails: FalseFails
    more_needed: int | None


def behaviour_outcome(
    tests: Sequence[TestedAnswers],
    *,
    limit: float,
    false_fails: FalseFails = FalseFails(),  # noqa: B008
    issues: int = 1,
) -> BehaviourOutcome | None:
    """Tell whether a behaviour passes or fails; None without a test.

    It fails if a person confirmed a failure, or if more tests fail than judges that err would
    explain. It passes if the rate of failures is within the limit for sure. Repeats are no further
    tests, since a judge may err on the same test each time.

    Args:
        tests: Of the behaviour, each once.
        limit: In (0, 1), such as 0.1 for critical ones.
        issues: So many issues are looked at as one: their tests count for less.
    """
    if not tests:
        return None
    shares = [one.failed / one.answers for one in tests]
    n = len(tests) / (1 + CORRELATION * (len(tests) / issues - 1) * (issues > 1))
    most = sum(one.most_failed / one.answers for one in tests) / len(tests)
    upper = upper_bound(most * n, n, level=1 - LEVEL)
    failing = sum(_fails(one.answers, one.least_failed, false_fails.bound) for one in tests)
    by_chance = _at_least(failing, len(tests), false_fails.bound)
    is_confirmed = any(one.is_confirmed for one in tests)
    if is_confirmed or (failing and by_chance <= LEVEL):
        word = Word.FAILS
    else:
        word = Word.PASSES if upper <= limit else Word.CANNOT_TELL
    return BehaviourOutcome(
        word,
        sum(shares) / len(shares),
        upper,
        limit,
        len(tests),
        failing,
        sum(one.failed > 0 for one in tests),
        sum(one.failed for one in tests),
        sum(one.answers for one in tests),
        round(sum(one.most_failed - one.least_failed for one in tests)),
        is_confirmed,
        false_fails,
        _more_needed(word, most * len(tests), len(tests), limit),
    )


def _more_needed(word: Word, most_failed: float, tests: int, limit: float) -> int | None:
    if word is Word.FAILS:
        return None
    if word is Word.PASSES:
        return 0
    return max(0, least_tests(limit, round(most_failed + 0.499)) - tests)


@lru_cache(maxsize=10_000)
def _fails(answers: int, failed: float, bound: float) -> bool:
    """Tell whether a test counts as failing: its failures are more than judges' errors explain."""
    return failed > 0 and _at_least(int(failed), answers, bound) <= bound * (1 + _NEAR)


def _at_least(k: int, n: int, rate: float) -> float:
    """Return P(X >= k) for X ~ Binomial(n, rate)."""
    return at_most(n - k, n, 1 - rate)
