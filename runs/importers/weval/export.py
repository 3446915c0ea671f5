"""A suite as a blueprint. Export and import share every table of the format.

Content without a place in blueprints is excluded and named.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.models import LanguageModel
from issues.models import Test, TestState
from runs.importers.weval import test_rows
from runs.importers.weval.blueprint.model_names import as_written
from runs.importers.weval.blueprint.prompts import MAX_ID, normal_tag
from runs.importers.weval.blueprint.records import APPROACHES, Blueprint, Json, NamedJudge, Prompt
from runs.importers.weval.blueprint.writer import not_known_to_weval
from runs.importers.weval.test_rows import IMPORTED
from runs.models import Jury, Suite
from runs.suites.suite_tests import tests_in


class Exported(NamedTuple):
    """A suite as a blueprint, and the parts that it leaves out or that Weval does not know."""

    blueprint: Blueprint
    notes: list[str]


def export(suite: Suite) -> Exported:
    """Return the suite's active tests with its launch defaults."""
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
        notes.append(f"Weval does not support: {unknown}.")
    return Exported(blueprint, notes)


def blueprint_id(suite: Suite) -> str:
    """Return the id that it was imported under, or one made of its name."""
    if suite.source_id.startswith(IMPORTED) and "~" not in suite.source_id:
        return suite.source_id.removeprefix(IMPORTED)
    name = re.sub(r"[^\w-]+", "-", suite.name.lower()).strip("-_")
    return name[:MAX_ID].strip("-_") or f"suite-{suite.pk}"


def file_name(blueprint: Blueprint) -> str:
    """Return its path, always within the folder of blueprints."""
    parts = [re.sub(r"[^\w.-]+", "-", part).strip(".") for part in blueprint.id.split("__")]
    return f"{'/'.join(filter(None, parts)) or 'blueprint'}.yml"


def _title(suite: Suite) -> str:
    """Return the imported title, unless the suite was renamed."""
    extras = suite.extras
    return str(extras["title"]) if suite.name == extras.get("name") else suite.name.strip()


def _tags(suite: Suite) -> tuple[str, ...]:
    names = (normal_tag(tag.name) for tag in suite.tags.all())
    return tuple(sorted({name for name in names if name}))


# Models and judges -------------------------------------------------------------------------------


def _models(suite: Suite) -> tuple[str | Json, ...]:
    """Return the imported models, unless others were chosen."""
    chosen, extras = suite.defaults.get("models", []), suite.extras
    written = extras.get("models")
    if written and chosen == extras.get("linked", []):
        return tuple(written)
    models = LanguageModel.objects.in_bulk(chosen)
    names = [
        as_written(models[pk].litellm_model or models[pk].name) for pk in chosen if pk in models
    ]
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
            f"of the jury {jury}, only models that judge criteria are written, without parameters, "
            "samples and backup."
        )
    return tuple(dict.fromkeys(found))


# Tests -------------------------------------------------------------------------------------------


def _tests(suite: Suite, notes: list[str]) -> list[Test]:
    """Return tests that are not deprecated, in order of creation."""
    every = tests_in(suite)
    found = every.exclude(state=TestState.DEPRECATED).select_related("template", "issue")
    tests = list(found.prefetch_related("criteria").order_by("pk"))
    gone = every.filter(state=TestState.DEPRECATED).count()
    if gone:
        notes.append(f"{gone} deprecated tests are excluded.")
    issues = len({test.issue_id for test in tests})
    if issues > 1:
        notes.append(f"its tests belong to {issues} issues; importing it again makes one.")
    sealed = sum(test.sealed for test in tests)
    if sealed:
        notes.append(f"{sealed} of its tests are sealed: restrict access to the file.")
    return tests


def _tools(suite: Suite, tests: Iterable[Test], notes: list[str]) -> tuple[Json, ...]:
    """Return the tools of all tests if all have the same; raw prompts have none."""
    written = suite.extras.get("tools", [])
    offered = [test.tools for test in tests if raw_prompt_of(test.messages) is None]
    first = offered[0] if offered else []
    if any(tools != first for tools in offered):
        notes.append("its tests offer different tools; a blueprint has one list, so none is there.")
        return ()
    if not offered or first == [test_rows.as_function(tool) for tool in written]:
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
    """Return launch defaults and settings without a field in blueprints."""
    held = ("models", "system_prompts", "temperatures", "jury")
    others = [name for name, value in suite.defaults.items() if value and name not in held]
    notes = [f"these launch defaults are excluded: {', '.join(others)}."] if others else []
    if suite.gate:
        notes.append("the rules of its gate are excluded.")
    if suite.reopens_issues:
        notes.append("“Reopens issues by itself” is excluded.")
    return notes
