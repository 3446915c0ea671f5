"""What a score was made of: judgments that were expected, and those that are missing. Pure.

Expected is a judgment of each sample of each judge of the jury, and of each check. A backup judge
is never expected: it only stands in while one of the others is missing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from issues.rubrics.scoring import jury_value

IMPORTED_ERROR, CANNOT_RUN, CANNOT_TELL = "imported_error", "cannot_run", "cannot_tell"

FINAL = (CANNOT_RUN, CANNOT_TELL)
"""Failures of checks that another try would repeat."""

Ends = tuple[float, float]
ScaleEnds = Mapping[int | None, Ends]
"""The lowest and the highest value of scales, by judge template id."""

UNIT: Ends = (0.0, 1.0)
"""Of checks."""


class OwnOrBackup(Protocol):
    """A judgment of a judge or check; `value` None: it failed."""

    @property
    def is_backup(self) -> bool: ...

    @property
    def value(self) -> float | None: ...


V = TypeVar("V", bound=OwnOrBackup)


class JudgeValue(NamedTuple):
    """The fields of a judgment that scoring and agreement need; `judge` None: a check.

    `taken_from` is the judgment that was asked, where this one was not; only that one counts in
    what measures judges.
    """

    criterion: int
    judge: int | None
    is_backup: bool
    value: float | None
    template: int | None
    failure: str = ""
    taken_from: int | None = None

    @property
    def is_missing(self) -> bool:
        """Whether it was expected and has no value. Nothing is expected of imported scores."""
        return self.value is None and not self.is_backup and self.failure != IMPORTED_ERROR


class Coverage(NamedTuple):
    """Numbers of judgments.

    `answered` of those `expected` have a value; `replaced` further ones have a backup judge's in
    their place; `final` of the missing ones no retry would give; `taken` were asked in other runs.
    """

    expected: int = 0
    answered: int = 0
    replaced: int = 0
    final: int = 0
    taken: int = 0


class Bounds(NamedTuple):
    """The lowest and the highest outcome that what is missing allows; without a score, any."""

    lowest_score: float = 0.0
    highest_score: float = 1.0
    lowest_passed: bool = False
    highest_passed: bool = True


def counting(judgments: Sequence[V]) -> Sequence[V]:
    """Return those on one criterion that count: a backup's only while another one is missing."""
    own = [one for one in judgments if not one.is_backup]
    return own if own and all(one.value is not None for one in own) else judgments


def coverage_of(votes: Iterable[JudgeValue]) -> Coverage:
    """Count the judgments on one result. A backup replaces one, on its own criterion."""
    total = Coverage()
    for given in _by_criterion(votes).values():
        missing = [vote for vote in given if vote.is_missing]
        answered = sum(vote.value is not None and not vote.is_backup for vote in given)
        backups = sum(vote.value is not None and vote.is_backup for vote in given)
        found = Coverage(
            answered + len(missing),
            answered,
            min(backups, len(missing)),
            sum(vote.failure in FINAL for vote in missing),
            sum(vote.taken_from is not None for vote in given),
        )
        total = Coverage(*map(sum, zip(total, found, strict=True)))
    return total


def consensus_of(votes: Iterable[JudgeValue]) -> dict[int, float | None]:
    """Return the consensus of the jury, or the check's value, by criterion id."""
    return {pk: _value(counting(given)) for pk, given in _by_criterion(votes).items()}


def completed(
    votes: Iterable[JudgeValue], scales: ScaleEnds, highest: Collection[int]
) -> dict[int, float | None]:
    """Return the consensus if every missing judgment were at one end of its scale.

    A backup has no part where one is missing: it would not have been asked.

    Args:
        highest: Criteria of which the higher end is taken.
    """
    found: dict[int, float | None] = {}
    for pk, given in _by_criterion(votes).items():
        if any(vote.is_missing for vote in given):
            given = [vote for vote in given if not vote.is_backup]
        end = int(pk in highest)
        found[pk] = _value(
            [
                vote._replace(value=scales.get(vote.template, UNIT)[end])
                if vote.is_missing
                else vote
                for vote in counting(given)
            ]
        )
    return found


def _value(votes: Iterable[JudgeValue]) -> float | None:
    samples: dict[int | None, list[float | None]] = defaultdict(list)
    for vote in votes:
        samples[vote.judge].append(vote.value)
    return jury_value(samples)


def _by_criterion(votes: Iterable[JudgeValue]) -> dict[int, list[JudgeValue]]:
    found: dict[int, list[JudgeValue]] = defaultdict(list)
    for vote in votes:
        found[vote.criterion].append(vote)
    return found
