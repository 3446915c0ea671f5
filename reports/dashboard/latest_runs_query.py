"""The latest run of each model against its baseline, and what that tells of issues."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from evalhub.statistics.holm import holm
from issues.models import Issue
from reports.compare.pair_changes_query import (
    Change,
    Counted,
    PairChange,
    counts_by_issue,
    pair_changes,
)
from reports.documents.reading import Reading
from reports.leaderboard.query import labels_by_run
from runs.baselines import earlier_of, is_baseline, skipped_baselines
from runs.comparability import COMPARABLE, Comparable, comparability_of_pairs
from runs.figures.rate import Rate, rate_of_issues
from runs.models import Run

MAX_MODELS = 8
"""Models on the first page: those that were run last."""


class CompleteRun(NamedTuple):
    """The columns of a conclusive run that choose the runs shown."""

    pk: int
    model: int
    has_baseline: bool
    at: datetime


class LatestRuns(NamedTuple):
    """The latest run of a model, and the runs that it is compared with; None: there is none.

    Attributes:
        against: Its opponent (see `runs.baselines`), of whichever model.
        since: A run of the same model: the opponent if it is one, else the previous run.
    """

    run: int
    against: int | None
    since: int | None


def latest_runs(complete: Sequence[CompleteRun]) -> list[int]:
    """Return the latest run of each model, newest first.

    Runs of suites that have a baseline go before others: they are the ones to watch.

    Args:
        complete: Conclusive runs, newest first.
    """
    latest: dict[int, CompleteRun] = {}
    for run in sorted(complete, key=lambda run: not run.has_baseline):
        latest.setdefault(run.model, run)
    newest = sorted(latest.values(), key=lambda run: (run.at, run.pk), reverse=True)
    return [run.pk for run in newest[:MAX_MODELS]]


def with_opponents(runs: Sequence[int], models: Mapping[int, int]) -> list[LatestRuns]:
    """Return each run with the runs that it is compared with; one query.

    Args:
        models: The model of every complete run.
    """
    earlier = earlier_of(runs)
    return [
        LatestRuns(
            run,
            earlier[run].opponent,
            earlier[run].opponent
            if models.get(earlier[run].opponent or 0) == models[run]
            else earlier[run].previous,
        )
        for run in runs
    ]


# The report -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Latest:
    """A model's latest run, with what it is compared with: see `LatestRuns`.

    `compared` is the comparison with `against`, `turned` that with `since`: None where there is
    no such run or its scores are not comparable, and while they are computed. `comparable` is of
    `against`; `is_since_refused` tells that there is a `since` that is not comparable.
    """

    run: Run
    rate: Rate
    against: Run | None
    before: Rate | None
    is_baseline: bool
    labels: tuple[str, ...]
    compared: PairChange | None
    since: Run | None
    turned: PairChange | None
    comparable: Comparable
    is_since_refused: bool
    is_pending: bool


@dataclass(frozen=True)
class WorseIssue:
    """An issue that lost tests in a model's latest run, `since` an earlier one of that model."""

    issue: int
    run: Run
    since: Run
    change: Change


@dataclass(frozen=True)
class NeverPassedIssue:
    """An issue of which no model's latest run passed a single answer."""

    issue: int
    models: int
    failed: int
    total: int


@dataclass(frozen=True)
class LatestRunsReport:
    """The latest run of each model. `titles` are those of all issues that are named.

    `skipped` says which baselines are passed over, and why.
    """

    runs: tuple[Latest, ...]
    worse: tuple[WorseIssue, ...]
    never_passed: tuple[NeverPassedIssue, ...]
    titles: Mapping[int, str]
    skipped: tuple[str, ...]


def latests(complete: Sequence[CompleteRun], reading: Reading) -> LatestRunsReport:
    """A constant number of queries; comparisons may be left to a second request."""
    pairs = with_opponents(latest_runs(complete), {run.pk: run.model for run in complete})
    counts = counts_by_issue({pk for pair in pairs for pk in pair if pk is not None})
    runs = corrected(tuple(_latest(pairs, counts, reading)))
    never_passed = _hopeless({pair.run: counts[pair.run] for pair in pairs})
    worse = _worse(runs)
    named = {one.issue for one in never_passed} | {one.issue for one in worse}
    titles = Issue.objects.filter(pk__in=named).order_by().values_list("pk", "title")
    skipped = skipped_baselines([pair.run for pair in pairs])
    return LatestRunsReport(
        runs, worse, never_passed, dict(titles), tuple(dict.fromkeys(skipped.values()))
    )


