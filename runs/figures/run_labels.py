"""Labels that go with a run's figures wherever they appear."""

from typing import Any

from runs.models import JudgeRun, Run


def labels_of(run: Run, current: JudgeRun | None) -> tuple[str, ...]:
    """Label the run and its active judge run."""
    judges = [judge["endpoint"] for judge in current.jury.get("judges", ())] if current else []
    found = {
        "scripted model": run.is_scripted,
        "scripted judge": any(judge.get("is_scripted") for judge in judges),
        "imported answers": run.has_imported_answers,
        "judges its own answers": any(judges_itself(run, judge) for judge in judges),
    }
    return tuple(label for label, holds in found.items() if holds)


def judges_itself(run: Run, judge: dict[str, Any]) -> bool:
    """Tell whether the judge's endpoint is the one that answered."""
    return _address(judge) == _address(run.endpoint)


def _address(endpoint: dict[str, Any]) -> tuple[str, str]:
    return endpoint.get("litellm_model", ""), endpoint.get("api_base", "")


def names_of_pair(first: Run, second: Run) -> tuple[str, str]:
    """Return names that tell two runs apart: with their models, if these differ."""
    if first.model_name != second.model_name:
        return str(first), str(second)
    if first.label != second.label:
        return first.label, second.label
    return f"{first.label} (run {first.pk})", f"{second.label} (run {second.pk})"
