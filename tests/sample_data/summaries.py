"""Executive summaries of invented runs: what would be sent is drafted, the reply is made up."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from evalhub.models import BatchState, ItemState, LanguageModel
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.dimensions import KEYS, MAX_GRADE, MIN_GRADE
from reports.summaries.draft import draft_of
from reports.summaries.figure_table import ALL_TESTS, FigureTable, Place
from reports.summaries.key import Key
from reports.summaries.requests import USUAL_CONTEXT
from reports.summaries.work import make_current
from runs.models import Run, Suite
from tests.sample_data import vocabulary
from tests.sample_data.judgments import OUT_OF_ANALYSTS
from tests.sample_data.plan import Plan

GRADE, SPREAD = 6.0, 0.9
"""Grades lie about so high for a model of no ability, and so far from each other by chance."""


def summarise(plan: Plan, suites: Sequence[Suite], analyst: LanguageModel) -> int:
    """A summary of the newest runs of each suite, one for each line; gives how many."""
    of_suites = [(number, newest_runs(suite)) for number, suite in enumerate(suites)]
    found = [(number, runs) for number, runs in of_suites if runs]
    for number, runs in found:
        _summarise(plan, number, runs, analyst)
    return len(found)


def newest_runs(suite: Suite) -> list[Run]:
    """Of each line, over the tests that the newest run had."""
    runs = list(suite.runs.select_related("language_model", "suite").order_by("-pk"))
    newest: dict[str, Run] = {}
    for run in runs:
        if run.suite_fingerprint == runs[0].suite_fingerprint:
            newest.setdefault(run.variant_key, run)
    return sorted(newest.values(), key=lambda run: run.pk)


def _summarise(plan: Plan, suite: int, runs: Sequence[Run], analyst: LanguageModel) -> None:
    seed = int(plan.random(OUT_OF_ANALYSTS, suite).integers(2**62))
    at = runs[-1].finished_at or plan.size.until
    summary = ExecutiveSummary.objects.create(
        suite=runs[0].suite,
        suite_fingerprint=runs[0].suite_fingerprint,
        analyst=analyst,
        analyst_name=analyst.name,
        endpoint=analyst.endpoint().to_json(),
        context_tokens=USUAL_CONTEXT,
        seed=seed,
        is_scripted=True,
        state=BatchState.DONE,
        started_at=at,
        finished_at=at + timedelta(minutes=1),
    )
    summary.runs.set(runs)
    make_current(_exchange(plan, suite, summary, runs))
    _date(summary, at)


def _exchange(plan: Plan, suite: int, summary: ExecutiveSummary, runs: Sequence[Run]) -> Exchange:
    draft = draft_of(runs, context_tokens=summary.context_tokens, seed=summary.seed)
    exchange = summary.exchanges.create(
        state=ItemState.DONE,
        attempts=1,
        sent=draft.messages,
        key=draft.key.to_json(),
        figures=draft.figures.to_json(),
        masked=draft.masked,
        notes=draft.notes,
        received=_reply(plan, suite, draft.key, draft.figures),
    )
    exchange.tests.set(draft.tests)
    return exchange


def _date(summary: ExecutiveSummary, at: datetime) -> None:
    ExecutiveSummary.objects.filter(pk=summary.pk).update(created_at=at)
    Exchange.objects.filter(summary=summary).update(created_at=at)


def _reply(plan: Plan, suite: int, key: Key, table: FigureTable) -> str:
    """In the form that an analyst is asked for, with a grade of each model in each dimension."""
    random = plan.random(OUT_OF_ANALYSTS, suite, 1)
    abilities = {model.name: model.ability for model in vocabulary.MODELS}
    cells = [table.cells[Place(row, ALL_TESTS)] for row in range(len(key.variants))]
    best = max(range(len(cells)), key=lambda row: cells[row].share or 0)
    claim = {
        "id": "c1",
        "model": key.variants[best].label,
        "group": ALL_TESTS,
        "measure": "pass_rate",
        "value": round(100 * (cells[best].share or 0), 1),
        "other_model": None,
        "other_group": None,
    }
    grades = []
    for name in sorted(key.models):
        for dimension in KEYS:
            drawn = GRADE + abilities[key.models[name].name] + random.normal(0, SPREAD)
            score = min(MAX_GRADE, max(MIN_GRADE, round(drawn)))
            grades.append(
                {"model": name, "dimension": dimension, "reasoning": "Invented.", "score": score}
            )
    return json.dumps(
        {
            "findings": [{"text": "Rules are cited with care by {c1}.", "claims": [claim]}],
            "strengths": [{"text": "Answers name the rule that applies.", "claims": []}],
            "weaknesses": [
                {"text": "Dates are guessed where they should be checked.", "claims": []}
            ],
            "patterns": [
                {"text": "Where one model fails an issue, others tend to do so too.", "claims": []}
            ],
            "topics": [vocabulary.DOMAINS[suite % len(vocabulary.DOMAINS)]],
            "grades": grades,
        }
    )
