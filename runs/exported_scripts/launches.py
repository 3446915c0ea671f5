"""Scripts that launch tests, a suite or a run again, with the models of this installation."""

from collections.abc import Sequence
from typing import Any

from evalhub.models import LanguageModel
from runs.exported_scripts.api import api_script
from runs.launching.launch_options import SELECTING
from runs.models import Jury, Run, Suite

CHANGE = "Change the models, the jury and the label as you like."


def script_of_tests(site: str, tests: Sequence[int]) -> str:
    launch = {"label": "From a script", "tests": list(tests), **_defaults()}
    about = f"Runs {len(tests)} tests, as far as they are approved. {CHANGE}"
    return _script(site, title="Tests", about=about, launch=launch)


def script_of_suite(site: str, suite: Suite) -> str:
    launch = {"label": suite.name, "suite": suite.pk, **_defaults(), **suite.defaults}
    about = f"Runs the approved tests of the suite “{suite}”. {CHANGE}"
    return _script(site, title=str(suite), about=about, launch=launch)


def script_of_run(site: str, run: Run) -> str:
    """Return the script that launches the run again: its tests, model, prompt and jury."""
    spec = dict(run.launch.spec) if run.launch else {"label": run.label}
    if not any(spec.get(name) for name in SELECTING):
        found = run.results.order_by("test").values_list("test", flat=True).distinct()
        spec["tests"] = list(found)
    spec |= {"models": [run.language_model_id], "system_prompts": [run.system_prompt]}
    spec |= {"params": run.params, "temperatures": []}
    launch = {name: value for name, value in spec.items() if value not in (None, [], {}, "")}
    about = f"Repeats run {run.pk}, with its tests as they are now."
    return _script(site, title=f"Run {run.pk}", about=about, launch=launch)


def _defaults() -> dict[str, Any]:
    """Return a model and a jury to begin with; without any, the API says what is missing."""
    model = LanguageModel.objects.active().first()
    jury = Jury.objects.filter(is_active=True).first()
    return {"models": [model.pk] if model else [], "jury": jury.pk if jury else None}


def _script(site: str, **parts: Any) -> str:
    return api_script(site=site.rstrip("/"), **parts)
