"""Request, regenerate and cancel executive summaries; workers generate them."""

import secrets
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from evalhub.llm import local_model
from evalhub.models import BatchState, ItemState, LanguageModel, User
from evalhub.work import progress
from evalhub.work.processes.queue import request_worker
from reports.models import Exchange, ExecutiveSummary
from runs.models import Run

REQUEST_PERMISSION = "reports.ask_summary"
"""Permission to request summaries."""

USUAL_CONTEXT = 32_000
"""Context that nearly every model has; more can be entered."""

MIN_CONTEXT, MAX_CONTEXT = 1_000, 2_000_000
MAX_RUNS = 40


class SummaryRefused(ValueError):
    """A summary of these runs cannot be requested; the message says why."""


def usual_context(analyst: LanguageModel) -> int:
    """Return the default context of an analyst, in input and output tokens."""
    is_embedded = analyst.litellm_model == local_model.LITELLM_MODEL
    return local_model.CONTEXT_TOKENS if is_embedded else USUAL_CONTEXT


def new_seed() -> int:
    return secrets.randbits(62)


@transaction.atomic
def ask_summary(
    runs: Sequence[Run],
    *,
    analyst: LanguageModel,
    by: User | None,
    context_tokens: int | None = None,
) -> ExecutiveSummary:
    """Request a summary of these runs; a worker generates it when they have all ended.

    Args:
        runs: Over the same suite: their suite fingerprints are equal.
        by: The requesting user; None: a schedule.
        context_tokens: Input and output tokens at most; None: the analyst's default.

    Raises:
        SummaryRefused: The runs are not of one suite, or the analyst may not be called.
    """
    context = usual_context(analyst) if context_tokens is None else context_tokens
    if problems := problems_of(runs, analyst, context):
        raise SummaryRefused(" ".join(problems))
    summary = summary_of(runs, analyst, context_tokens=context, seed=new_seed(), requested_by=by)
    summary.exchanges.create(number=1)
    request_worker()
    return summary


def summary_of(runs: Sequence[Run], analyst: LanguageModel, **fields: Any) -> ExecutiveSummary:
    """Store a summary of these runs of one suite, without an attempt."""
    summary = ExecutiveSummary.objects.create(
        suite=runs[0].suite,
        suite_fingerprint=runs[0].suite_fingerprint,
        analyst=analyst,
        analyst_name=analyst.name,
        endpoint=analyst.endpoint().to_json(),
        is_scripted=analyst.is_scripted or any(run.is_scripted for run in runs),
        **fields,
    )
    summary.runs.set(runs)
    return summary


def problems_of(runs: Sequence[Run], analyst: LanguageModel, context_tokens: int) -> list[str]:
    """List the reasons why this analyst cannot summarize these runs."""
    problems = []
    if not runs:
        problems.append("Choose at least one run.")
    if len(runs) > MAX_RUNS:
        problems.append(f"Choose at most {MAX_RUNS} runs, not {len(runs)}.")
    others = [run for run in runs if run.suite_fingerprint != runs[0].suite_fingerprint]
    if others:
        problems.append(
            f"Choose runs over the same tests: “{runs[0]}” (run {runs[0].pk}) and “{others[0]}” "
            f"(run {others[0].pk}) have different ones."
        )
    if not analyst.is_active:
        problems.append(f"{analyst} is inactive: choose another analyst.")
    if not MIN_CONTEXT <= context_tokens <= MAX_CONTEXT:
        problems.append(f"Enter {MIN_CONTEXT:,} to {MAX_CONTEXT:,} tokens, not {context_tokens:,}.")
    return problems


@transaction.atomic
def ask_again(summary: ExecutiveSummary) -> Exchange:
    """Start another attempt, or resume one that was stopped before its reply.

    Raises:
        NotPossible: An attempt is running.
    """
    progress.lock(summary)
    summary.refresh_from_db(fields=["state"])
    if summary.state == BatchState.LIVE:
        raise progress.NotPossible(f"{summary} is running: wait for the reply, or cancel it.")
    last = summary.exchanges.latest("number")
    if last.state in (ItemState.PENDING, ItemState.CANCELLED):
        progress.resume(summary, summary.exchanges.filter(pk=last.pk))
        return last
    again: Exchange = summary.exchanges.create(number=last.number + 1)
    ExecutiveSummary.objects.filter(pk=summary.pk).update(
        state=BatchState.LIVE, reason="", finished_at=None
    )
    request_worker()
    return again


def cancel(summary: ExecutiveSummary) -> None:
    """Cancel the summary; earlier attempts are kept.

    Raises:
        NotPossible: It has ended already.
    """
    progress.cancel(summary, summary.exchanges.all(), reason="Cancelled by a user.")
