from secrets import token_hex
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from simple_history.models import HistoricalRecords

from evalhub.access.sealed import SealedQuerySet
from evalhub.constraints import known
from issues.models.test import Test

LEAST_WEIGHT, MOST_WEIGHT = 0.1, 10


class Polarity(models.TextChoices):
    SHOULD = "should", "should"
    SHOULD_NOT = "should_not", "should not"


class CriterionFields(models.Model):
    """One point of a rubric, as it is edited and as it was frozen.

    Judges are asked about `text`, or a check decides with `arguments`. Points that share an
    `alternative` number and a polarity are one way to succeed (or to fail) among others; null:
    required. A mandatory point that is not met makes the score 0.
    """

    key = models.CharField(max_length=40, blank=True, editable=False)
    text = models.TextField(blank=True, help_text="What the answer shows, in one sentence.")
    polarity = models.CharField(max_length=10, choices=Polarity, default=Polarity.SHOULD)
    weight = models.FloatField(
        default=1, validators=[MinValueValidator(LEAST_WEIGHT), MaxValueValidator(MOST_WEIGHT)]
    )
    alternative = models.PositiveSmallIntegerField(
        "way",
        null=True,
        blank=True,
        help_text="Empty: required. Points with one number are one way; the best way counts.",
    )
    mandatory = models.BooleanField(default=False, help_text="Not met: the whole score is 0.")
    check_name = models.CharField("check", max_length=40, blank=True)
    arguments = models.JSONField(default=dict, blank=True)
    citation = models.TextField(blank=True, help_text="Where this is written.")
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def is_inverted(self) -> bool:
        """Whether showing it is bad."""
        return self.polarity == Polarity.SHOULD_NOT

    def as_content(self) -> dict[str, Any]:
        """The fields as a revision's content holds them; their order stands in the list."""
        return {name: getattr(self, field) for name, field in CONTENT_FIELDS.items()}


CONTENT_FIELDS = {
    "key": "key",
    "text": "text",
    "polarity": "polarity",
    "weight": "weight",
    "alternative": "alternative",
    "mandatory": "mandatory",
    "check": "check_name",
    "arguments": "arguments",
    "citation": "citation",
}
"""Names in a revision's content, and the fields that they come from."""


class Criterion(CriterionFields):
    """One point of a test's rubric. Its key is given once and survives edits and reordering."""

    sealed_path = "test__sealed"
    sealed_fields = ("text", "arguments", "citation")

    test = models.ForeignKey(Test, models.CASCADE, related_name="criteria")

    history = HistoricalRecords()
    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("test", "order", "pk")
        verbose_name_plural = "criteria"
        constraints = [
            known("issues_criterion_polarity_known", "polarity", Polarity),
            models.CheckConstraint(
                name="issues_criterion_weight_range",
                condition=models.Q(weight__gte=LEAST_WEIGHT, weight__lte=MOST_WEIGHT),
                violation_error_message="Choose a weight from 0.1 to 10.",
            ),
            models.CheckConstraint(
                name="issues_criterion_says_something",
                condition=~models.Q(text="", check_name=""),
                violation_error_message="Say what judges look for, or choose a check.",
            ),
            models.CheckConstraint(name="issues_criterion_has_key", condition=~models.Q(key="")),
            models.CheckConstraint(
                name="issues_criterion_mandatory_is_no_way",
                condition=models.Q(mandatory=False) | models.Q(alternative__isnull=True),
                violation_error_message="What is one way among others cannot be mandatory.",
            ),
            models.UniqueConstraint(name="issues_criterion_key_once", fields=("test", "key")),
        ]

    def __str__(self) -> str:
        return self.text[:80] or self.check_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.key = self.key or new_key()
        super().save(*args, **kwargs)

    def clean(self) -> None:
        from issues import checks

        self.key = self.key or new_key()
        if self.check_name and (problems := checks.problems_of(self.check_name, self.arguments)):
            raise ValidationError({"arguments": problems})


def new_key() -> str:
    return token_hex(5)
