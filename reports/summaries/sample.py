"""Executive summaries of sample data: what would be sent is drafted, the reply is made up."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from evalhub.models import BatchState, ItemState, LanguageModel, User
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from reports.summaries.draft import Draft, draft_of
from reports.summaries.figure_table import ALL_TESTS, Place
from reports.summaries.requests import USUAL_CONTEXT, summary_of
from reports.summaries.work import make_current
from runs.models import Run
from runs.sample_history.writer import analyst, newest_runs

SEED = 1
TEXTS = {
    "strengths": "Most answers are short and name what was asked for.",
    "weaknesses": "Where a place or a day is missing, models invent one instead of asking.",
    "patterns": "Mistakes in arithmetic come with the right rule, stated with confidence.",
}


def write_once(user: User) -> None:
    """Summarize the last release of the sample history, unless there is a summary of it."""
    history = newest_runs()
    if history and not ExecutiveSummary.objects.filter(runs__in=history).exists():
        at = history[-1].finished_at or history[-1].created_at
        write_summary(history, analyst(), seed=SEED, reply=sample_reply, at=at)


def write_summary(
    runs: Sequence[Run],
    analyst: LanguageModel,
    *,
    seed: int,
    reply: Callable[[Draft], str],
    at: datetime,
) -> ExecutiveSummary:
    """Store a finished summary of these runs of one suite, asked for at this time."""
    summary = summary_of(
        runs,
        analyst,
        context_tokens=USUAL_CONTEXT,
        seed=seed,
        state=BatchState.DONE,
        started_at=at,
        finished_at=at + timedelta(minutes=1),
    )
    draft = draft_of(runs, context_tokens=summary.context_tokens, seed=seed)
    exchange = summary.exchanges.create(
        state=ItemState.DONE,
        attempts=1,
        sent=draft.messages,
        key=draft.key.to_json(),
        figures=draft.figures.to_json(),
        masked=draft.masked,
        notes=draft.notes,
        received=reply(draft),
    )
    exchange.tests.set(draft.tests)
    make_current(exchange)
    ExecutiveSummary.objects.filter(pk=summary.pk).update(created_at=at)
    Exchange.objects.filter(summary=summary).update(created_at=at)
    return summary


def best_claim(draft: Draft) -> dict[str, object]:
    """Return the claim of the highest pass rate over all tests, named c1."""
    cells = [draft.figures.cells[Place(row, ALL_TESTS)] for row in range(len(draft.key.variants))]
    best = max(range(len(cells)), key=lambda row: cells[row].share or 0)
    return {
        "id": "c1",
        "model": draft.key.variants[best].label,
        "group": ALL_TESTS,
        "measure": "pass_rate",
        "value": round(100 * (cells[best].share or 0), 1),
        "other_model": None,
        "other_group": None,
    }


def reply_json(
    draft: Draft,
    *,
    finding: str,
    texts: Mapping[str, str],
    topics: Sequence[str],
    grade: Callable[[str, str], float],
) -> str:
    """Return a reply in the form that an analyst is asked for.

    Args:
        finding: Its only finding; {c1} stands for the claim of the highest pass rate.
        texts: The sentences of strengths, weaknesses and patterns, by name.
        grade: Of a model's id in a dimension; it is rounded, and kept within the scale.
    """
    grades = [
        {
            "model": model,
            "dimension": dimension,
            "reasoning": "Invented.",
            "score": min(MAX_GRADE, max(MIN_GRADE, round(grade(model, dimension)))),
        }
        for model in sorted(draft.key.models)
        for dimension in KEYS
    ]
    reply = {name: [{"text": text, "claims": []}] for name, text in texts.items()}
    found = {"findings": [{"text": finding, "claims": [best_claim(draft)]}]}
    return json.dumps(found | reply | {"topics": list(topics), "grades": grades})


def sample_reply(draft: Draft) -> str:
    """Reply with grades that follow the pass rates: 3 for none passed, 9 for all."""
    shares = {
        variant.model: draft.figures.cells[Place(row, ALL_TESTS)].share or 0
        for row, variant in enumerate(draft.key.variants)
    }
    return reply_json(
        draft,
        finding="{c1} over all tests, the highest of these models.",
        texts=TEXTS,
        topics=["Reasoning"],
        grade=lambda model, dimension: 3 + 6 * shares[model] - (dimension == "creativity"),
    )
