"""Executive summaries of the demo: of its two runs by the embedded model, and of sample data.

Of sample data, what would be sent is drafted, and the reply is made up.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from evalhub.llm import local_model
from evalhub.models import BatchState, ItemState, LanguageModel, User
from reports.limits import USUAL_CONTEXT
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.analyst.claims import Claim
from reports.summaries.analyst.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from reports.summaries.analyst.key import ALL_TESTS, Measure, Place
from reports.summaries.draft import Draft, draft_of
from reports.summaries.requests import ask_summary, summary_of
from reports.summaries.work import keep_sent, make_current
from runs.demo.writer import analyst, newest_runs
from runs.models import Run

SEED = 1
TEXTS = {
    "strengths": "Most answers are short and name what was asked for.",
    "weaknesses": "Where a place or a day is missing, models invent one instead of asking.",
    "patterns": "Mistakes in arithmetic come with the right rule, stated with confidence.",
}


CONTEXT_TOKENS = 1_100
"""Of more the embedded model loses the thread: so long a request it answers in the form asked."""


def ask_once(runs: Sequence[Run], user: User) -> None:
    """Ask for a summary of these runs, unless they have one. It is done when the runs are over."""
    if not ExecutiveSummary.objects.filter(runs__in=runs).exists():
        analyst = runs[0].language_model
        is_embedded = analyst.litellm_model == local_model.LITELLM_MODEL
        tokens = CONTEXT_TOKENS if is_embedded else None
        ask_summary(runs, analyst=analyst, by=user, context_tokens=tokens)


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
    exchange = summary.exchanges.create(state=ItemState.DONE, attempts=1, received=reply(draft))
    keep_sent(exchange, draft)
    make_current(exchange)
    ExecutiveSummary.objects.filter(pk=summary.pk).update(created_at=at)
    Exchange.objects.filter(summary=summary).update(created_at=at)
    return summary


def share_of(draft: Draft, row: int) -> float:
    """Return the pass rate of a variant over all tests, in [0, 1]."""
    return draft.figures.cells[Place(row, ALL_TESTS)].share or 0


def best_claim(draft: Draft) -> dict[str, object]:
    """Return the claim of the highest pass rate over all tests, named c1."""
    best = max(range(len(draft.key.variants)), key=lambda row: share_of(draft, row))
    value = round(100 * share_of(draft, best), 1)
    claim = Claim("c1", draft.key.variants[best].label, ALL_TESTS, Measure.PASS_RATE, value)
    return claim._asdict()


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
    shares = {one.model: share_of(draft, row) for row, one in enumerate(draft.key.variants)}
    return reply_json(
        draft,
        finding="{c1} over all tests, the highest of these models.",
        texts=TEXTS,
        topics=["Reasoning"],
        grade=lambda model, dimension: 3 + 6 * shares[model] - (dimension == "creativity"),
    )
