"""The timeline of an issue: its runs, tests, feedback and states."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef

from evalhub.models import User
from evalhub.statistics.rates.behaviour_outcome import Word
from issues.models import Feedback, Issue, IssueState, Test
from reports.documents.cells import issue_rate, share_without_interval
from reports.documents.model_lines import LineStyle
from reports.documents.reading import Reading
from reports.issue_proposals.proposals import proposal_for
from reports.issue_proposals.rule import Proposal
from reports.issue_timeline.rule import (
    IssueResult,
    ReleasePoint,
    TurningPoints,
    by_line,
    release_points,
    turning_points,
)
from reports.leaderboard.query import labels_by_run
from reports.queries.incomplete_runs import IncompleteRun, incomplete_runs
from reports.queries.issue_outcomes import RunInfo, false_fails, run_infos, sightings
from reports.queries.names import identities
from reports.queries.run_variants import named_lines
from reports.trend.series_rule import RunKey, SeriesLines, SeriesPoint, by_time
from runs.comparison.comparability_rule import comparability
from runs.figures.rate import Rate
from runs.models import Outcome, Result, Run
from runs.result_list.listing import prompt_of
from runs.scoring.shown_verdicts import record_filtered

MAX_LINES, MAX_FEEDBACK, MAX_TESTS = 8, 100, 300


@dataclass(frozen=True)
class Point:
    """A point of a line: the runs of a release, or one without, newest first."""

    series_point: SeriesPoint
    seen: tuple[IssueResult, ...]
    rate: Rate

    @property
    def run(self) -> int:
        return self.series_point.newest.run

    @property
    def excluded(self) -> int:
        return sum(seen.excluded for seen in self.seen)


@dataclass(frozen=True)
class Line:
    """A model's runs, oldest first.

    Attributes:
        turns: Of all its runs, shown or not, that are comparable with the newest one.
        left_out: How many are not.
    """

    name: str
    look: LineStyle
    points: tuple[Point, ...]
    turns: TurningPoints
    left_out: int


@dataclass(frozen=True)
class TestLine:
    """A test of the issue over the runs shown; `prompt` None: sealed for the reader."""

    __test__ = False

    pk: int
    state: str
    prompt: str | None
    rate: Rate
    excluded: int


class StateChange(NamedTuple):
    """A change of the issue's state; `before` is "" at its creation."""

    at: datetime
    before: str
    after: str
    by: str
    reason: str


@dataclass(frozen=True)
class IssueReport:
    """The timeline of an issue.

    Attributes:
        lines: The models that ran last, latest first.
        resolution_note: "" where sealed for the reader.
        runs: Every conclusive run by id.
        seen: The outcomes in runs with results of the issue.
        feedback: Feedback that the reader may read, newest first; `feedback_total` counts all.
        proposal: The change of state that its runs suggest, if any.
        incomplete: Runs with the issue that are on no line.
    """

    issue: Issue
    resolution_note: str
    lines: tuple[Line, ...]
    series: SeriesLines
    runs: Mapping[int, RunInfo]
    seen: Sequence[IssueResult]
    tests: tuple[TestLine, ...]
    tests_total: int
    feedback: tuple[Feedback, ...]
    feedback_total: int
    changes: tuple[StateChange, ...]
    proposal: Proposal | None
    labels: tuple[str, ...]
    incomplete: tuple[IncompleteRun, ...]

    @cached_property
    def releases(self) -> list[ReleasePoint]:
        return release_points(self.seen)

    @property
    def models(self) -> set[int]:
        """All models with results of the issue, shown or not."""
        return {self.runs[one.run].model_id for one in self.seen}

    @property
    def failing(self) -> set[int]:
        """The models of which a line fails in its newest run."""
        newest = [line[-1] for line in by_line(self.seen).values()]
        return {self.runs[one.run].model_id for one in newest if one.word == Word.FAILS}


def issue_report(issue: Issue, *, by_family: bool, points: int, reading: Reading) -> IssueReport:
    """Read the whole timeline; a constant number of queries."""
    reader, runs = reading.reader, run_infos()
    found = sightings([issue.pk], runs, false_fails(runs, reading))
    seen = sorted(found.by_issue[issue.pk], key=lambda one: one.place)
    if by_family:
        families = {pk: identity.family for pk, identity in identities().items()}
        seen = [replace(one, line=families[found.runs[one.run].model_id]) for one in seen]
    keys = [
        RunKey(one.run, str(one.line), found.runs[one.run].variant, one.release, one.at)
        for one in seen
    ]
    series = by_time(keys, max_lines=MAX_LINES, max_points=points)
    feedback = Feedback.objects.filter(issue=issue)
    return IssueReport(
        issue=issue,
        resolution_note=_note(issue, reader),
        lines=_lines(series, seen, found.runs, by_family=by_family),
        series=series,
        runs=found.runs,
        seen=seen,
        tests=_tests(issue, series.runs, reader),
        tests_total=issue.tests.count(),
        feedback=tuple(feedback.readable_by(reader)[:MAX_FEEDBACK]),
        feedback_total=feedback.count(),
        changes=changes_of(issue, reader),
        proposal=proposal_for(issue, found),
        labels=tuple(sorted(set().union(*labels_by_run(series.runs).values()))),
        incomplete=incomplete_runs(
            Run.objects.filter(Exists(Result.objects.filter(issue=issue, run=OuterRef("pk"))))
        ),
    )


