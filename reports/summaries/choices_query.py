"""Runs and analysts to choose from, and a preview of the request with its cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from evalhub.llm.token_estimates import tokens_of
from evalhub.models import LanguageModel
from reports.queries.run_names import saying
from reports.summaries.draft import Draft, Unsendable, draft_of
from reports.summaries.requests import new_seed, problems_of
from runs.models import Run

SHOWN = 60
"""Runs offered at a time; a search finds the others."""


@dataclass(frozen=True)
class Group:
    """Runs over the same tests, the newest first; `title` is their suite or label."""

    title: str
    runs: Sequence[Run]


@dataclass(frozen=True)
class Estimate:
    """A preview of the request and its cost; `cost_usd` None: prices unknown.

    `problem` says why nothing can be sent.
    """

    draft: Draft | None = None
    input_tokens: int = 0
    cost_usd: Decimal | None = None
    problem: str = ""


def offered(search: str, chosen: Sequence[Run]) -> list[Group]:
    """Group the runs to choose from by their tests, those of the chosen runs first."""
    wanted = saying(search)
    fingerprints = [run.suite_fingerprint for run in chosen]
    newest = Run.objects.select_related("suite").order_by("-pk")
    near = newest.filter(suite_fingerprint__in=fingerprints)[:SHOWN]
    runs = {run.pk: run for run in (*chosen, *near, *newest.filter(wanted)[:SHOWN])}
    groups: dict[str, list[Run]] = {}
    for run in runs.values():
        groups.setdefault(run.suite_fingerprint, []).append(run)
    return [
        Group(
            next((str(run.suite) for run in found if run.suite), found[0].label),
            sorted(found, key=lambda run: -run.pk),
        )
        for found in groups.values()
    ]


def estimate_of(runs: Sequence[Run], analyst: LanguageModel, context_tokens: int) -> Estimate:
    """Preview the request, as the runs are now."""
    if problems := problems_of(runs, analyst, context_tokens):
        return Estimate(problem=" ".join(problems))
    full = list(
        Run.objects.filter(pk__in=[run.pk for run in runs])
        .select_related("language_model", "suite")
        .order_by("pk")
    )
    try:
        draft = draft_of(full, context_tokens=context_tokens, seed=new_seed())
    except Unsendable as error:
        return Estimate(problem=str(error))
    characters = sum(len(message["content"]) for message in draft.messages)
    tokens = tokens_of(characters) + 1
    return Estimate(draft, tokens, analyst.endpoint().cost_usd(tokens, draft.reply_tokens))
