from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from evalhub.history import History
from evalhub.model_parts import RowWithPage, known, optional_user
from evalhub.values.digest import digest
from issues.models.criterion import Polarity
from issues.rubrics import criterion_content, scales
from issues.rubrics.criterion_content import COLUMNS
from issues.rubrics.library import content


class Shelf(models.TextChoices):
    QUALITY = "quality"
    SAFETY = "safety", "Safety and harms"
    STYLE = "style"
    GROUNDING = "grounding"
    REASONING = "reasoning"
    SUMMARISATION = "summarisation"


class CriterionKind(models.TextChoices):
    """Direct: one text gets an option. Pairwise: the better of two answers is named."""

    DIRECT = "direct"
    PAIRWISE = "pairwise"


class JudgedText(models.TextChoices):
    """The text that a criterion is about."""

    ANSWER = "answer", "The answer"
    INPUT = "input", "The user's message"
    CONTEXT = "context", "The documents"


class LibraryState(models.TextChoices):
    CURRENT = "current"
    RETIRED = "retired"


CONTENT = (
    *("name", "shelf", "kind", "judged_text", "question", "description"),
    *("polarity", "scale", "check", "arguments", "examples", "tags"),
)
"""Names of a criterion's content in JSON. Any change makes a new version."""


def content_of(row: Any) -> dict[str, Any]:
    """Return the content of a library criterion, also of its historical model."""
    return criterion_content.content_of(row, CONTENT)


def set_content(row: Any, content: Mapping[str, Any]) -> None:
    for name, value in content.items():
        setattr(row, COLUMNS.get(name, name), value)


def binary_scale() -> dict[str, Any]:
    """Return a new "Yes" and "No", for a JSON column's default."""
    return scales.as_json(scales.Scale((scales.Option("Yes", "", 1), scales.Option("No", "", 0))))


class LibraryCriterion(RowWithPage):
    """A criterion for everybody to copy, in its current version; its history has the older ones.

    `scale` is read by `issues.rubrics.scales` and is null for a pairwise criterion. A higher value
    is always better: of a question that asks about a fault ("should not"), "yes" has the value 0.
    `examples` are read by `issues.rubrics.library.content`.

    `shipped_digest` is that of the last content that came with a release and was taken over or
    dismissed; empty if it is the team's own. `proposal` is newer content of a release that waits
    for a decision, since the team has changed the criterion.
    """

    key = models.SlugField(max_length=80, unique=True, help_text="Never changes.")
    version = models.PositiveIntegerField(default=1, editable=False)
    name = models.CharField(max_length=120)
    shelf = models.CharField(max_length=20, choices=Shelf)
    kind = models.CharField(max_length=10, choices=CriterionKind, default=CriterionKind.DIRECT)
    judged_text = models.CharField(
        "judges", max_length=10, choices=JudgedText, default=JudgedText.ANSWER
    )
    question = models.TextField(
        max_length=1000,
        help_text="One question that a judge and an annotator can answer by an option.",
    )
    description = models.TextField(
        max_length=1000, blank=True, help_text="When to use it, in a sentence or two."
    )
    polarity = models.CharField(
        max_length=10,
        choices=Polarity,
        default=Polarity.SHOULD,
        help_text="“Should not” if the question asks about a fault.",
    )
    scale = models.JSONField(default=binary_scale, null=True, blank=True)
    check_name = models.CharField("check", max_length=40, blank=True)
    arguments = models.JSONField(default=dict, blank=True)
    examples = models.JSONField(default=dict, blank=True)
    tags = models.JSONField(default=list, blank=True)
    state = models.CharField(max_length=10, choices=LibraryState, default=LibraryState.CURRENT)
    author = optional_user()
    shipped_digest = models.CharField(max_length=64, blank=True, editable=False)
    proposal = models.JSONField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    history = History(excluded_fields=["shipped_digest", "proposal", "updated_at"])

    class Meta:
        ordering = ("shelf", "name", "pk")
        verbose_name_plural = "library criteria"
        permissions = [("retire_librarycriterion", "Can retire library criteria")]
        constraints = [
            known("issues_librarycriterion_shelf_known", "shelf", Shelf),
            known("issues_librarycriterion_kind_known", "kind", CriterionKind),
            known("issues_librarycriterion_judged_known", "judged_text", JudgedText),
            known("issues_librarycriterion_polarity_known", "polarity", Polarity),
            known("issues_librarycriterion_state_known", "state", LibraryState),
            models.CheckConstraint(
                name="issues_librarycriterion_pair_no_scale",
                condition=~models.Q(kind=CriterionKind.PAIRWISE) | models.Q(scale__isnull=True),
                violation_error_message="A pairwise criterion has no options.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; changed content gets the next version."""
        before = type(self).objects.select_for_update().filter(pk=self.pk).first()
        if before is not None:
            self.version = before.version + (content_of(before) != content_of(self))
        if before is None or before.version < self.version:
            reason: str | None = getattr(self, "_change_reason", None)
            self._change_reason: str | None = f"Version {self.version}" + (
                f": {reason}" if reason else ""
            )
        super().save(*args, **kwargs)
        self._change_reason = None

    @property
    def is_builtin(self) -> bool:
        return bool(self.shipped_digest)

    @property
    def is_changed(self) -> bool:
        """True if it came with a release, and the team changed it."""
        return self.is_builtin and self.shipped_digest != digest(content_of(self))

    def clean(self) -> None:
        problems = content.problems_of(content_of(self))
        if problems:
            by_field = {COLUMNS.get(name, name): lines for name, lines in problems.items()}
            raise ValidationError(by_field)
