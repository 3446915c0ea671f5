from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evalhub.history import History
from evalhub.model_parts import known
from reports.summaries.analyst.dimensions import KEYS

MIN_WEIGHT, MAX_WEIGHT = 0.05, 10


class Capability(models.Model):
    """A broad area in which models are ranked, such as "Communication Quality"."""

    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    order = models.PositiveSmallIntegerField(default=0, help_text="Position in lists.")

    history = History()

    class Meta:
        ordering = ("order", "name")
        verbose_name_plural = "capabilities"

    def __str__(self) -> str:
        return self.name


class WeightKind(models.TextChoices):
    DIMENSION = "dimension"
    TOPIC = "topic"
    SUITE = "suite"


class WeightOrigin(models.TextChoices):
    DOCUMENT = "document", "methodology"
    OURS = "ours", "workspace"


class CapabilityWeight(models.Model):
    """The weight of a dimension, topic or suite in a capability.

    Suites and topics are named and need not exist yet. `origin` separates weights of the
    methodology from those of this workspace; a changed weight is the workspace's.
    """

    capability = models.ForeignKey(Capability, models.CASCADE, related_name="weights")
    kind = models.CharField(max_length=10, choices=WeightKind)
    name = models.CharField(
        max_length=200, help_text="Key of a dimension, name of a topic, or name of a suite."
    )
    weight = models.FloatField(
        default=1, validators=[MinValueValidator(MIN_WEIGHT), MaxValueValidator(MAX_WEIGHT)]
    )
    origin = models.CharField(
        max_length=10, choices=WeightOrigin, default=WeightOrigin.OURS, editable=False
    )

    history = History()

    class Meta:
        ordering = ("capability", "kind", "-weight", "name")
        constraints = [
            known("reports_capabilityweight_kind_known", "kind", WeightKind),
            known("reports_capabilityweight_origin_known", "origin", WeightOrigin),
            models.CheckConstraint(
                name="reports_capabilityweight_range",
                condition=models.Q(weight__range=(MIN_WEIGHT, MAX_WEIGHT)),
                violation_error_message=f"Choose a weight from {MIN_WEIGHT} to {MAX_WEIGHT}.",
            ),
            models.UniqueConstraint(
                name="reports_capabilityweight_once",
                fields=("capability", "kind", "name"),
                violation_error_message="This capability has a weight of that name already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.name}: {self.weight:g}"

    def clean(self) -> None:
        if self.kind == WeightKind.DIMENSION and self.name not in KEYS:
            raise ValidationError(
                {"name": f"There is no dimension {self.name!r}; expected {', '.join(KEYS)}."}
            )
