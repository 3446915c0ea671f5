from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History, Signed
from evalhub.model_parts import known, share
from issues.models import FrozenCriterion
from runs.models.run import Result


class EvaluationKind(models.TextChoices):
    EVALUATION = "evaluation"
    WITHDRAWAL = "withdrawal"
    ADJUDICATION = "adjudication"


class ChosenBy(models.TextChoices):
    QUEUE_RANDOM = "queue_random", "queue, at random"
    QUEUE_SELECTED = "queue_selected", "queue, selected"
    DIRECT = "direct", "self-selected"
    BULK = "bulk", "bulk override"
    IMPORTED = "import", "imported"


class HumanEvaluation(models.Model):
    """An annotator's verdict, which overrides the judges. Append-only: undo adds a withdrawal.

    The newest of each annotator is active. `value` lies in [0, 1] and is null only in a withdrawal.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ("justification",)
    signed = Signed("created_at", "annotator", on="result")

    result = models.ForeignKey(Result, models.PROTECT, related_name="evaluations")
    criterion = models.ForeignKey(
        FrozenCriterion, models.PROTECT, related_name="evaluations", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="evaluations"
    )
    kind = models.CharField(
        max_length=12, choices=EvaluationKind, default=EvaluationKind.EVALUATION
    )
    value = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    option = models.CharField(max_length=60, blank=True)
    justification = models.TextField(blank=True)
    blind = models.BooleanField(default=False)
    chosen_by = models.CharField(max_length=15, choices=ChosenBy, default=ChosenBy.DIRECT)
    seconds = models.PositiveIntegerField("seconds taken", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        permissions = [("adjudicate", "Can adjudicate disputed results")]
        constraints = [
            known("runs_humanevaluation_kind_known", "kind", EvaluationKind),
            known("runs_humanevaluation_chosen_by_known", "chosen_by", ChosenBy),
            share("runs_humanevaluation_value_share", "value"),
            models.CheckConstraint(
                name="runs_humanevaluation_value_unless_withdrawn",
                condition=Q(kind="withdrawal", value__isnull=True)
                | Q(~Q(kind="withdrawal"), value__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.annotator}"


class VerdictDraft(models.Model):
    """An unsaved verdict on a result's page, about one criterion or the whole ("").

    `fields` are those of the form, as it sends them.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ("fields",)

    result = models.ForeignKey(Result, models.CASCADE, related_name="+")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    criterion = models.CharField(max_length=40, blank=True)
    fields = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "result", "annotator", "criterion", name="runs_verdictdraft_one_each"
            )
        ]

    def __str__(self) -> str:
        return f"draft of {self.annotator} on {self.result}"


class Example(models.Model):
    """A human verdict marked as an example for judges; templates take copies."""

    sealed_path = "evaluation__result__test__sealed"
    sealed_fields = ("note",)

    evaluation = models.OneToOneField(
        HumanEvaluation, models.CASCADE, primary_key=True, related_name="example"
    )
    note = models.TextField(blank=True, help_text="What it teaches.")
    marked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    history = History()
    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"example: {self.evaluation}"
