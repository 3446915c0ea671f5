"""Labels that go with a run's figures wherever they appear."""

from typing import Any

from runs.models import JudgeRun, Run


def labels_of(run: Run, current: JudgeRun | None) -> tuple[str, ...]:
    """Label the run and its active judge run."""
    run_columns = run.endpoint, run.is_scripted, run.has_imported_answers
    return labels(*run_columns, current.jury if current else None)


def labels(
    endpoint: dict[str, Any], is_scripted: bool, is_imported: bool, jury: dict[str, Any] | None
) -> tuple[str, ...]:
    """Label a run; the jury is that of its active judge run, None without one."""
    judges = [judge["endpoint"] for judge in (jury or {}).get("judges", ())]
    found = {
        "scripted model": is_scripted,
        "scripted judge": any(judge.get("is_scripted") for judge in judges),
        "imported answers": is_imported,
        "judges its own answers": any(_address(judge) == _address(endpoint) for judge in judges),
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
