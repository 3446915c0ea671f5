"""Tables of all benchmarks and of all trials."""

from collections.abc import Sequence
from typing import Any

from reports.documents.document import Column, Link, Table
from reports.documents.links import page_url
from reports.documents.rate_cells import share_without_interval


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
            float(trial.spent_usd),
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
