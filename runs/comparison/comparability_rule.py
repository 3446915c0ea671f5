"""Whether scores made in two ways may be compared; other pairs are not. Pure."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from evalhub.values.digest import digest
from runs.comparison.scoring_versions import (
    OF_ANSWERS,
    SENT_TO_CANDIDATE,
    SENT_TO_JUDGE,
    Part,
    Parts,
    conflicts,
    judged_earlier,
)

T = TypeVar("T")


class Comparability(StrEnum):
    COMPARABLE = "comparable"
    AFTER_REJUDGING = "after_rejudging"
    NOT = "not_comparable"


@dataclass(frozen=True)
class Comparable:
    """An answer of `comparability`; true if the scores may be compared.

    Attributes:
        cause: Why the scores cannot be compared, as a clause; "" if they can.
        rejudges_first: The first of the two is to be re-judged, not the second.
    """

    verdict: Comparability
    cause: str = ""
    rejudges_first: bool = False

    def __bool__(self) -> bool:
        return self.verdict == Comparability.COMPARABLE

    @property
    def reason(self) -> str:
        """Why the scores cannot be compared, as a sentence; "" if they can."""
        return f"{self.cause[0].upper()}{self.cause[1:]}." if self.cause else ""

    def reason_against(self, name: str) -> str:
        """Return the sentence that refuses a comparison with the run of this name."""
        return f"Not comparable with {name}: {self.cause}." if self.cause else ""

    @property
    def is_repairable(self) -> bool:
        """Re-judging one of the runs with the jury of the other makes them comparable."""
        return self.verdict == Comparability.AFTER_REJUDGING

    def to_rejudge(self, first: T, second: T) -> tuple[T, T]:
        """Return which of the compared two to re-judge, and the one whose jury does it."""
        return (first, second) if self.rejudges_first else (second, first)


class Scoring(NamedTuple):
    """The way a run is scored, apart from its tests.

    Attributes:
        whole: Fingerprint of what judges its tests without a rubric; "" if nothing has to.
        rubric: Fingerprint of what judges its criteria; "" if nothing has to.
        similarity: How similarity to the reference enters the scores; () if it does not.
        broken_off: What becomes of answers that broke off; () is the default.
        made_with: What EvalHub itself did for its answers and verdicts.
    """

    whole: str
    rubric: str
    similarity: tuple[Any, ...]
    broken_off: tuple[str, ...] = ()
    made_with: Parts = MappingProxyType({})

    @property
    def key(self) -> str:
        """A digest, equal for runs of the same tests if and only if they are comparable."""
        if self.similarity or self.broken_off or self.made_with:
            return digest([*self[:-1], dict(self.made_with)])
        return _key_of_judges(self.whole, self.rubric)

    @property
    def of_any_model(self) -> "Scoring":
        """The same without the parameters sent to its model, which no other model shares."""
        shared = {
            name: values
            for name, values in self.made_with.items()
            if not name.startswith(SENT_TO_CANDIDATE)
        }
        return self._replace(made_with=shared)


@lru_cache(maxsize=1000)
def _key_of_judges(whole: str, rubric: str) -> str:
    """Return the key without similarity: thousands of runs share a few."""
    return digest([whole, rubric, ()])


COMPARABLE = Comparable(Comparability.COMPARABLE)
OTHER_SIMILARITY = Comparable(
    Comparability.NOT,
    "similarity to the reference answer counts differently in their scores",
)
OTHER_HANDLING = Comparable(
    Comparability.NOT, "answers that broke off count differently in their scores"
)
OTHER_READING = Comparable(
    Comparability.NOT, "another version of EvalHub asked for and read their answers"
)
OTHER_PARAMETERS = Comparable(
    Comparability.NOT, "the model got other parameters, as its endpoint refused some"
)
OTHER_CHECKS = Comparable(
    Comparability.NOT,
    "another version of EvalHub ran their checks, which can be run again at no cost",
)
OTHER_JUDGING = Comparable(
    Comparability.AFTER_REJUDGING, "they were judged by another version of EvalHub"
)
OTHER_JUDGE_PARAMETERS = Comparable(
    Comparability.AFTER_REJUDGING, "their judges got other parameters, as an endpoint refused some"
)
OTHER_JURY = Comparable(Comparability.AFTER_REJUDGING, "different juries judged these runs")


def comparability(first: Scoring, second: Scoring) -> Comparable:
    """Tell whether scores made in these ways may be compared as a whole."""
    found = comparability_by_test(first, second)
    return found and versions_apart(first.made_with, second.made_with)


def versions_apart(first: Parts, second: Parts) -> Comparable:
    """Tell whether what EvalHub itself did to make two scores was the same, where both needed it.

    Two runs have all that any of their scores needed; single tests are asked one by one.
    """
    apart = conflicts(first, second)
    if apart.intersection(OF_ANSWERS):
        return OTHER_READING
    if any(name.startswith(SENT_TO_CANDIDATE) for name in apart):
        return OTHER_PARAMETERS
    if judged := apart - {Part.CHECK}:
        if all(name.startswith(SENT_TO_JUDGE) for name in judged):
            # Whoever judges now sends what the second was sent, unless that changed meanwhile.
            is_mixed = any(len(second[name]) > 1 for name in judged)
            return replace(OTHER_JUDGE_PARAMETERS, rejudges_first=not is_mixed)
        is_first = judged_earlier(first) and not judged_earlier(second)
        return replace(OTHER_JUDGING, rejudges_first=is_first)
    return OTHER_CHECKS if apart else COMPARABLE


def comparability_by_test(first: Scoring, second: Scoring) -> Comparable:
    """Tell whether scores made in these ways may be compared, but for versions of EvalHub.

    Revisions are compared test by test, and with them texts, criteria, templates and pass rules
    (`reports.compare.matching_rule`). Here are the things left that change a score: the judges of
    the active judge runs, with models, approaches, parameters and prompts, the share of similarity,
    and what becomes of answers that broke off. Judges count only where both runs have tests that
    need them: checks alone are comparable.
    """
    if first.similarity != second.similarity:
        return OTHER_SIMILARITY
    if first.broken_off != second.broken_off:
        return OTHER_HANDLING
    if _differ(first.whole, second.whole) or _differ(first.rubric, second.rubric):
        return OTHER_JURY
    return COMPARABLE


def _differ(first: str, second: str) -> bool:
    return bool(first and second and first != second)
