"""First values of the form for drafts, by the page that it was opened from.

Parameters of its address, any of which may be left out: `issue`, `test`, `template`, `criterion`
(of a test's rubric), `library` (the key of a library criterion), and `follows`, a batch.
"""

from typing import Any

from django.http import QueryDict

from evalhub.admin_site.pages import row_number
from evalhub.models import User
from issues.drafting.settings import DraftingSettings
from issues.models import (
    Criterion,
    Generation,
    Issue,
    JudgeTemplate,
    LibraryCriterion,
    TagKind,
    Test,
)
from issues.rubrics.scales import ScaleError, from_json

NAME = 120


def options(passes: str, fails: str, *, first_is_good: bool = True) -> list[dict[str, Any]]:
    values = (1, 0) if first_is_good else (0, 1)
    return [
        {"label": label, "description": text, "value": value, "quantity": 1}
        for label, text, value in zip(("Yes", "No"), (passes, fails), values, strict=True)
    ]


def initial_of(
    sent: QueryDict, user: User, *, issue: Issue | None, test: Test | None
) -> dict[str, Any]:
    """Return the form's first values; borderline asks for one draft."""
    found: dict[str, Any] = {"borderline": 1}
    if issue is not None:
        domain = issue.tags.filter(kind=TagKind.DOMAIN).first()
        found |= {"domain": domain.name if domain else "", **_of_issue(issue)}
    if test is not None:
        found |= _of_test(test)
    template = JudgeTemplate.objects.filter(pk=row_number(sent.get("template"))).first()
    if template is not None:
        found |= {"criterion": template.title, **_of_template(template)}
    criteria = Criterion.objects.readable_by(user)
    if criterion := criteria.filter(pk=row_number(sent.get("criterion"))).first():
        asked = options(
            "The answer shows it.",
            "The answer does not show it.",
            first_is_good=not criterion.is_inverted,
        )
        found |= {"criterion": criterion.text[:NAME], "description": criterion.text}
        found |= {"options": asked}
    ready = LibraryCriterion.objects.filter(key=sent.get("library", "")).first()
    if ready is not None:
        found |= {"criterion": ready.name, "description": ready.question}
        found |= {"options": _of_scale(ready.scale)} if ready.scale else {}
    return found


def _of_issue(issue: Issue) -> dict[str, Any]:
    """Describe the fault; the description of an issue with sealed tests may quote them."""
    is_sealed = issue.tests.filter(sealed=True).exists()
    text = issue.generic_statement or ("" if is_sealed else issue.description)
    asked = options("The answer is free of the fault.", "The answer shows the fault.")
    return {"criterion": f"Free of: {issue.title}"[:NAME], "description": text, "options": asked}


def _of_test(test: Test) -> dict[str, Any]:
    found = {"description": test.guidelines} if test.guidelines else {}
    return {**found, **(_of_template(test.template) if test.template else {})}


def _of_template(template: JudgeTemplate) -> dict[str, Any]:
    rows = _of_scale(template.scale)
    return {"options": rows, "template": template.pk} if rows else {}


def _of_scale(stored: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each option, asking for one draft; none if the scale is wrong."""
    try:
        scale = from_json(stored)
    except ScaleError:
        return []
    return [
        {"label": o.label, "description": o.description, "value": o.value, "quantity": 1}
        for o in scale.options
    ]


def initial_of_batch(generation: Generation) -> dict[str, Any]:
    """Return the settings of a batch of which more is wanted."""
    settings = DraftingSettings.model_validate(generation.settings)
    return {
        **settings.model_dump(mode="json"),
        "variables": ", ".join(settings.variables),
        "examples": list(generation.sources.exclude(pk=generation.test_id or 0)),
        "generator": generation.generator_id,
        "judge": generation.judge_id,
        "overruled": generation.overruled,
    }
