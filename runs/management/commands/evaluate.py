"""Launch runs from the command line, watch them, and say how they went."""

import json
import time
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Iterable, Sequence
from threading import Event, Thread
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.utils import timezone
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from evalhub.models import BatchState, ItemState, LanguageModel
from evalhub.wording import DASH, between, percent, seconds, usd
from evalhub.work import tasks
from evalhub.work.leases import workers_alive
from issues.models import Issue, Tag
from runs.figures import Figures, figures_of
from runs.launch import launch
from runs.models import Assessment, Jury, Result, Run, Suite
from runs.numbers import numbers_in
from runs.selection import select, warnings
from runs.spec import LaunchRefused, LaunchSpec, read_spec

POLL_S = 0.5
HINT_AFTER_S = 10.0
"""So long nothing may happen before a person is told that no worker is there."""


class Command(BaseCommand):
    help = (
        "Runs one or several models against tests and waits until they are judged. "
        "Exit code: 0 done; 1 refused, failed, cancelled or paused; 130 interrupted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--model", action="append", required=True, help="Its name. Repeatable.")
        what = parser.add_argument_group("what is tested (everything named is put together)")
        what.add_argument("--suite", help="Name of a suite.")
        what.add_argument("--tags", nargs="+", default=[], metavar="NAME")
        what.add_argument("--issues", default="", metavar="NUMBERS", help="Such as 3,8-12.")
        what.add_argument("--tests", default="", metavar="NUMBERS", help="Such as 3,8-12.")
        how = parser.add_argument_group("how")
        how.add_argument("--jury", help="Name of the jury. Without one only people judge.")
        how.add_argument("--label", default="", help="Name of the run.")
        how.add_argument("--release", default="", help="Version under test.")
        how.add_argument("--repeats", type=int, default=1, help="How often each test is asked.")
        how.add_argument("--cost-limit", help="US dollars that each run may cost.")
        how.add_argument("--system-prompt", action="append", help="Repeatable: one run for each.")
        how.add_argument(
            "--param", action="append", default=[], metavar="NAME=VALUE", help="Such as seed=7."
        )
        how.add_argument("--allow-self-judging", action="store_true")
        parser.add_argument(
            "--wait", action=BooleanOptionalAction, default=True, help="Wait until they end."
        )
        parser.add_argument(
            "--work", action="store_true", help="Do the work in this process: no worker is needed."
        )

    def handle(self, **options: Any) -> None:
        console = Console(file=cast(IO[str], self.stdout._out), no_color=options["no_color"])
        runs = self._launched(console, options)
        if not options["wait"]:
            return
        try:
            watch(runs, console, works_itself=options["work"])
        except KeyboardInterrupt:
            console.print("Not waiting any longer; what was launched goes on.")
            raise SystemExit(130) from None
        figures = figures_of(fresh(runs))
        console.print(report(fresh(runs), figures))
        stopped = [run for run in fresh(runs) if figures[run.pk].state != BatchState.DONE]
        for run in stopped:
            state = figures[run.pk]
            console.print(f"{run} is {state.state_words}. {state.reason}".strip(), markup=False)
        if stopped:
            raise SystemExit(1)

    def _launched(self, console: Console, options: dict[str, Any]) -> list[Run]:
        try:
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


# What was asked for ------------------------------------------------------------------------------


def spec_of(options: dict[str, Any]) -> LaunchSpec:
    """The launch that the options describe.

    Raises:
        LaunchRefused: Names are unknown or values wrong, all of them told at once.
    """
    problems: list[str] = []
    params = dict(_parameter(text, problems) for text in options["param"])
    jury, suite = options["jury"], options["suite"]
    values = {
        "label": options["label"] or f"{', '.join(options['model'])}"[:150],
        "release": options["release"],
        "models": _ids(LanguageModel, options["model"], "model", problems),
        "suite": next(iter(_ids(Suite, [suite], "suite", problems)), None) if suite else None,
        "tags": _ids(Tag, options["tags"], "tag", problems),
        "issues": _numbers(options["issues"], "--issues", problems),
        "tests": _numbers(options["tests"], "--tests", problems),
        "jury": next(iter(_ids(Jury, [jury], "jury", problems)), None) if jury else None,
        "repeats": options["repeats"],
        "cost_limit_usd": options["cost_limit"],
        "system_prompts": options["system_prompt"] or [""],
        "params": params,
        "allow_self_judging": options["allow_self_judging"],
    }
    unknown = set(_numbers(options["issues"], "", [])) - set(
        Issue.objects.filter(pk__in=values["issues"]).values_list("pk", flat=True)
    )
    problems += [f"There is no issue {number}." for number in sorted(unknown)]
    if problems:
        raise LaunchRefused(problems)
    return read_spec(values)


