"""The outcome of an issue in runs and releases, its turning points, and whether it fails again.

An issue passes, fails or cannot be told with each model by `behaviour_outcome`: from all its tests,
flaky ones included, within the limit of its severity. In a release it fails if it does with any
model, and passes if it does with every one. A person's verdict takes the place of the judges'.

`dev.py bench validity issue` measures how often an issue without an error fails or passes. Pure.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from evalhub.display.formatting import counted, percent
from evalhub.statistics.rates.behaviour_outcome import (
    BehaviourOutcome,
    FalseFails,
    TestedAnswers,
    Word,
    behaviour_outcome,
)
from issues.severity import MAX_FAILURE_RATE

TEST, PASSED, FAILED, EXCLUDED, LEAST_FAILED, MOST_FAILED, CONFIRMED = range(7)
"""The columns of `AnswerCounts`. Excluded are errors, unscored and pending ones; least and most
failed are counted with what is missing taken as passed and as failed; people confirmed some."""

AnswerCounts = NDArray[np.int64]
"""The answers to each test in a run; shape (tests, 7)."""

NOT_MEASURED = FalseFails()


@dataclass(frozen=True, eq=False)
class IssueResult:
    """The results of an issue in a run.

    Attributes:
        line: The model variant, model or family.
        release: "" without one.
        together: Launch and day; runs without a release that share it count as one release.
        severity: Of the issue.
        false_fails: Of the judges that scored the run.
        place: Of the run in the order of releases; equal places are ordered by time.
    """

    run: int
    line: Hashable
    release: str
    together: Hashable
    at: datetime
    severity: str
    tests: AnswerCounts
    false_fails: FalseFails = NOT_MEASURED
    place: int = 0

    @property
    def passed(self) -> int:
        return int(self.tests[:, PASSED].sum())

    @property
    def failed(self) -> int:
        return int(self.tests[:, FAILED].sum())

    @property
    def excluded(self) -> int:
        return int(self.tests[:, EXCLUDED].sum())

    @cached_property
    def evidence(self) -> "IssueEvidence":
        return evidence_of([self])

    @property
    def word(self) -> Word:
        return self.evidence.word


@dataclass(frozen=True)
class IssueEvidence:
    """The outcome of an issue in some runs with each model, the highest rate of failures first."""

    lines: tuple[BehaviourOutcome, ...]

    @property
    def word(self) -> Word:
        words = {line.word for line in self.lines}
        if Word.FAILS in words:
            return Word.FAILS
        return Word.PASSES if words == {Word.PASSES} else Word.CANNOT_TELL

    @property
    def deciding(self) -> BehaviourOutcome | None:
        """The first model of which the whole is said; None without an answer."""
        return next((line for line in self.lines if line.word == self.word), None)

    @property
    def may_fail(self) -> bool:
        """An answer fails or lacks a score."""
        return any(line.with_failures or line.missing for line in self.lines)

    @property
    def more_needed(self) -> int:
        """Further tests without a failure that would show that it passes."""
        return max((line.more_needed or 0 for line in self.lines), default=0)

    @property
    def words(self) -> str:
        """What was counted, and what follows, as a sentence."""
        return self.in_line[0].upper() + self.in_line[1:]

    @property
    def in_line(self) -> str:
        """The same as the end of a sentence."""
        found = self.deciding
        if found is None:
            return "no answer has a score."
        n, alike = len(self.lines), sum(line.word == self.word for line in self.lines)
        models = "" if n == 1 else f"with {alike} of {n} models, "
        if alike == n > 1:
            models = f"with each of {n} models, "
        return f"{models}{_said(found)}."


def _said(found: BehaviourOutcome) -> str:
    answers = (
        f"{found.failed_answers:g} of {counted(int(found.answers), 'answer')} "
        f"{'fails' if found.failed_answers == 1 else 'fail'}, "
        f"in {found.with_failures} of {counted(found.tests, 'test')}"
    )
    if found.word == Word.FAILS:
        return f"{answers} ({_judges(found)})"
    if found.word == Word.PASSES:
        return (
            f"{answers}: at most {percent(found.upper)} for sure, {percent(found.limit)} is allowed"
        )
    lack = "lacks" if found.missing == 1 else "lack"
    lacking = f"{counted(found.missing, 'answer')} {lack} a score: retry"
    if found.with_failures:
        is_asked_once = found.answers == found.tests
        verb = "fails" if found.with_failures == 1 else "fail"
        questions = f"{found.with_failures} of {counted(found.tests, 'question')} {verb}"
        said = f"{questions if is_asked_once else answers}; people must look"
    else:
        questions = "question passes" if found.tests == 1 else f"{found.tests} questions pass"
        said = f"its {questions}"
        if found.more_needed:
            said += f"; {found.more_needed:,} more would show it"
    return f"{said}; {lacking}" if found.missing else said


def _judges(found: BehaviourOutcome) -> str:
    if found.is_confirmed:
        return "people confirmed a failure"
    rate = found.false_fails
    said = f"judges fail at most {percent(rate.bound)} of the answers that people pass"
    return f"assumed: {said}" if rate.is_assumed else said


def evidence_of(runs: Iterable[IssueResult]) -> IssueEvidence:
    """Tell the outcome with each model; further runs of a model are repeats of its tests."""
    found = [_outcome(seen) for seen in by_line(runs).values()]
    lines = [line for line in found if line is not None]
    return IssueEvidence(tuple(sorted(lines, key=lambda line: -line.rate)))


def _outcome(runs: Sequence[IssueResult]) -> BehaviourOutcome | None:
    rows = np.concatenate([seen.tests for seen in runs])
    tests, of_row = np.unique(rows[:, TEST], return_inverse=True)
    sums = np.zeros((len(tests), rows.shape[1]), np.int64)
    np.add.at(sums, of_row, rows)
    columns = (
        sums[:, [PASSED, FAILED, EXCLUDED]].sum(axis=1),
        *(sums[:, name] for name in (FAILED, LEAST_FAILED, MOST_FAILED)),
        sums[:, CONFIRMED] > 0,
    )
    return behaviour_outcome(
        [TestedAnswers._make(row) for row in zip(*map(np.ndarray.tolist, columns), strict=True)],
        limit=MAX_FAILURE_RATE[runs[-1].severity],
        false_fails=max((seen.false_fails for seen in runs), key=lambda rate: rate.bound),
    )


def _time(seen: IssueResult) -> tuple[int, datetime, int]:
    return seen.place, seen.at, seen.run


# One model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TurningPoints:
    """The turning points of one model's runs; None: there is no such run.

    Attributes:
        before: The last run before the first failure; the regression lies in between.
        passed_again: The first run after the first failure in which it passes for sure.
        streak: Number of newest runs in a row with the same outcome.
    """

    first_failed: IssueResult | None
    before: IssueResult | None
    passed_again: IssueResult | None
    now: IssueResult | None
    streak: int


def turning_points(runs: Iterable[IssueResult]) -> TurningPoints:
    """Find the turning points of one model's runs, given in any order."""
    seen = sorted(runs, key=_time)
    if not seen:
        return TurningPoints(None, None, None, None, 0)
    # No word is asked for that decides nothing: a line may have thousands of runs.
    failing = (place for place, one in enumerate(seen) if one.word == Word.FAILS)
    broke = next(failing, len(seen))
    return TurningPoints(
        first_failed=seen[broke] if broke < len(seen) else None,
        before=seen[broke - 1] if 0 < broke < len(seen) else None,
        passed_again=next((one for one in seen[broke:] if one.word == Word.PASSES), None),
        now=seen[-1],
        streak=sum(1 for _ in takewhile(lambda one: one.word == seen[-1].word, reversed(seen))),
    )