def _note(issue: Issue, reader: User) -> str:
    """Return the resolution note, "" if a sealed test of the issue hides it from the reader."""
    return issue.resolution_note if issue.resolution_note and _is_open(issue, reader) else ""


def _is_open(issue: Issue, reader: User) -> bool:
    """Return whether the reader may read all that was written about the issue."""
    return bool(Issue.objects.readable_by(reader).filter(pk=issue.pk).exists())


def _lines(
    series: SeriesLines,
    seen: Sequence[IssueResult],
    infos: Mapping[int, RunInfo],
    *,
    by_family: bool,
) -> tuple[Line, ...]:
    runs = {one.run: one for one in seen}
    turns: dict[Hashable, list[IssueResult]] = defaultdict(list)
    for one in seen:
        turns[str(one.line)].append(one)
    newest = {line.key: line.series_points[-1].newest.run for line in series.shown}
    fields = ("variant_key", "language_model_id", "model_name", "system_prompt", "params")
    rows = Run.objects.only(*fields, "endpoint").in_bulk(newest.values())
    names, looks = named_lines(
        {line: rows[run] for line, run in newest.items()}, by_family=by_family
    )
    lines = []
    for series_line in series.shown:
        key = series_line.key
        comparable = _comparable(turns[key], infos)
        lines.append(
            Line(
                names[key],
                looks[key],
                tuple(
                    _point(series_point, runs, infos) for series_point in series_line.series_points
                ),
                turning_points(comparable),
                len(turns[key]) - len(comparable),
            )
        )
    return tuple(lines)


def _comparable(seen: Sequence[IssueResult], infos: Mapping[int, RunInfo]) -> list[IssueResult]:
    """Return those that are comparable with the newest one, which is the last."""
    scoring = infos[seen[-1].run].scoring
    return [one for one in seen if comparability(infos[one.run].scoring, scoring)]


def _point(
    series_point: SeriesPoint, runs: Mapping[int, IssueResult], infos: Mapping[int, RunInfo]
) -> Point:
    seen = tuple(runs[run.run] for run in series_point.runs)
    passed = sum(one.passed for one in seen)
    scored = passed + sum(one.failed for one in seen)
    answers = sum(infos[run.run].repeats for run in series_point.runs)
    total = scored + sum(one.excluded for one in seen)
    rate = issue_rate(passed, scored, answers=answers, total=total)
    return Point(series_point, seen, rate)


def _tests(issue: Issue, runs: Collection[int], reader: User) -> tuple[TestLine, ...]:
    """Return its tests, lowest pass rate first; those without results last."""
    tests = Test.objects.filter(issue=issue).order_by("pk")
    prompts = dict(tests.readable_by(reader).values_list("pk", "messages")[:MAX_TESTS])
    counts: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(Outcome.values, 0))
    results = Result.objects.filter(issue=issue, run__in=runs).order_by()
    for test, outcome, n in results.values_list("test_id", "outcome").annotate(n=Count("pk")):
        counts[test][outcome] += n
    lines = []
    for pk, state in tests.values_list("pk", "state")[:MAX_TESTS]:
        passed, failed = counts[pk][Outcome.PASSED], counts[pk][Outcome.FAILED]
        total = sum(counts[pk].values())
        rate = share_without_interval(passed, passed + failed, total=total)
        prompt = prompt_of(prompts[pk]) if pk in prompts else None
        excluded = total - passed - failed
        lines.append(TestLine(pk, state, prompt, rate, excluded))
    alike = [line.pk for line in lines if line.rate.share in (0, 1)]  # which tells each outcome
    record_filtered(reader, results.filter(test__in=alike))
    return tuple(sorted(lines, key=_lowest_first))


def _lowest_first(line: TestLine) -> tuple[float, int]:
    return 2.0 if line.rate.share is None else line.rate.share, line.pk


def changes_of(issue: Issue, reader: User) -> tuple[StateChange, ...]:
    """Return the changes of the issue's state, oldest first; two queries.

    Reasons, which may quote a sealed test, are "" for those who may not read it.
    """
    is_open = _is_open(issue, reader)
    names = ("history_date", "state", "history_user__username", "history_change_reason")
    rows = issue.history.order_by("history_date", "history_id").values_list(*names)
    changes: list[StateChange] = []
    before = ""
    for at, state, by, reason in rows:
        if state != before:
            why = reason or "" if is_open else ""
            changes.append(StateChange(at, _named(before), _named(state), by or "", why))
        before = state
    return tuple(changes)


def _named(state: str) -> str:
    return str(IssueState(state).label).lower() if state else ""
