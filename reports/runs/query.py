"""Runs of the overview, grouped by launch."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from django.core.paginator import Page, Paginator

from evalhub.models import BatchState
from reports.queries.run_names import saying
from runs.comparability import Scoring, comparability, scoring_of
from runs.figures.rate import Rate
from runs.figures.run_labels import labels_of
from runs.figures.states import current_of, state_of
from runs.figures.tallies import (
    Counts,
    Group,
    Rates,
    Score,
    Tally,
    counts_of,
    grouped,
    score_of,
    tallies_of_runs,
)
from runs.models import JudgeRun, Run

PAGE = 25


@dataclass(frozen=True)
class RunLine:
    """A run in brief. `state` is that of run and judge runs together.

    The score comes without its interval. `scoring` tells whether scores may be compared.
    """

    run: Run
    counts: Counts
    rate: Rate
    score: Score
    state: str
    labels: tuple[str, ...]
    scoring: Scoring

    @property
    def is_live(self) -> bool:
        return self.state == BatchState.LIVE


@dataclass(frozen=True)
class LaunchGroup:
    """Runs of one launch. `label` is the first run's where there was no launch."""

    label: str
    lines: tuple[RunLine, ...]

    @property
    def juries_differ(self) -> bool:
        """Some were judged or scored otherwise, so their scores cannot be compared."""
        return not all(comparability(self.lines[0].scoring, one.scoring) for one in self.lines)


@dataclass(frozen=True)
class RunsReport:
    """A page of runs, newest first."""

    groups: tuple[LaunchGroup, ...]
    page: Page


def runs_report(page: int = 1, search: str = "") -> RunsReport:
    """Return runs whose label, model, release, launch or suite matches; constant queries."""
    wanted = saying(search)
    runs = Run.objects.filter(wanted).select_related("launch", "requested_by").order_by("-pk")
    shown = Paginator(runs, PAGE).get_page(page)
    return RunsReport(_grouped(run_lines(shown.object_list)), shown)


def run_lines(runs: Iterable[Run]) -> tuple[RunLine, ...]:
    """Return a line for each run, in their order; two queries."""
    runs = list(runs)
    tallies: dict[int, list[Tally]] = defaultdict(list)
    for tally in tallies_of_runs(runs):
        tallies[tally.run_id].append(tally)
    repeats = {run.pk: run.repeats for run in runs}
    groups = grouped(chain.from_iterable(tallies.values()), lambda tally: [tally.run_id])
    groups |= {run.pk: Group() for run in runs if run.pk not in groups}
    rates = Rates(groups, answers=repeats.__getitem__)
    judge_runs: dict[int, list[JudgeRun]] = defaultdict(list)
    for judge_run in JudgeRun.objects.filter(run__in=runs).defer("statistics"):
        judge_runs[judge_run.run_id].append(judge_run)
    return tuple(_line(run, tallies[run.pk], rates[run.pk], judge_runs[run.pk]) for run in runs)


def _line(
    run: Run, tallies: Sequence[Tally], rate: Rate, judge_runs: Sequence[JudgeRun]
) -> RunLine:
    current = current_of(judge_runs)
    return RunLine(
        run=run,
        counts=counts_of(tallies),
        rate=rate,
        score=score_of(tallies),
        state=state_of(run, judge_runs),
        labels=labels_of(run, current),
        scoring=scoring_of(run, current),
    )


def _grouped(lines: Sequence[RunLine]) -> tuple[LaunchGroup, ...]:
    together = groupby(lines, key=lambda line: line.run.launch_id or f"run {line.run.pk}")
    groups = [tuple(members) for _, members in together]
    return tuple(LaunchGroup(_label(members[0].run), members) for members in groups)


def _label(run: Run) -> str:
    return run.launch.label if run.launch else run.label
