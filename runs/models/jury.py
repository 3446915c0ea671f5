from typing import Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.text import Truncator

from evalhub.history import History
from evalhub.model_parts import known
from evalhub.models import LanguageModel
from evalhub.values.digest import digest
from issues.models import JudgeTemplate
from runs.limits import MAX_JUDGE_SAMPLES


class Approach(models.TextChoices):
    """Subject of a judge, and its view besides the answer.

    `template` judges whole tests; the others judge rubrics, one criterion at a time.
    """

    TEMPLATE = "template", "whole test, with its judge template"
    STANDARD = "standard", "single criterion, answer only"
    PROMPT_AWARE = "prompt_aware", "single criterion, with the prompt"
    HOLISTIC = "holistic", "single criterion, with prompt and whole rubric"


class Method(models.TextChoices):
    """Calls that a judge makes for one judgment."""

    SINGLE = "single", "one call"
    SELF_CRITIQUE = "self_critique", "self-critique"
    DEBATE = "debate", "debate"


CALLS = {Method.SINGLE: (1, 1), Method.SELF_CRITIQUE: (2, 3), Method.DEBATE: (2, 4)}
"""Fewest and most calls of a judgment, without repairs."""

MAX_ROLE = 2000
"""Characters of a judge's role."""

DEFAULT_APPROACHES = (Approach.TEMPLATE, Approach.PROMPT_AWARE, Approach.HOLISTIC)
"""Approaches of a default jury: one for tests without a rubric, two for rubrics."""


class JudgeQuerySet(models.QuerySet["Judge"]):
    def given(
        self,
        language_model: LanguageModel,
        *,
        params: dict[str, Any] | None = None,
        template: JudgeTemplate | None = None,
        approach: str = Approach.TEMPLATE,
        samples: int = 1,
        method: str = Method.SINGLE,
        role: str = "",
    ) -> "Judge":
        """Return the judge with these properties; create it if there is none."""
        role = role.strip()
        parts = [language_model.pk, approach, params or {}, template and template.pk, samples]
        parts += method_identity(method, role)
        return self.get_or_create(
            digest=digest(parts),
            defaults={
                "language_model": language_model,
                "approach": approach,
                "params": params or {},
                "template": template,
                "samples": samples,
                "method": method,
                "role": role,
            },
        )[0]


def method_identity(method: str, role: str) -> list[str]:
    """Return what these add to a judge's fingerprint; nothing for one call without a role."""
    return [method, role] if role or method != Method.SINGLE else []


class Judge(models.Model):
    """A language model with an approach and parameters. Immutable: equal judges are one row."""

    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="judges")
    approach = models.CharField(max_length=15, choices=Approach, default=Approach.TEMPLATE)
    params = models.JSONField(default=dict, blank=True, help_text="Temperature 0 unless set.")
    template = models.ForeignKey(
        JudgeTemplate,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: each test's own, or for criteria the built-in one of the approach.",
    )
    samples = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_JUDGE_SAMPLES)],
        help_text="Calls per judgment; the share that agree is the judge's certainty.",
    )
    method = models.CharField(max_length=15, choices=Method, default=Method.SINGLE)
    role = models.TextField(
        blank=True,
        max_length=MAX_ROLE,
        help_text="Who judges, such as “You are a nurse …”: the start of every prompt.",
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("runs_judge_approach_known", "approach", Approach),
            known("runs_judge_method_known", "method", Method),
            models.CheckConstraint(
                name="runs_judge_samples_range",
                condition=models.Q(samples__range=(1, MAX_JUDGE_SAMPLES)),
                violation_error_message=f"Choose 1 to {MAX_JUDGE_SAMPLES} samples.",
            ),
        ]

    def __str__(self) -> str:
        details = [f"{name} {value}" for name, value in sorted(self.params.items())]
        if self.template_id:
            details.append(str(self.template))
        if self.approach != Approach.TEMPLATE:
            details.insert(0, self.approach.replace("_", "-"))
        if self.method != Method.SINGLE:
            details.append(Method(self.method).label)
        if self.role:
            details.append(f"role “{Truncator(self.role).chars(40)}”")
        if self.samples > 1:
            details.append(f"{self.samples} samples")
        name = str(self.language_model)
        return f"{name} ({', '.join(details)})" if details else name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk:
            raise ValidationError("A judge cannot be changed: create another one.")
        if self.language_model.is_application:
            raise ValidationError(
                f"{self.language_model} is an HTTP application, which is tested but never judges: "
                "choose a language model."
            )
        super().save(*args, **kwargs)

    @property
    def label(self) -> str:
        return f"{self} (scripted)" if self.language_model.is_scripted else str(self)


class JuryQuerySet(models.QuerySet["Jury"]):
    def with_judges(self) -> Self:
        """Read judges and backup with all that their names are made of."""
        juries = self.select_related("backup__language_model", "backup__template")
        return juries.prefetch_related("judges__language_model", "judges__template")


class Jury(models.Model):
    """Judges that score together."""

    name = models.CharField(max_length=150, unique=True)
    judges = models.ManyToManyField(Judge, related_name="juries")
    backup = models.ForeignKey(
        Judge,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Called once per criterion if a judge fails.",
    )
    is_active = models.BooleanField("active", default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    history = History(m2m_fields=[judges])
    objects = JuryQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        verbose_name_plural = "juries"

    def __str__(self) -> str:
        return self.name
