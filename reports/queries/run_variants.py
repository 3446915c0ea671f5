"""Runs, active judge runs, labels and variants for several report pages."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalhub.values.id_in import IdIn
from reports.documents.model_lines import (
    LineStyle,
    Variant,
    line_style,
    line_styles,
    names_of,
)
from runs.comparison.comparability import OWN_SCORING
from runs.figures.run_labels import labels_of
from runs.models import JudgeRun, Run

COLUMNS = (
    "label",
    "release",
    "created_at",
    "suite_id",
    "language_model_id",
    "model_name",
    "variant_key",
    "system_prompt",
    "params",
    "endpoint",
    "repeats",
    "suite_fingerprint",
    *OWN_SCORING,
    "is_scripted",
    "has_imported_answers",
)
JUDGE_RUN_COLUMNS = (
    *("run", "jury", "jury_fingerprint"),
    *("whole_fingerprint", "rubric_fingerprint", "provenance_parts"),
)


def runs_of(ids: Iterable[int]) -> dict[int, Run]:
    """Return these runs by id; one query."""
    runs = Run.objects.filter(IdIn("id", ids)).order_by().only(*COLUMNS)
    return {run.pk: run for run in runs}


def judge_runs_of(runs: Iterable[int]) -> dict[int, JudgeRun]:
    """Return the active judge run of each run by the run's id; one query."""
    current = JudgeRun.objects.filter(IdIn("run_id", runs), is_active=True).order_by()
    return {judge_run.run_id: judge_run for judge_run in current.only(*JUDGE_RUN_COLUMNS)}


def labels_of_all(runs: Iterable[Run], judge_runs: Mapping[int, JudgeRun]) -> tuple[str, ...]:
    """Return the labels that any of these runs has, sorted."""
    return tuple(
        sorted({label for run in runs for label in labels_of(run, judge_runs.get(run.pk))})
    )


def named_lines(
    newest: Mapping[str, Run], *, by_family: bool = False
) -> tuple[dict[str, str], dict[str, LineStyle]]:
    """Return the names and styles of lines by their keys: families, or variants of models.

    A family has the style of its newest model, as on every page.

    Args:
        newest: The newest run of each line.
    """
    if by_family:
        looks = {key: line_style(run.language_model_id) for key, run in newest.items()}
        return {key: key for key in newest}, looks
    variants = [variant_of(run) for run in newest.values()]
    return names_of(variants), line_styles(variants)


def variant_of(run: Run) -> Variant:
    """Return the model of a run with its system prompt and parameters."""
    params: dict[str, Any] = run.endpoint.get("params", {}) | run.params
    return Variant(
        run.variant_key, run.language_model_id, run.model_name, run.system_prompt, params
    )
