"""Trials of judges: which one is fit for which task, by claims of known truth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.urls import reverse

from evalhub.display.formatting import few
from reports.documents.cells import share_without_interval
from reports.documents.document import Column, Document, Fact, Link, Table
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.judge_reliability.trials.claim_tables import (
    claims_table,
    judgments_table,
    violations_table,
)
from reports.judge_reliability.trials.fit_rule import Fit, sentence
from reports.judge_reliability.trials.query import (
    TrialReport,
    trial_report,
    trials_with_counts,
)
from reports.judge_reliability.trials.trial_tables import (
    TASK_LABELS,
    groups_table,
    judges_table,
    scores_table,
    start_url,
    tasks_table,
)
from runs.laboratory.trials.benchmarks.benchmark_counts import with_counts
from runs.laboratory.trials.judges.best_judge import RULE, BestJudge, best_judge
from runs.laboratory.trials.models import Benchmark


def benchmarks_table(benchmarks: Sequence[Any]) -> Table:
    """Return all benchmarks with a link to their judges."""
    rows = [
        (
            Link(
                str(one),
                page_url("judge_reliability", tab="trials", benchmark=one.pk),
                "scripted" if one.is_scripted else "",
            ),
            one.get_state_display(),
            one.topic_total,
            one.cluster_total,
            one.claim_total,
            one.trial_total,
            one.created_at,
        )
        for one in benchmarks
    ]
    columns = (
        Column("benchmark", "Benchmark"),
        Column("state", "State"),
        Column("topics", "Topics", "count"),
        Column("clusters", "Of these clusters", "count"),
        Column("claims", "Claims", "count"),
        Column("trials", "Trials", "count"),
        Column("created_at", "Created", "date"),
    )
    empty = "There is no benchmark yet. Create one, or import labelled pairs."
    return Table("benchmarks", "Benchmarks", columns, rows, empty=empty)


def trials_table(trials: Sequence[Any]) -> Table:
    """Return all trials with their progress."""
    rows = [
        (
            Link(
                trial.judge_name,
                trial.get_absolute_url(),
                "scripted endpoint, not a model" if trial.is_scripted else "",
            ),
            Link(
                str(trial.benchmark),
                page_url("judge_reliability", tab="trials", benchmark=trial.benchmark_id),
            ),
            trial.get_state_display(),
            share_without_interval(trial.ended, trial.total),
            trial.failed,
            trial.spent.usd,
            trial.created_at,
        )
        for trial in trials
    ]
    columns = (
        Column("judge", "Judge"),
        Column("benchmark", "Benchmark"),
        Column("state", "State"),
        Column("judged", "Judged", "rate"),
        Column("failed", "Failed", "count"),
        Column("cost_usd", "Cost", "usd"),
        Column("created_at", "Started", "date"),
    )
    return Table("trials", "Trials", columns, rows, empty="No judge was tried yet.")


FIELDS = ("benchmark", "kind", "split", "topic", "cluster", "order", "verdict")
SCRIPTED = "scripted endpoint, not a model"
LISTED = 100
"""Newest trials in the list."""


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """List benchmarks and trials, or report on the judges of one benchmark."""
    if filters["benchmark"] is None:
        return _overview(reading)
    report = trial_report(filters["benchmark"], filters, reading.reader)
    violations = violations_table(report)
    return Document(
        title=f"Which judge is fit? {report.benchmark}",
        sentences=tuple(_sentences(report)),
        facts=tuple(_facts(report, reading)),
        tables=(
            tasks_table(report),
            judges_table(report),
            scores_table(report),
            groups_table(report),
            *([violations] if violations else []),
            claims_table(report, filters["verdict"], reading.reader),
            judgments_table(report),
        ),
        warnings=tuple(_warnings(report, filters)),
        labels=_labels(report),
        more={
            "benchmark": report.benchmark,
            "marks": [one for marks in report.validations.values() for one in marks],
            "validation": _choices(report),
        },
    )


def _overview(reading: Reading) -> Document:
    benchmarks: list[Any] = list(with_counts(Benchmark.objects.order_by("-pk")))
    trials: list[Any] = list(trials_with_counts()[:LISTED])
    is_scripted = any(one.is_scripted for one in [*benchmarks, *trials])
    return Document(
        title="Trials of judges",
        sentences=(
            "A benchmark holds claims about texts whose truth is known from how they were made. "
            "Judges are tried on them in both orders before they score anything that counts.",
        ),
        facts=tuple(_next_step(reading, benchmarks, trials)),
        tables=(benchmarks_table(benchmarks), *([trials_table(trials)] if trials else [])),
        labels=(SCRIPTED,) if is_scripted else (),
    )


def _next_step(reading: Reading, benchmarks: list[Any], trials: list[Any]) -> Iterator[Fact]:
    """Lead to a first benchmark, and to a first trial."""
    if not benchmarks and reading.reader.has_perm("trials.add_benchmark"):
        url = reverse("admin:trials_benchmark_changelist")
        yield Fact("create", "First step", "Create a benchmark", "text", "", url)
    elif not trials and reading.reader.has_perm("trials.add_trial"):
        url = reverse("admin:trials_trial_add")
        yield Fact("try", "Next step", "Try judges", "text", "", url)


def _labels(report: TrialReport) -> tuple[str, ...]:
    return (SCRIPTED,) if report.scripted or report.benchmark.is_scripted else ()


def _sentences(report: TrialReport) -> Iterator[str]:
    if not report.trials:
        yield "No judge was tried on this benchmark yet."
        return
    yield _best(report, best_judge(report.verdicts))
    for trial in report.trials:
        yield sentence(report.names[trial.pk], report.fits[trial.pk])


def _best(report: TrialReport, found: BestJudge[int]) -> str:
    names = [report.names[pk] for pk in found.candidates]
    if len(report.trials) == 1:
        return "Only one judge was tried: there is none to compare it with."
    if found.best is not None:
        said = f"{names[0]} is the best judge."
    elif names:
        said = f"No single judge is the best: {few(names)} are not told apart."
    else:
        said = "No judge can be called the best."
    out = [f"{report.names[pk]} ({reason})" for pk, reason in found.left_out.items()]
    left_out = f" Left out: {few(out)}." if out else ""
    return f"{said} {RULE}{left_out}"


def _facts(report: TrialReport, reading: Reading) -> Iterator[Fact]:
    yield Fact("claims", "Claims", len(report.claims), "count", "each in both orders")
    texts = report.texts
    left_out = f"{texts['excluded']:,} excluded; {texts['not_checked']:,} not checked"
    yield Fact(
        "corrupted",
        "Corrupted texts",
        texts["corrupted"],
        "count",
        f"of {texts['all']:,}; {left_out}",
    )
    if reading.reader.has_perm("trials.add_trial"):
        yield Fact("try", "Try more judges", "Choose judges", "text", "", start_url(report))


def _warnings(report: TrialReport, filters: Mapping[str, Any]) -> Iterator[str]:
    if report.scripted:
        verb = "is" if len(report.scripted) == 1 else "are"
        what = (
            "a scripted endpoint, not a model" if verb == "is" else "scripted endpoints, not models"
        )
        yield f"{few(report.scripted)} {verb} {what}: the figures say nothing of a model's quality."
    if report.benchmark.is_scripted:
        yield "The texts of this benchmark come from a scripted endpoint, not from a model."
    if running := [report.names[pk] for pk in report.incomplete]:
        yield f"Not complete: {few(running)}. Nothing is concluded below 95% of the judgments."
    if any(filters.get(name) not in (None, "") for name in FIELDS[1:-1]):
        yield "Filtered: measures are of the chosen claims, conclusions of all."
    if report.is_tuned:
        yield (
            f"A judge's prompt or threshold was tuned: conclusions are from the "
            f"{len(report.held_out)} held-out claims, and figures too unless you filter by split."
        )


def _choices(report: TrialReport) -> list[tuple[str, str]]:
    """Return what a person may mark: trial and task of each judge that is fit and not marked."""
    marked = {
        (trial.pk, one.task)
        for trial in report.trials
        for one in report.validations.get(trial.method, ())
    }
    return [
        (f"{trial.pk}-{one.task}", f"{report.names[trial.pk]} for {TASK_LABELS[one.task]}")
        for trial in report.trials
        for one in report.fits[trial.pk]
        if one.fit is Fit.FIT and (trial.pk, one.task) not in marked
    ]