def by_line(runs: Iterable[IssueResult]) -> dict[Hashable, list[IssueResult]]:
    """Group the runs by model, oldest first."""
    lines: dict[Hashable, list[IssueResult]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        lines[seen.line].append(seen)
    return dict(lines)


# All models --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasePoint:
    """A release, or a launch without one, with its runs of all models, oldest first."""

    name: str
    runs: tuple[IssueResult, ...]

    @cached_property
    def evidence(self) -> IssueEvidence:
        return evidence_of(self.runs)

    @property
    def word(self) -> Word:
        return self.evidence.word


def release_points(runs: Iterable[IssueResult]) -> list[ReleasePoint]:
    """Return the releases, lowest first."""
    points: dict[tuple[str, Hashable], list[IssueResult]] = defaultdict(list)
    for seen in sorted(runs, key=_time):
        points[seen.release, "" if seen.release else seen.together].append(seen)
    return [ReleasePoint(release, tuple(found)) for (release, _), found in points.items()]


def passing_now(runs: Iterable[IssueResult]) -> ReleasePoint | None:
    """Return the newest release if the issue passes in it, else None.

    If any run has a release, a launch without one does not count, but one that fails later does.
    """
    points = release_points(runs)
    named = [place for place, point in enumerate(points) if point.name]
    place = named[-1] if named else len(points) - 1
    if not points or points[place].word != Word.PASSES:
        return None
    fails_later = any(point.word == Word.FAILS for point in points[place + 1 :])
    return None if fails_later else points[place]


def failing_again(runs: Iterable[IssueResult], resolved_at: datetime) -> ReleasePoint | None:
    """Return the newest release after the resolution if the issue fails in it, else None.

    A model that already failed at the resolution counts only after a run in which it did not.
    Releases that cannot tell count only if none of their answers fails: what fails in a hotfix of
    an old release may long pass in the highest one.
    """
    found: list[IssueResult] = []
    for mine in by_line(runs).values():
        before = [seen for seen in mine if seen.at <= resolved_at]
        fails = bool(before) and before[-1].word == Word.FAILS
        for seen in (one for one in mine if one.at > resolved_at):
            fails = fails and seen.word == Word.FAILS
            if not fails:
                found.append(seen)
    points = [
        point
        for point in release_points(found)
        if point.word != Word.CANNOT_TELL or not point.evidence.may_fail
    ]
    return points[-1] if points and points[-1].word == Word.FAILS else None
