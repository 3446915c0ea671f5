"""Conversion of a blueprint's prompts to tests with criteria, and back."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simple_history.utils import bulk_create_with_history

from evalhub.history import save_signed
from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.models import User
from evalhub.values.digest import digest
from issues.models import Criterion, ImageUse, Issue, JudgeTemplate, Origin, Test, TestState
from issues.models.criterion import new_key
from issues.rubrics import editing
from issues.rubrics.criterion_content import FIELDS, SHOULD, SHOULD_NOT, columns_of, content_of
from runs.importers.weval.blueprint.prompts import NOTHING, OWN_TEXTS
from runs.importers.weval.blueprint.records import (
    Blueprint,
    Json,
    Point,
    Prompt,
    plain_number,
)

REASON = "Imported from a Weval blueprint"
BY_REFERENCE, BY_GUIDELINES = "input-output-reference-guidelines", "input-output-guidelines"
GUIDELINES = "The output makes the key points of the reference answer."
"""Note on a test with an ideal answer and no points, which Weval derives from that answer."""

USUAL_AUTHOR = "unknown"
IMPORTED = "weval:"
"""Prefix of the source ids of imported rows."""

MAX_SOURCE_ID = 200
GONE = "gone"
"""Key in a test's extras: deprecated because its blueprint no longer contains it."""


def source_id(*parts: str) -> str:
    """Return the source id of an imported row, shortened by a digest if too long."""
    name = IMPORTED + ":".join(parts)
    return name if len(name) <= MAX_SOURCE_ID else f"{name[:150]}~{digest(name)[:40]}"


# Prompt → test -----------------------------------------------------------------------------------


def fields_of(
    prompt: Prompt, blueprint: Blueprint, templates: Mapping[str, JudgeTemplate]
) -> dict[str, Any]:
    """Return the fields of a test that its blueprint sets."""
    own = prompt.own
    is_raw = raw_prompt_of(prompt.messages) is not None
    family, usual = own.get("template", usual_template(prompt)), usual_texts(prompt)
    return {
        "messages": prompt.messages,
        "tools": [] if is_raw else [as_function(tool) for tool in blueprint.tools],
        "reference": prompt.reference,
        "template": templates.get(family),
        "pass_threshold": own.get("pass_threshold"),
        "weight": float(prompt.weight),
        "note": prompt.description,
        **{name: own.get(name, usual.get(name, "")) for name in OWN_TEXTS},
        "extras": {
            "prompt": prompt.id,
            "digest": digest([dataclasses.asdict(prompt), list(blueprint.tools)]),
            "fields": prompt.extras,
        },
    }


def usual_texts(prompt: Prompt) -> dict[str, str]:
    """Return what a prompt that does not say so has for our own texts; others are empty."""
    by_reference = prompt.reference.strip() and not prompt.points
    return {"guidelines": GUIDELINES if by_reference else "", "reference_by": USUAL_AUTHOR}


def usual_template(prompt: Prompt) -> str:
    """Return the template family of a test without a rubric; "" with one."""
    if prompt.points:
        return NOTHING
    if prompt.reference.strip():
        return BY_REFERENCE
    return BY_GUIDELINES if prompt.own.get("guidelines") else NOTHING


def as_function(tool: Json) -> Json:
    """Return a tool in the form sent to models."""
    parameters = tool.get("schema") or tool.get("parameters") or {"type": "object"}
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": str(tool.get("description") or ""),
            "parameters": parameters,
        },
    }


def _fields_of_criterion(point: Point, order: int) -> dict[str, Any]:
    return columns_of(vars(point)) | {"weight": float(point.weight), "order": order}


