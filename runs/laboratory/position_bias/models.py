"""Judgments repeated with the options in reversed order: in no score, tally or agreement."""

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evalhub.model_parts import RowWithPage, known, unfinished
from evalhub.models import BatchState, ItemState
from evalhub.work.models import Batch
from runs.models import JudgeRun, Judgment
from runs.models.verdict_item import VerdictItem


class ReversedJudgeRun(Batch, RowWithPage):
    """A jury's second pass over a random part of a judge run, with the options reversed.

    `results` were drawn by `seed` of those that had verdicts.
    """

    judge_run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="+")
    results = models.PositiveIntegerField(help_text="Results drawn at random.")
    seed = models.PositiveIntegerField(help_text="The same seed draws the same results.")

    class Meta:
        ordering = ("-pk",)
        verbose_name = "reversed judge run"
        constraints = [known("position_bias_run_state_known", "state", BatchState)]

    def __str__(self) -> str:
        return f"reversed judge run {self.pk}"


class ReversedJudgment(VerdictItem):
    """A judge's reply to the request of `judgment` with the options in reversed order.

    Done has an option and its value, error has none.
    """

    sealed_path = "judgment__result__test__sealed"

    judge_run = models.ForeignKey(
        ReversedJudgeRun, models.CASCADE, related_name="judgments", db_index=False
    )
    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="+")
    option = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True, blank=True)

    class Meta(VerdictItem.Meta):
        constraints = [
            known("position_bias_judgment_state_known", "state", ItemState),
            models.UniqueConstraint(
                name="position_bias_judgment_once", fields=("judge_run", "judgment")
            ),
            models.CheckConstraint(
                name="position_bias_judgment_done_has_value",
                condition=Q(state="done", value__isnull=False)
                | Q(~Q(state="done"), value__isnull=True),
            ),
        ]
        indexes = [unfinished("position_bias_live", "judge_run")]

    def __str__(self) -> str:
        return f"Result {self.judgment.result_id}, {self.judgment.judge}"

    def get_absolute_url(self) -> str:
        return reverse("admin:runs_result_change", args=[self.judgment.result_id])
