"""Executive summaries of invented runs: what would be sent is drafted, the reply is made up."""

from collections.abc import Sequence

from evalhub.models import LanguageModel
from reports.summaries.draft import Draft
from reports.summaries.sample import reply_json, write_summary
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
    write_summary(
        runs,
        analyst,
        seed=int(plan.random(OUT_OF_ANALYSTS, suite).integers(2**62)),
        reply=lambda draft: _reply(plan, suite, draft),
        at=runs[-1].finished_at or plan.size.until,
    )


def _reply(plan: Plan, suite: int, draft: Draft) -> str:
    """Reply with grades around each model's ability."""
    random = plan.random(OUT_OF_ANALYSTS, suite, 1)
    abilities = {model.name: model.ability for model in vocabulary.MODELS}
    return reply_json(
        draft,
        finding="Rules are cited with care by {c1}.",
        texts={
            "strengths": "Answers name the rule that applies.",
            "weaknesses": "Dates are guessed where they should be checked.",
            "patterns": "Where one model fails an issue, others tend to do so too.",
        },
        topics=[vocabulary.DOMAINS[suite % len(vocabulary.DOMAINS)]],
        grade=lambda model, _: (
            GRADE + abilities[draft.key.models[model].name] + random.normal(0, SPREAD)
        ),
    )
