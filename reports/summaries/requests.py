"""Asking for an executive summary, and asking again. What is asked is done in the background."""

import secrets
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max, QuerySet

from evalhub.llm import local_model
from evalhub.models import BatchState, ItemState, LanguageModel, User
from evalhub.work import progress
from evalhub.work.queue import request_worker
from reports.models import Exchange, ExecutiveSummary
from runs.models import Run

REQUEST_PERMISSION = "reports.ask_summary"
"""The right to ask."""

USUAL_CONTEXT = 32_000
"""Tokens that nearly every model reads; those that read more can be told so."""

LEAST_CONTEXT, MOST_CONTEXT = 1_000, 2_000_000
MOST_RUNS = 40
SEED_BITS = 62


class SummaryRefused(ValueError):
    """A summary of these runs cannot be asked for; the message says why."""


def usual_context(analyst: LanguageModel) -> int:
    """How many tokens an analyst reads and writes at most, as far as is known."""
    is_embedded = analyst.litellm_model == local_model.LITELLM_MODEL
    return local_model.CONTEXT_TOKENS if is_embedded else USUAL_CONTEXT


def new_seed() -> int:
    return secrets.randbits(SEED_BITS)


@transaction.atomic
def ask_summary(
    runs: Sequence[Run],
    *,
    analyst: LanguageModel,
    by: User | None,
    context_tokens: int | None = None,
) -> ExecutiveSummary:
    """Ask an analyst for a summary of these runs; a worker does it once they have all ended.

    Args:
        runs: Over the same suite: their suite fingerprints are equal.
        by: Who asks; None: a schedule.
        context_tokens: What the analyst reads and writes at most; None: what is usual for it.

    Raises:
        SummaryRefused: The runs are not of one suite, or the analyst may not be called.
    """
    context = usual_context(analyst) if context_tokens is None else context_tokens
    if problems := problems_of(runs, analyst, context):
        raise SummaryRefused(" ".join(problems))
    summary = ExecutiveSummary.objects.create(
        suite=runs[0].suite,
        suite_fingerprint=runs[0].suite_fingerprint,
        analyst=analyst,
        analyst_name=analyst.name,
        endpoint=analyst.endpoint().to_json(),
        context_tokens=context,
        seed=new_seed(),
        is_scripted=analyst.is_scripted or any(run.is_scripted for run in runs),
        requested_by=by,
    )
    summary.runs.set(runs)
    summary.exchanges.create(number=1)
    request_worker()
    return summary


def problems_of(runs: Sequence[Run], analyst: LanguageModel, context_tokens: int) -> list[str]:
    """Why these runs cannot be summarised by this analyst, in sentences."""
    problems = []
    if not runs:
        problems.append("Choose at least one run.")
    if len(runs) > MOST_RUNS:
        problems.append(f"Choose at most {MOST_RUNS} runs: these are {len(runs)}.")
    if len({run.suite_fingerprint for run in runs}) > 1:
        problems.append(f"Choose runs over the same tests: {_difference(runs)}.")
    if not analyst.is_active:
        problems.append(f"{analyst} is inactive: choose another analyst.")
    if not LEAST_CONTEXT <= context_tokens <= MOST_CONTEXT:
        problems.append(
            f"{context_tokens:,} tokens is no context: enter {LEAST_CONTEXT:,} to {MOST_CONTEXT:,}."
        )
    return problems


def _difference(runs: Sequence[Run]) -> str:
    first = runs[0]
    other = next(run for run in runs if run.suite_fingerprint != first.suite_fingerprint)
    return f"those of “{first}” (run {first.pk}) are not those of “{other}” (run {other.pk})"


@transaction.atomic
def ask_again(summary: ExecutiveSummary) -> Exchange:
    """Ask once more. What was sent and received before stays to be read.

    A try that was stopped before its reply had come goes on instead.

    Raises:
        NotPossible: It is being asked just now.
    """
    progress.lock(summary)
    summary.refresh_from_db(fields=["state"])
    if summary.state == BatchState.LIVE:
        raise progress.NotPossible(f"{summary} is being asked: wait for the reply, or cancel it.")
    last = summary.exchanges.latest("number")
    if last.state in (ItemState.PENDING, ItemState.CANCELLED):
        progress.resume(summary, items_of(summary).filter(pk=last.pk))
        return last
    number = summary.exchanges.aggregate(last=Max("number"))["last"] + 1
    again: Exchange = summary.exchanges.create(number=number)
    ExecutiveSummary.objects.filter(pk=summary.pk).update(
        state=BatchState.LIVE, reason="", finished_at=None
    )
    request_worker()
    return again


def cancel(summary: ExecutiveSummary) -> None:
    """Ask no more. What came before stays.

    Raises:
        NotPossible: It is at an end already.
    """
    progress.cancel(summary, items_of(summary), reason="Cancelled by a person.")


def items_of(summary: ExecutiveSummary) -> QuerySet[Exchange]:
    return Exchange.objects.filter(summary=summary)
