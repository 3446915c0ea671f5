"""Lifecycle of judge templates: draft, publish, new version, retire."""

from django.db import transaction
from django.utils import timezone

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.judge_templates.builtin import BUILTIN
from issues.judge_templates.examples import copy_along, problems_of_examples
from issues.judge_templates.prompts import variables_of
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import as_json

SHOWN = {
    "shows_input": "input",
    "shows_reference": "reference",
    "shows_guidelines": "guidelines",
    "shows_whole_rubric": "criteria",
}
"""Fields of a template, each with the variable that it refers to."""

HAS_EXAMPLES = ("example_choice", "examples_shown", "repair_model")
"""Fields for the choice of examples, and the repair model."""

RUBRIC_FAMILIES = {
    "standard": "rubric-standard",
    "prompt_aware": "rubric-prompt-aware",
    "holistic": "rubric-holistic",
}
"""Built-in template families for one criterion, by approach."""


def rubric_templates() -> dict[str, JudgeTemplate]:
    """Return the newest published template for each approach to a criterion."""
    published = JudgeTemplate.objects.filter(
        family__in=RUBRIC_FAMILIES.values(), state=TemplateState.PUBLISHED
    )
    newest = {template.family: template for template in published.order_by("version")}
    return {name: newest[f] for name, f in RUBRIC_FAMILIES.items() if f in newest}


def shown_by(text: str) -> dict[str, bool]:
    """Return the template's `shows_…` fields for this text.

    Raises:
        PromptError: The text is not a template.
    """
    names = variables_of(text)
    return {field: name in names for field, name in SHOWN.items()}


@transaction.atomic
def publish(template: JudgeTemplate, *, by: User | None) -> None:
    """Publish a draft: tests can use it, and it can no longer change.

    Raises:
        Refused: It is no draft, or an example or prompt variant is invalid.
        ValidationError: Its text or scale is invalid.
    """
    JudgeTemplate.objects.select_for_update().get(pk=template.pk)
    template.refresh_from_db(fields=["state"])
    if template.state != TemplateState.DRAFT:
        raise Refused([f"{template} is {template.get_state_display().lower()} already."])
    template.full_clean()
    if problems := problems_of_examples(template):
        raise Refused(problems)
    template.state = TemplateState.PUBLISHED
    template.published_at = timezone.now()
    _save(template, "Published", by)


def retire(template: JudgeTemplate, *, by: User | None) -> None:
    """Retire a published template. Tests that use it keep it.

    Raises:
        Refused: It is not published.
    """
    if template.state != TemplateState.PUBLISHED:
        raise Refused([f"{template} is {template.get_state_display().lower()}, not published."])
    template.state = TemplateState.RETIRED
    _save(template, "Retired", by)


@transaction.atomic
def new_version(template: JudgeTemplate, *, by: User | None) -> JudgeTemplate:
    """Create a draft with the next version number as a copy, examples included.

    Raises:
        Refused: The family has a draft already.
    """
    family = JudgeTemplate.objects.select_for_update().filter(family=template.family)
    newest = family.order_by("-version")[0]
    if newest.state == TemplateState.DRAFT:
        raise Refused([f"{newest} is a draft already. Edit that one."])
    copied = ("family", "title", "text", "scale", "reply_form", *SHOWN, *HAS_EXAMPLES)
    draft = JudgeTemplate(
        version=newest.version + 1, **{name: getattr(template, name) for name in copied}
    )
    _save(draft, f"Copied from {template}", by)
    copy_along(template, draft)
    return draft


def load_builtin_templates(templates: type[JudgeTemplate] = JudgeTemplate) -> int:
    """Publish missing built-in templates; return their number.

    A text that differs from the last version of its family becomes the next version. `templates` is
    the historical model when called by a migration.
    """
    loaded = 0
    for builtin in BUILTIN:
        content = {
            "text": builtin.text,
            "scale": as_json(builtin.scale),
            **shown_by(builtin.text),
        }
        family = templates.objects.filter(family=builtin.key)
        if any(all(getattr(t, name) == content[name] for name in content) for t in family):
            continue
        templates.objects.create(
            family=builtin.key,
            version=max((template.version for template in family), default=0) + 1,
            title=builtin.name,
            state=TemplateState.PUBLISHED,
            published_at=timezone.now(),
            **content,
        )
        loaded += 1
    return loaded


def _save(template: JudgeTemplate, reason: str, by: User | None) -> None:
    save_signed(template, by, reason)
