"""Annotators' verdicts on claims, by which a benchmark and its judges are checked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import Signed
from runs.laboratory.trials.models.trial import Claim


class ClaimLabel(models.Model):
    """An annotator's verdict on a claim. Append-only: undo adds a withdrawal, without a verdict.

    The newest of each annotator counts. `order` is how the texts were shown: 0 as given. `score` is
    from 1 to 7 on the scale of the judges, for the texts as shown. `holds` says whether the claim
    is true, in terms of the claim.
    """

    sealed_path = "claim__benchmark__sealed"
    sealed_fields = ()
    signed = Signed("created_at", "annotator", on="claim")

    claim = models.ForeignKey(Claim, models.CASCADE, related_name="labels")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="claim_labels"
    )
    order = models.PositiveSmallIntegerField()
    score = models.FloatField(null=True, blank=True)
    holds = models.BooleanField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.CheckConstraint(
                name="trials_claim_label_order_known", condition=Q(order__in=(0, 1))
            ),
            models.CheckConstraint(
                name="trials_claim_label_whole_or_withdrawn",
                condition=Q(score=None, holds=None)
                | Q(score__isnull=False, score__range=(1, 7), holds__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"label {self.pk} of claim {self.claim_id}"