def _latest(
    pairs: Sequence[LatestRuns], counts: Mapping[int, Sequence[Counted]], reading: Reading
) -> Iterable[Latest]:
    fields = ("label", "release", "created_at", "model_name", "language_model", "repeats", "suite")
    rows = Run.objects.filter(pk__in=counts).select_related("suite").only(*fields)
    runs = {run.pk: run for run in rows}
    labels = labels_by_run([pair.run for pair in pairs])
    comparable = comparability_of_pairs(
        sorted({(a, pair.run) for pair in pairs for a in (pair.against, pair.since) if a})
    )
    wanted = [pair for pair, is_comparable in comparable.items() if is_comparable]
    found = _compared(wanted, runs, counts, reading)
    for pair in pairs:
        run, against = runs[pair.run], runs.get(pair.against or 0)
        earlier = [(before, run.pk) for before in (pair.against, pair.since) if before]
        yield Latest(
            run=run,
            rate=_rate(run, counts[run.pk]),
            against=against,
            before=_rate(against, counts[against.pk]) if against else None,
            is_baseline=bool(against and is_baseline(against)),
            labels=labels.get(run.pk, ()),
            compared=found.get((pair.against or 0, pair.run)),
            since=runs.get(pair.since or 0),
            turned=found.get((pair.since or 0, pair.run)),
            comparable=comparable.get((pair.against or 0, pair.run), COMPARABLE),
            is_since_refused=pair.since is not None and not comparable[pair.since, run.pk],
            is_pending=any(comparable[one] and one not in found for one in earlier),
        )


def _rate(run: Run, counts: Sequence[Counted]) -> Rate:
    issues = [(one.passed, one.passed + one.failed) for one in counts]
    total = sum(one.total for one in counts)
    return rate_of_issues(issues, answers=run.repeats, total=total)


# Compared ----------------------------------------------------------------------------------------


Pair = tuple[int, int]
"""An earlier run and a later one."""


def _compared(
    wanted: Sequence[tuple[int, int]],
    runs: Mapping[int, Run],
    counts: Mapping[int, Sequence[Counted]],
    reading: Reading,
) -> dict[Pair, PairChange]:
    """Compare each of these pairs of comparable runs; empty while they are computed."""
    if not wanted:
        return {}
    single = [all(runs[pk].repeats == 1 for pk in pair) for pair in wanted]
    inputs = [wanted, single, [sorted(counts[pk]) for pk in sorted(runs)]]
    return reading.computed("home-pairs-6", inputs, lambda: pair_changes(wanted, single)) or {}


def corrected(runs: Sequence[Latest]) -> tuple[Latest, ...]:
    """Correct the p of all models together, and that of the issues of all models (Holm)."""
    models = holm([one.compared.whole.p if one.compared else None for one in runs])
    places = [
        (place, issue)
        for place, one in enumerate(runs)
        for issue in (one.turned.issues if one.turned else ())
    ]
    plain = [turned.issues[issue].p for place, issue in places if (turned := runs[place].turned)]
    by_place: dict[int, dict[int, float | None]] = defaultdict(dict)
    for (place, issue), p in zip(places, holm(plain), strict=True):
        by_place[place][issue] = p
    return tuple(
        replace(
            one,
            compared=one.compared
            and replace(one.compared, whole=replace(one.compared.whole, p=models[place])),
            turned=one.turned
            and replace(
                one.turned,
                issues={
                    issue: replace(change, p=by_place[place][issue])
                    for issue, change in one.turned.issues.items()
                },
            ),
        )
        for place, one in enumerate(runs)
    )


def _worse(runs: Iterable[Latest]) -> tuple[WorseIssue, ...]:
    """The surest first, then those that lost most."""
    found = [
        WorseIssue(issue, latest.run, latest.since, change)
        for latest in runs
        if latest.since and latest.turned
        for issue, change in latest.turned.issues.items()
        if change.net is not None and change.net < 0
    ]
    return tuple(sorted(found, key=lambda one: (one.change.p or 0, one.change.net or 0, one.issue)))


def _hopeless(runs: Mapping[int, Sequence[Counted]]) -> tuple[NeverPassedIssue, ...]:
    """Issues that two models or more decided, and none passed; most models first."""
    failed: dict[int, dict[int, int]] = defaultdict(dict)
    total: dict[int, int] = defaultdict(int)
    passed = set()
    for run, counts in runs.items():
        for one in counts:
            total[one.issue] += one.total
            if one.failed:
                failed[one.issue][run] = one.failed
            if one.passed:
                passed.add(one.issue)
    found = [
        NeverPassedIssue(issue, len(of), sum(of.values()), total[issue])
        for issue, of in failed.items()
        if issue not in passed and len(of) > 1
    ]
    return tuple(sorted(found, key=lambda one: (-one.models, -one.failed, one.issue)))
