"""Request, preview, regenerate, schedule and cancel executive summaries; workers generate them."""

import secrets
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from django.db import transaction

from evalhub.admin_site.pages import row_number
from evalhub.llm import local_model
from evalhub.llm.costs.token_estimates import tokens_in_messages
from evalhub.models import BatchState, ItemState, LanguageModel, User
from evalhub.refusals import NotPossible
from evalhub.schedules import ScheduleRefused
from evalhub.work import progress
from evalhub.work.processes.queue import request_worker
from reports.limits import MAX_SUMMARISED_RUNS, USUAL_CONTEXT
from reports.models import Exchange, ExecutiveSummary
from reports.queries.names import run_search
from reports.summaries.draft import Draft, Unsendable, draft_of, reply_tokens
from runs.comparison.release_order import newest_first
from runs.models import Run

REQUEST_PERMISSION = "reports.ask_summary"
"""Permission to request summaries."""


MIN_CONTEXT, MAX_CONTEXT = 1_000, 2_000_000


class SummaryRefused(ValueError):
    """A summary of these runs cannot be requested; the message says why."""


def usual_context(analyst: LanguageModel) -> int:
    """Return the default context of an analyst, in input and output tokens."""
    is_embedded = analyst.litellm_model == local_model.LITELLM_MODEL
    return local_model.CONTEXT_TOKENS if is_embedded else USUAL_CONTEXT


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
    summary = summary_of(runs, analyst, context_tokens=context, requested_by=by)
    summary.exchanges.create(number=1)
    request_worker()
    return summary


def summary_of(
    runs: Sequence[Run], analyst: LanguageModel, *, seed: int | None = None, **fields: Any
) -> ExecutiveSummary:
    """Store a summary of these runs of one suite, without an attempt. `seed` None: a random one."""
    summary = ExecutiveSummary.objects.create(
        suite=runs[0].suite,
        suite_fingerprint=runs[0].suite_fingerprint,
        analyst=analyst,
        analyst_name=analyst.name,
        endpoint=analyst.endpoint().to_json(),
        seed=secrets.randbits(62) if seed is None else seed,
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
    if len(runs) > MAX_SUMMARISED_RUNS:
        problems.append(f"Choose at most {MAX_SUMMARISED_RUNS} runs, not {len(runs)}.")
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
        raise NotPossible(f"{summary} is running: wait for the reply, or cancel it.")
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


# Choice and preview ------------------------------------------------------------------------------

SHOWN = 60
"""Runs offered at a time; a search finds the others."""


class Group(NamedTuple):
    """Runs over the same tests, the newest first; `title` is their suite or label."""

    title: str
    runs: Sequence[Run]


def offered(search: str, chosen: Sequence[Run]) -> list[Group]:
    """Group the runs to choose from by their tests, those of the chosen runs first."""
    newest = Run.objects.select_related("suite").order_by("-pk")
    alike = newest.filter(suite_fingerprint__in=[run.suite_fingerprint for run in chosen])[:SHOWN]
    runs = {run.pk: run for run in (*chosen, *alike, *newest.filter(run_search(search))[:SHOWN])}
    groups: dict[str, list[Run]] = {}
    for run in runs.values():
        groups.setdefault(run.suite_fingerprint, []).append(run)
    return [
        Group(
            next((str(run.suite) for run in some if run.suite), some[0].label),
            sorted(some, key=lambda run: -run.pk),
        )
        for some in groups.values()
    ]


class Estimate(NamedTuple):
    """A preview of the request and its cost; `cost_usd` None: prices unknown.

    `problem` says why nothing can be sent.
    """

    draft: Draft | None = None
    input_tokens: int = 0
    reply_tokens: int = 0
    cost_usd: Decimal | None = None
    problem: str = ""


def estimate_of(runs: Sequence[Run], analyst: LanguageModel, context_tokens: int) -> Estimate:
    """Preview the request, as the runs are now."""
    if problems := problems_of(runs, analyst, context_tokens):
        return Estimate(problem=" ".join(problems))
    full = Run.objects.filter(pk__in=[run.pk for run in runs])
    full = full.select_related("language_model", "suite").order_by("pk")
    try:
        draft = draft_of(list(full), context_tokens=context_tokens, seed=secrets.randbits(62))
    except Unsendable as error:
        return Estimate(problem=str(error))
    tokens, reply = tokens_in_messages(draft.messages) + 1, reply_tokens(context_tokens, draft.key)
    return Estimate(draft, tokens, reply, analyst.endpoint().cost_usd(tokens, reply))


# Schedules ---------------------------------------------------------------------------------------

LIKE = "like"
"""Parameter of a schedule's state: the summary it repeats."""


def state_like(summary: ExecutiveSummary) -> str:
    """Return the state of a schedule with this summary's suite, analyst and context."""
    return f"{LIKE}={summary.pk}"


def like(state: str) -> ExecutiveSummary:
    """Return the summary that a schedule with this state repeats.

    Raises:
        ScheduleRefused: It was deleted, or its runs have no suite.
    """
    pk = row_number(parse_qs(state).get(LIKE, [""])[0])
    found = ExecutiveSummary.objects.select_related("suite", "analyst").filter(pk=pk).first()
    if found is None:
        raise ScheduleRefused(f"Executive summary {pk} was deleted.")
    if found.suite is None:
        raise ScheduleRefused("Only summaries of a suite can be scheduled: these runs have none.")
    return found


def ask_anew(state: str) -> str:
    """Request a summary of the newest runs from the same analyst and report it.

    These are the newest complete one of each variant, over the tests of the suite's newest run, in
    the order of releases.

    Raises:
        ScheduleRefused: See `like`; or the analyst cannot summarize these runs.
    """
    model = like(state)
    complete = Run.objects.complete().filter(suite=model.suite)
    found = complete.select_related("suite").in_bulk()
    newest: dict[str, Run] = {}
    for run in (found[one.run] for one in newest_first(complete)):
        tests = next(iter(newest.values()), run).suite_fingerprint
        if run.suite_fingerprint == tests:
            newest.setdefault(run.variant_key, run)
    runs = list(newest.values())[:MAX_SUMMARISED_RUNS]
    try:
        made = ask_summary(
            runs, analyst=model.analyst, by=None, context_tokens=model.context_tokens
        )
    except SummaryRefused as error:
        raise ScheduleRefused(str(error)) from error
    return f"Requested summary {made.pk} of {len(runs)} runs from {model.analyst}."
