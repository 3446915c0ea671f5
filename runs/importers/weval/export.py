"""A suite as a blueprint. It stands beside the importer: the two share every table of the format.

Only what a blueprint can hold is written; whatever else there is, is named.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from evalhub.models import LanguageModel
from issues.models import Test, TestState
from runs.importers.weval import test_rows
from runs.importers.weval.model_names import as_written
from runs.importers.weval.prompts import MOST_ID, normal_tag
from runs.importers.weval.records import APPROACHES, Blueprint, Json, NamedJudge, Prompt
from runs.importers.weval.test_rows import IMPORTED
from runs.importers.weval.writer import not_known_to_weval
from runs.models import Jury, Suite


class Exported(NamedTuple):
    """A suite as a blueprint, and what of the suite is not in it or not known to Weval."""

    blueprint: Blueprint
    notes: list[str]


def export(suite: Suite) -> Exported:
    """The suite's tests that stand, with its launch defaults."""
    notes: list[str] = []
    tests = _tests(suite, notes)
    extras, defaults = suite.extras, suite.defaults
    systems = [text if text.strip() else None for text in defaults.get("system_prompts", [])]
    blueprint = Blueprint(
        id=blueprint_id(suite),
        title=_title(suite),
        description=suite.description.strip(),
        tags=_tags(suite),
        models=_models(suite),
        systems=() if systems == [None] else tuple(dict.fromkeys(systems)),
        temperatures=tuple(dict.fromkeys(defaults.get("temperatures", []))),
        judges=_judges(suite, notes),
        tools=_tools(suite, tests, notes),
        extras=extras.get("fields", {}),
        prompts=_prompts(tests),
    )
    notes += _left_out(suite)
    unknown = ", ".join(dict.fromkeys(not_known_to_weval(blueprint)))
    if unknown:
        notes.append(f"Weval itself does not know, and leaves out: {unknown}.")
    return Exported(blueprint, notes)


def blueprint_id(suite: Suite) -> str:
    """The id that it was imported under, or its name as one."""
    if suite.source_id.startswith(IMPORTED) and "~" not in suite.source_id:
        return suite.source_id.removeprefix(IMPORTED)
    name = re.sub(r"[^\w-]+", "-", suite.name.lower()).strip("-_")
    return name[:MOST_ID].strip("-_") or f"suite-{suite.pk}"


def file_name(blueprint: Blueprint) -> str:
    """Where it is written below the folder of blueprints, and never elsewhere."""
    parts = [re.sub(r"[^\w.-]+", "-", part).strip(".") for part in blueprint.id.split("__")]
    return f"{'/'.join(filter(None, parts)) or 'blueprint'}.yml"


def _title(suite: Suite) -> str:
    """The title as it was imported, unless people have renamed the suite."""
    extras = suite.extras
    return str(extras["title"]) if suite.name == extras.get("name") else suite.name.strip()


def _tags(suite: Suite) -> tuple[str, ...]:
    names = (normal_tag(tag.name) for tag in suite.tags.all())
    return tuple(sorted({name for name in names if name}))


# Models and judges -------------------------------------------------------------------------------


def _models(suite: Suite) -> tuple[str | Json, ...]:
    """As they were imported, unless people have chosen others."""
    chosen, extras = suite.defaults.get("models", []), suite.extras
    written = extras.get("models")
    if written and chosen == extras.get("linked", []):
        return tuple(written)
    models = LanguageModel.objects.in_bulk(chosen)
    names = [as_written(models[pk].litellm_model) for pk in chosen if pk in models]
    return tuple(dict.fromkeys(names)) or Blueprint("", "").models


def _judges(suite: Suite, notes: list[str]) -> tuple[NamedJudge, ...]:
    jury_id, extras = suite.defaults.get("jury"), suite.extras
    if "judges" in extras and jury_id == extras.get("jury"):
        return tuple(NamedJudge(*judge) for judge in extras["judges"])
    jury = Jury.objects.filter(pk=jury_id).first() if jury_id else None
    if jury is None:
        return ()
    judges, found = list(jury.judges.select_related("language_model")), []
    for judge in judges:
        if judge.approach in APPROACHES.values():
            name = as_written(judge.language_model.litellm_model)
            found.append(NamedJudge(name, judge.approach))
    if len(set(found)) < len(judges) or jury.backup_id:
        notes.append(
            f"of the jury {jury}, only models that are asked about criteria are written, "
            "without parameters, samples and backup."
        )
    return tuple(dict.fromkeys(found))


# Tests -------------------------------------------------------------------------------------------


def _tests(suite: Suite, notes: list[str]) -> list[Test]:
    """Those that are not deprecated, in the order in which they were made."""
    found = suite.tests.exclude(state=TestState.DEPRECATED).select_related("template", "issue")
    tests = list(found.prefetch_related("criteria").order_by("pk"))
    gone = suite.tests.filter(state=TestState.DEPRECATED).count()
    if gone:
        notes.append(f"{gone} deprecated tests are left out.")
    issues = len({test.issue_id for test in tests})
    if issues > 1:
        notes.append(f"its tests show {issues} issues; imported again they are of one.")
    sealed = sum(test.sealed for test in tests)
    if sealed:
        notes.append(f"{sealed} of its tests are sealed: keep the file where few can read it.")
    return tests


def _tools(suite: Suite, tests: Iterable[Test], notes: list[str]) -> tuple[Json, ...]:
    """The tools of all tests, where all have the same."""
    written = suite.extras.get("tools", [])
    offered = [test.tools for test in tests]
    first = offered[0] if offered else []
    if any(tools != first for tools in offered):
        notes.append("its tests offer different tools; a blueprint has one list, so none is there.")
        return ()
    if first == [test_rows.as_function(tool) for tool in written]:
        return tuple(written)
    functions = [tool.get("function", tool) for tool in first]
    return tuple(
        {key: found[key] for key in ("name", "description", "parameters") if found.get(key)}
        for found in functions
        if found.get("name")
    )


def _prompts(tests: Iterable[Test]) -> tuple[Prompt, ...]:
    taken: set[str] = set()
    prompts = []
    for test in tests:
        name = str(test.extras.get("prompt") or f"test-{test.pk}")
        name = name if name not in taken else f"{name}-{test.pk}"
        taken.add(name)
        prompts.append(test_rows.prompt_of(test, test.criteria.all(), name))
    return tuple(prompts)


def _left_out(suite: Suite) -> list[str]:
    """Launch defaults that a blueprint has no field for."""
    held = ("models", "system_prompts", "temperatures", "jury")
    others = [name for name, value in suite.defaults.items() if value and name not in held]
    return [f"these launch defaults are left out: {', '.join(others)}."] if others else []
