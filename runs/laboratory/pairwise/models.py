"""Pairs of answers to the same input, with the choices of judges and annotators."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import Signed
from evalhub.model_parts import RowWithPage, known, unfinished
from evalhub.models import BatchState, ItemState, LanguageModel
from evalhub.work.models import Batch
from runs.models import Result, Run
from runs.models.verdict_item import VerdictItem

MAX_CRITERION = 4000


class PairChoice(models.TextChoices):
    """The better answer of a pair, in terms of its `first` and `second`, however it was shown."""

    FIRST = "first", "the first answer"
    SECOND = "second", "the second answer"
    TIE = "tie", "equal"


class Pair(models.Model):
    """Answers of two runs to the same input: their revisions have one `asked_digest`.

    The older result is `first`, so that a pair is one row whoever asks for it.
    """

    sealed_path = "first__test__sealed"
    sealed_fields = ()

    first = models.ForeignKey(Result, models.CASCADE, related_name="pairs_as_first", db_index=False)
    second = models.ForeignKey(Result, models.CASCADE, related_name="pairs_as_second")

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(name="pairwise_pair_once", fields=("first", "second")),
            models.CheckConstraint(
                name="pairwise_pair_in_order", condition=Q(first__lt=F("second"))
            ),
        ]

    def __str__(self) -> str:
        return f"pair of results {self.first_id} and {self.second_id}"


class PairwiseJudgeRun(Batch, RowWithPage):
    """A judge model's pass over all pairs of answers of some runs, each in both orders.

    `endpoint` is the judge's by copy. `criterion` "" : by each test's guidelines and reference.
    `method` is a digest of judge, criterion and ties: only equal ones are counted together.
    """

    runs = models.ManyToManyField(Run, related_name="pairwise_judge_runs")
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    endpoint = models.JSONField()
    criterion = models.TextField(
        blank=True, help_text="What makes an answer better. Empty: each test's guidelines."
    )
    ties = models.BooleanField("ties allowed", default=True)
    method = models.CharField(max_length=64, db_index=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "pairwise judge run"
        constraints = [known("pairwise_judge_run_state_known", "state", BatchState)]

    def __str__(self) -> str:
        return f"pairwise judge run {self.pk} by {self.language_model}"


class PairJudgment(VerdictItem):
    """The judge's choice on a pair in one order. Done has a choice, error none.

    `order` 0 shows the first answer first, 1 the second. `choice` is in terms of the pair.
    """

    sealed_path = "pair__first__test__sealed"

    judge_run = models.ForeignKey(
        PairwiseJudgeRun, models.CASCADE, related_name="judgments", db_index=False
    )
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="judgments")
    order = models.PositiveSmallIntegerField()
    choice = models.CharField(max_length=6, choices=PairChoice, blank=True)

    class Meta(VerdictItem.Meta):
        constraints = [
            known("pairwise_pair_judgment_state_known", "state", ItemState),
            models.UniqueConstraint(
                name="pairwise_pair_judgment_once", fields=("judge_run", "pair", "order")
            ),
            models.CheckConstraint(
                name="pairwise_pair_judgment_order_known", condition=Q(order__in=(0, 1))
            ),
            models.CheckConstraint(
                name="pairwise_pair_judgment_done_has_choice",
                condition=Q(state="done", choice__in=PairChoice.values)
                | Q(~Q(state="done"), choice=""),
            ),
        ]
        indexes = [unfinished("pairwise_pair_judgment_live", "judge_run")]

    def __str__(self) -> str:
        return f"judgment {self.pk} on {self.pair_id}"


class PairEvaluation(models.Model):
    """An annotator's choice on a pair. Append-only: undo adds a withdrawal, without a choice.

    The newest of each annotator is active. `order` is how the answers were shown. `blind`: no
    verdict on either answer was shown to the annotator before; the names never were.
    """

    sealed_path = "pair__first__test__sealed"
    sealed_fields = ("justification",)
    signed = Signed("created_at", "annotator", on="pair")

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="evaluations")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="pair_evaluations"
    )
    choice = models.CharField(max_length=6, choices=PairChoice, blank=True)
    order = models.PositiveSmallIntegerField()
    justification = models.TextField(blank=True)
    blind = models.BooleanField(default=False)
    seconds = models.PositiveIntegerField("seconds taken", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.CheckConstraint(
                name="pairwise_pair_evaluation_choice_known",
                condition=Q(choice__in=(*PairChoice.values, "")),
            ),
            models.CheckConstraint(
                name="pairwise_pair_evaluation_order_known", condition=Q(order__in=(0, 1))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_choice_display() or 'withdrawal'} by {self.annotator}"

    @property
    def kind(self) -> str:
        """Return the kind, as `runs.scoring.active_evaluation_rule` reads it."""
        return "evaluation" if self.choice else "withdrawal"
