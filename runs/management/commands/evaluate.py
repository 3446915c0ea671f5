"""`manage.py evaluate`: launch runs, show progress, print the result."""

import sys
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterable, Sequence
from threading import Event, Thread
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from evalhub.display.formatting import DASH, between, percent, seconds
from evalhub.models import BatchState, ItemState
from evalhub.work.leases import workers_alive
from evalhub.work.processes import tasks
from runs.figures.run_figures import RunFigures, figures_of
from runs.launching.command_options import add_launch_options, spec_of
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused
from runs.launching.launch_selection import select, warnings
from runs.models import Result, ResultScore, Run

POLL_S = 0.5
HINT_AFTER_S = 10.0
"""Delay before the hint that no worker is running."""


class Command(BaseCommand):
    help = (
        "Run models against tests and wait until they are judged. "
        "Exit code: 0 done; 1 refused, failed, cancelled or paused; 130 interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_launch_options(parser)
        parser.add_argument(
            "--wait", action=BooleanOptionalAction, default=True, help="Wait until the runs end."
        )
        parser.add_argument(
            "--work", action="store_true", help="Do the work in this process, without a worker."
        )

    def handle(self, **options: Any) -> None:
        console = Console(file=options.get("stdout") or sys.stdout, no_color=options["no_color"])
        runs = self._launched(console, options)
        if not options["wait"]:
            return
        try:
            watch(runs, console, works_itself=options["work"])
        except KeyboardInterrupt:
            console.print("Stopped waiting. The runs continue.")
            raise SystemExit(130) from None
        runs = fresh(runs)
        figures = figures_of(runs)
        console.print(report(runs, figures))
        stopped = [run for run in runs if figures[run.pk].state != BatchState.DONE]
        for run in stopped:
            state = figures[run.pk]
            console.print(f"{run} is {state.state_label}. {state.reason}".strip(), markup=False)
        if stopped:
            raise SystemExit(1)

    def _launched(self, console: Console, options: dict[str, Any]) -> list[Run]:
        try:
            with transaction.atomic():  # a refused launch leaves no jury behind
                spec = spec_of(options)
                for warning in warnings(spec, select(spec)):
                    console.print(f"Note: {warning}", markup=False)
                record = launch(spec, by=None)
        except LaunchRefused as refused:
            raise CommandError("\n".join(["Nothing was launched.", *refused.problems])) from refused
        runs = list(record.runs.order_by("pk"))
        for run in runs:
            total = run.results.count()
            console.print(f"Launched run {run.pk}: {run}, {total:,} results.", markup=False)
        return runs


# Watching ----------------------------------------------------------------------------------------


def fresh(runs: Iterable[Run]) -> list[Run]:
    return list(Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk"))


def is_live(runs: Iterable[Run]) -> bool:
    return any(figures.is_live for figures in figures_of(fresh(runs)).values())


def watch(runs: Sequence[Run], console: Console, *, works_itself: bool) -> None:
    """Show progress until no run is live."""
    over = Event()
    if not works_itself:
        show_progress(runs, console, over)
        return

    def show_apart() -> None:
        try:
            show_progress(runs, console, over)
        finally:
            connection.close()

    # The work's event loop needs the main thread, for it handles signals.
    display = Thread(target=show_apart, daemon=True)
    display.start()
    try:
        while is_live(runs):
            tasks.work()
    finally:
        over.set()
        display.join(timeout=5)


def show_progress(runs: Sequence[Run], console: Console, over: Event) -> None:
    """Show two bars per run, answers and judgments, until no run is live or `over` is set."""
    started = time.monotonic()
    hinted = False
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    ) as progress:
        bars = {
            (run.pk, what): progress.add_task(f"{run}: {what}", total=None)
            for run in runs
            for what in ("answers", "verdicts")
        }
        while True:
            for key, (done, total) in counts_of(runs).items():
                progress.update(bars[key], completed=done, total=total, visible=bool(total))
            if over.is_set() or not is_live(runs):
                return
            if not hinted and time.monotonic() - started > HINT_AFTER_S and not workers_alive():
                console.print("No worker is running. Start one (manage.py worker), or use --work.")
                hinted = True
            time.sleep(POLL_S)


def counts_of(runs: Sequence[Run]) -> dict[tuple[int, str], tuple[int, int]]:
    """Return finished and all answers, and result scores of active judge runs, by run."""
    counts: dict[tuple[int, str], tuple[int, int]] = {}
    for run in runs:
        results = Result.objects.filter(run=run)
        verdicts = ResultScore.objects.filter(judge_run__run=run, judge_run__is_active=True)
        verdicts = verdicts.exclude(judge_run__jury__judges=[])
        for what, items in (("answers", results), ("verdicts", verdicts)):
            total = items.count()
            pending = items.filter(state=ItemState.PENDING).count()
            counts[run.pk, what] = (total - pending, total)
    return counts


# Reporting ---------------------------------------------------------------------------------------


def report(runs: Sequence[Run], figures: dict[int, RunFigures]) -> Table:
    """Return a table of the runs: pass rates with n and interval, a dash if not measured."""
    table = Table(
        "Run",
        "Model",
        "Pass rate",
        "n",
        "Scored",
        "95 %",
        "Method",
        "Unscored",
        "Errors",
        "Cost",
        "Time",
    )
    for run in runs:
        one, took = figures[run.pk], DASH
        if run.started_at:
            ran = (run.finished_at or timezone.now()) - run.started_at
            took = seconds(round(ran.total_seconds() * 1000))
        table.add_row(
            f"{run.pk} {run.label}",
            f"{run.model_name} (scripted)" if run.is_scripted else run.model_name,
            percent(one.rate.share),
            f"{one.rate.passed}/{one.rate.n}",
            f"{one.rate.n}/{one.rate.total}",
            between(one.rate.interval),
            one.rate.method.value or DASH,
            str(one.counts.unscored),
            str(one.counts.error),
            str(one.spent),
            took,
        )
    return table
