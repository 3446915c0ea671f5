from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from evalhub.history import History
from evalhub.model_parts import RowWithPage, known
from evalhub.models import LanguageModel, ModelKind
from issues.judge_templates.prompts import PromptError, check_template, variables_of
from issues.rubrics import scales

FIXED_FIELDS = (
    *("family", "version", "text", "scale", "reply_form"),
    *("shows_input", "shows_reference", "shows_guidelines", "shows_whole_rubric"),
    *("example_choice", "examples_shown", "repair_model_id"),
)
"""Fields that never change once a template is published."""


class TemplateState(models.TextChoices):
    DRAFT = "draft"
    PUBLISHED = "published"
    RETIRED = "retired"


class ReplyForm(models.TextChoices):
    """Format of a judge's reply: a verdict with reasons, or a label, as risk classifiers give."""

    VERDICT = "verdict", "reasons and a score (JSON or XML)"
    LABEL = "label", "a label of the scale, nothing else"


class ExampleChoice(models.TextChoices):
    """Selection of the examples for a judge."""

    FIXED = "fixed", "first ones, in order"
    NEAREST = "nearest", "most similar to the case"


class JudgeTemplate(RowWithPage):
    """Prompt and scale for judges. Once published it never changes.

    `scale` is read by `issues.rubrics.scales`: options with label, description and value in [0, 1],
    a pass threshold and its rule.
    """

    family = models.SlugField(max_length=80, help_text="Shared by all versions of a template.")
    version = models.PositiveIntegerField(default=1)
    title = models.CharField(max_length=120)
    state = models.CharField(max_length=10, choices=TemplateState, default=TemplateState.DRAFT)
    text = models.TextField(help_text="Prompt with {{ input }}, {{ output }}, {{ reference }}, …")
    shows_input = models.BooleanField(default=True)
    shows_reference = models.BooleanField(default=True)
    shows_guidelines = models.BooleanField(default=True)
    shows_whole_rubric = models.BooleanField(default=False)
    reply_form = models.CharField(max_length=8, choices=ReplyForm, default=ReplyForm.VERDICT)
    scale = models.JSONField(default=scales.binary_json)
    example_choice = models.CharField(
        max_length=7, choices=ExampleChoice, default=ExampleChoice.FIXED
    )
    examples_shown = models.PositiveSmallIntegerField(
        default=4, help_text="Maximum number of examples in a prompt."
    )
    repair_model = models.ForeignKey(
        LanguageModel,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        limit_choices_to={"kind": ModelKind.MODEL},
        help_text="Repairs replies that cannot be parsed. Leave empty to use the judge itself.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True, editable=False)

    history = History()

    class Meta:
        ordering = ("family", "-version")
        permissions = [("publish_judgetemplate", "Can publish judge templates")]
        constraints = [
            known("issues_judgetemplate_state_known", "state", TemplateState),
            known("issues_judgetemplate_reply_form_known", "reply_form", ReplyForm),
            known("issues_judgetemplate_example_choice_known", "example_choice", ExampleChoice),
            models.UniqueConstraint(
                name="issues_judgetemplate_version_once",
                fields=("family", "version"),
                violation_error_message="This template already has that version.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title} v{self.version}"

    def save(self, *args: object, **kwargs: object) -> None:
        before = type(self).objects.filter(pk=self.pk).exclude(state=TemplateState.DRAFT).first()
        if before is not None:
            changed = [f for f in FIXED_FIELDS if getattr(before, f) != getattr(self, f)]
            if changed or self.state == TemplateState.DRAFT:
                raise ValidationError(
                    f"{before} is published and cannot change ({', '.join(changed) or 'state'}): "
                    "create a new version instead."
                )
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    def clean(self) -> None:
        problems = {"text": check_template(self.text), "scale": scales.problems_of(self.scale)}
        if any(problems.values()):
            raise ValidationError({field: lines for field, lines in problems.items() if lines})


class TemplatePart(models.Model):
    """A part of a template, which changes only while the template is a draft."""

    part = ""
    template_id: int

    class Meta:
        abstract = True

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        self._lock_draft()
        super().save(*args, **kwargs)

    @transaction.atomic
    def delete(self, *args: Any, **kwargs: Any) -> Any:
        self._lock_draft()
        return super().delete(*args, **kwargs)

    def _lock_draft(self) -> None:
        """Lock the template until the end of the transaction.

        Raises:
            ValidationError: It is published, so nothing of it changes.
        """
        template_id = self.template_id or 0
        locked = JudgeTemplate.objects.select_for_update().filter(pk=template_id).first()
        if locked is not None and locked.state != TemplateState.DRAFT:
            raise ValidationError(
                f"{locked} is published, so that no {self.part} of it can be added, changed or "
                "removed: create a new version instead."
            )


def is_criterion_template(text: str) -> bool:
    """Return True if a prompt is about one criterion, not about a test as a whole.

    Raises:
        PromptError: The text is not a template.
    """
    return bool({"criterion", "criteria"} & variables_of(text))


class TemplateVariant(TemplatePart):
    """A prompt variant for one language model. Fixed with the template."""

    part = "prompt variant"

    template = models.ForeignKey(JudgeTemplate, models.CASCADE, related_name="variants")
    language_model = models.ForeignKey(
        LanguageModel,
        models.PROTECT,
        related_name="+",
        limit_choices_to={"kind": ModelKind.MODEL},
    )
    text = models.TextField()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(
                name="issues_templatevariant_once",
                fields=("template", "language_model"),
                violation_error_message=(
                    "This template already has a prompt variant for that model."
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.template} for {self.language_model}"

    def clean(self) -> None:
        if problems := self.problems():
            raise ValidationError({"text": problems})

    def problems(self) -> list[str]:
        """List the problems of the prompt; empty if it is valid."""
        if problems := check_template(self.text):
            return problems
        try:
            is_alike = is_criterion_template(self.text) == is_criterion_template(self.template.text)
        except PromptError:
            return []  # the template itself says what is wrong
        if is_alike:
            return []
        return [
            (
                "Either this prompt or the template's own shows {{ criterion }}, but not "
                "both. Both must ask about the same thing."
            )
        ]