def _ids(model: Any, names: Sequence[str], what: str, problems: list[str]) -> list[int]:
    found = dict(model.objects.filter(name__in=names).values_list("name", "pk"))
    missing = [name for name in names if name not in found]
    if missing:
        known = list(model.objects.order_by("name").values_list("name", flat=True)[:10])
        offer = f" There is {', '.join(known)}." if known else f" There is no {what} yet."
        problems += [f"There is no {what} called {name!r}.{offer}" for name in missing]
    return [found[name] for name in dict.fromkeys(names) if name in found]


def _numbers(text: str, option: str, problems: list[str]) -> list[int]:
    try:
        return numbers_in(text)
    except ValueError as error:
        problems.append(f"{option}: {error}")
        return []


def _parameter(text: str, problems: list[str]) -> tuple[str, Any]:
    """NAME=VALUE; the value is JSON where it reads so, otherwise text."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        problems.append(f"--param {text!r}: write NAME=VALUE, such as temperature=0.")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


# Watching ----------------------------------------------------------------------------------------


def fresh(runs: Iterable[Run]) -> list[Run]:
    return list(Run.objects.filter(pk__in=[run.pk for run in runs]).order_by("pk"))


def watch(runs: Sequence[Run], console: Console, *, works_itself: bool) -> None:
    """Show progress until nothing of the runs is live any more."""
    over = Event()
    if not works_itself:
        show_progress(runs, console, over)
        return
    # The work's event loop needs the main thread, for it handles signals.
    display = Thread(target=_show_apart, args=(runs, console, over), daemon=True)
    display.start()
    try:
        while any(figures.is_live for figures in figures_of(fresh(runs)).values()):
            tasks.work()
    finally:
        over.set()
        display.join(timeout=5)


def _show_apart(runs: Sequence[Run], console: Console, over: Event) -> None:
    try:
        show_progress(runs, console, over)
    finally:
        connection.close()


def show_progress(runs: Sequence[Run], console: Console, over: Event) -> None:
    """Two bars for each run, answers and verdicts, until nothing is live or `over` is set."""
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
            if over.is_set() or not any(f.is_live for f in figures_of(fresh(runs)).values()):
                return
            if not hinted and time.monotonic() - started > HINT_AFTER_S and not workers_alive():
                console.print("No worker is at work. Start one (manage.py worker), or use --work.")
                hinted = True
            time.sleep(POLL_S)


def counts_of(runs: Sequence[Run]) -> dict[tuple[int, str], tuple[int, int]]:
    """Ended and all answers, and verdicts of current judgings that have judges, by run."""
    counts: dict[tuple[int, str], tuple[int, int]] = {}
    for run in runs:
        results = Result.objects.filter(run=run)
        verdicts = Assessment.objects.filter(judging__run=run, judging__is_current=True)
        verdicts = verdicts.exclude(judging__jury__judges=[])
        for what, items in (("answers", results), ("verdicts", verdicts)):
            total = items.count()
            pending = items.filter(state=ItemState.PENDING).count()
            counts[run.pk, what] = (total - pending, total)
    return counts


# Reporting ---------------------------------------------------------------------------------------


def report(runs: Sequence[Run], figures: dict[int, Figures]) -> Table:
    """How the runs went: rates with their n and interval; not measured is a dash."""
    table = Table("Run", "Model", "Pass rate", "n", "95 %", "Unjudged", "Errors", "Cost", "Time")
    for run in runs:
        one = figures[run.pk]
        model = f"{run.model_name} (scripted)" if run.is_scripted else run.model_name
        table.add_row(
            f"{run.pk} {run.label}",
            model,
            percent(one.rate.share),
            f"{one.rate.passed}/{one.rate.n}",
            between(one.rate.interval),
            str(one.counts.unjudged),
            str(one.counts.error),
            usd(one.spent_usd),
            _took(run),
        )
    return table


def _took(run: Run) -> str:
    if run.started_at is None:
        return DASH
    end = run.finished_at or timezone.now()
    return seconds(round((end - run.started_at).total_seconds() * 1000))