def add(
    prompts: Sequence[tuple[Prompt, dict[str, Any]]],
    blueprint: Blueprint,
    issue: Issue,
    *,
    state: str,
    by: User | None,
) -> list[Test]:
    """Create tests in bulk. Each prompt comes with the fields of its test."""
    tests = []
    for prompt, fields in prompts:
        source = source_id(blueprint.id, prompt.id)
        common = {"issue": issue, "state": state, "author": by, "origin": Origin.IMPORTED}
        tests.append(Test(source_id=source, **common, **fields))
        _check(tests[-1])
    made = bulk_create_with_history(tests, Test, default_user=by, default_change_reason=REASON)
    ImageUse.objects.note(made)
    criteria = [
        Criterion(test=test, key=new_key(), **_fields_of_criterion(point, order))
        for (prompt, _), test in zip(prompts, made, strict=True)
        for order, point in enumerate(prompt.points, 1)
    ]
    bulk_create_with_history(criteria, Criterion, default_user=by, default_change_reason=REASON)
    return list(made)


def _check(test: Test) -> None:
    """Raise a ValidationError for wrong fields. Constraints are left to the database."""
    others = ("issue", "author", "template")
    test.full_clean(exclude=others, validate_unique=False, validate_constraints=False)


def change(test: Test, prompt: Prompt, fields: dict[str, Any], *, by: User | None) -> None:
    """Update a test from its blueprint. Unchanged criteria keep their keys."""
    for name, value in fields.items():
        setattr(test, name, value)
    _check(test)
    save_signed(test, by, REASON)
    left = list(test.criteria.all())
    wanted = [_fields_of_criterion(point, order) for order, point in enumerate(prompt.points, 1)]
    editing.replace(test, [one | {"key": _key(left, one)} for one in wanted], by=by, reason=REASON)


def _key(left: list[Criterion], wanted: dict[str, Any]) -> str:
    """Take the equal criterion from those left, and return its key; "" if there is none."""
    says = ("polarity", "text", "check_name", "arguments")
    same = [row for row in left if all(getattr(row, name) == wanted[name] for name in says)]
    if not same:
        return ""
    found = min(same, key=lambda row: row.weight != wanted["weight"])
    left.remove(found)
    return str(found.key)


def deactivate(test: Test, *, by: User | None) -> None:
    """Deprecate a test that its blueprint no longer contains."""
    test.extras = {**test.extras, GONE: test.state}
    test.state = TestState.DEPRECATED
    save_signed(test, by, "No longer in its Weval blueprint")


# Test → prompt -----------------------------------------------------------------------------------


def prompt_of(test: Test, criteria: Iterable[Criterion], name: str) -> Prompt:
    """Return a test as a prompt; `own` holds fields that only EvalHub knows."""
    prompt = Prompt(
        id=name,
        messages=test.messages,
        description=test.note.strip(),
        reference=test.reference,
        weight=plain_number(test.weight),
        points=tuple(_points(criteria)),
        extras=test.extras.get("fields", {}),
    )
    usual = usual_texts(prompt)
    texts = {name: getattr(test, name) for name in OWN_TEXTS}
    own: Json = {name: text for name, text in texts.items() if text and text != usual.get(name)}
    if not prompt.reference.strip():
        own.pop("reference_by", None)
    if test.pass_threshold is not None:
        own["pass_threshold"] = plain_number(test.pass_threshold)
    prompt.own.update(own)
    family = test.template.family if test.template else NOTHING
    if family != usual_template(prompt):
        prompt.own["template"] = family
    return prompt


def _points(criteria: Iterable[Criterion]) -> list[Point]:
    """Return criteria by block, those of an alternative together at its first one."""
    rows = sorted(criteria, key=lambda row: (row.order, row.pk or 0))
    points: list[Point] = []
    for polarity in (SHOULD, SHOULD_NOT):
        groups: dict[Any, list[Criterion]] = {}
        for row in rows:
            if row.polarity == polarity:
                key = ("required", row.pk) if row.alternative is None else row.alternative
                groups.setdefault(key, []).append(row)
        numbers = iter(range(1, len(rows) + 1))
        for group in groups.values():
            alternative = None if group[0].alternative is None else next(numbers)
            points += [
                Point(
                    **content_of(row, FIELDS)
                    | {"text": row.text.strip(), "citation": row.citation.strip()}
                    | {"weight": plain_number(row.weight), "alternative": alternative}
                )
                for row in group
            ]
    return points
