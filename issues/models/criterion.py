from collections.abc import Collection
from secrets import token_hex
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History
from evalhub.model_parts import known
from issues.models.test import Test
from issues.rubrics.criterion_content import SEALED, SHOULD, SHOULD_NOT, content_of
from issues.rubrics.scoring import MAX_WEIGHT, MIN_WEIGHT, Point


class Polarity(models.TextChoices):
    SHOULD = SHOULD, "should"
    SHOULD_NOT = SHOULD_NOT, "should not"


class CriterionFields(models.Model):
    """Fields of a criterion, editable or frozen.

    Judges are asked about `text`, or a check decides with `arguments`. Criteria with the same
    `alternative` number and polarity form one alternative, of which any one suffices (to succeed or
    to fail); null: required. An unmet mandatory criterion makes the score 0.
    """

    key = models.CharField(max_length=40, blank=True, editable=False)
    text = models.TextField(blank=True, help_text="A property of the answer, in one sentence.")
    polarity = models.CharField(max_length=10, choices=Polarity, default=Polarity.SHOULD)
    weight = models.FloatField(
        default=1, validators=[MinValueValidator(MIN_WEIGHT), MaxValueValidator(MAX_WEIGHT)]
    )
    alternative = models.PositiveSmallIntegerField(
        "alternative",
        null=True,
        blank=True,
        help_text=(
            "Leave empty if required. Criteria with the same number form one alternative; "
            "any one alternative suffices."
        ),
    )
    mandatory = models.BooleanField(default=False, help_text="If not met, the whole score is 0.")
    check_name = models.CharField("check", max_length=40, blank=True)
    arguments = models.JSONField(default=dict, blank=True)
    citation = models.TextField(blank=True, help_text="Source of this requirement.")
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True

    @property
    def is_inverted(self) -> bool:
        """True if showing it is a fault."""
        return self.polarity == Polarity.SHOULD_NOT

    def as_content(self) -> dict[str, Any]:
        """Return the fields as a revision's content; their order is that of the list."""
        return content_of(self)

    def point(self, value: float | None) -> Point:
        """Return it with its value, to be scored."""
        return Point(
            *(self.key, value, self.weight, self.is_inverted),
            alternative=self.alternative,
            mandatory=self.mandatory,
        )


class Criterion(CriterionFields):
    """A criterion of a test's rubric. Its key is assigned once and survives edits.

    `library_key` and `library_version` name the library criterion that it was copied from; it may
    have been adapted since. They are no part of a revision.
    """

    sealed_path = "test__sealed"
    sealed_fields = SEALED

    test = models.ForeignKey(Test, models.CASCADE, related_name="criteria")
    library_key = models.CharField(max_length=80, blank=True, db_index=True)
    library_version = models.PositiveIntegerField(null=True, blank=True)

    history = History()
    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("test", "order", "pk")
        verbose_name_plural = "criteria"
        constraints = [
            known("issues_criterion_polarity_known", "polarity", Polarity),
            models.CheckConstraint(
                name="issues_criterion_weight_range",
                condition=models.Q(weight__gte=MIN_WEIGHT, weight__lte=MAX_WEIGHT),
                violation_error_message="Choose a weight from 0.1 to 10.",
            ),
            models.CheckConstraint(
                name="issues_criterion_says_something",
                condition=~models.Q(text="", check_name=""),
                violation_error_message="Enter the criterion, or choose a check.",
            ),
            models.CheckConstraint(name="issues_criterion_has_key", condition=~models.Q(key="")),
            models.CheckConstraint(
                name="issues_criterion_mandatory_no_alternative",
                condition=models.Q(mandatory=False) | models.Q(alternative__isnull=True),
                violation_error_message="A criterion in an alternative cannot be mandatory.",
            ),
            models.UniqueConstraint(name="issues_criterion_key_once", fields=("test", "key")),
        ]

    def __str__(self) -> str:
        return self.text[:80] or self.check_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.key = self.key or new_key()
        super().save(*args, **kwargs)

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Leave the constraints to the table: forms check them without a query for each."""

    def clean(self) -> None:
        from issues import checks

        self.key = self.key or new_key()
        if self.check_name and (problems := checks.problems_of(self.check_name, self.arguments)):
            raise ValidationError({"arguments": problems})


def new_key() -> str:
    return token_hex(5)
