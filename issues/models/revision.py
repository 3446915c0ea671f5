from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import known
from issues.models.criterion import CriterionFields, Polarity
from issues.models.template import JudgeTemplate
from issues.models.test import Test
from issues.rubrics.criterion_content import SEALED
from issues.rubrics.scales import PassRule, passes

PASS_RULES = [(rule.value, rule.value) for rule in PassRule]


class Revision(models.Model):
    """A test frozen by content at launch; results refer to it.

    `content` holds messages, tools, context, reference, guidelines, criteria and the pass rule.
    Equal `asked_digest`: same input for a candidate. Equal `digest`: also judged by the same
    rubric, so results are comparable. `pass_threshold` and `pass_rule` are the effective ones: the
    test's own, else the template's.
    """

    sealed_path = "test__sealed"
    sealed_fields = ("content",)

    test = models.ForeignKey(Test, models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    template = models.ForeignKey(
        JudgeTemplate, models.PROTECT, null=True, blank=True, related_name="+"
    )
    pass_threshold = models.FloatField(default=0.5)
    pass_rule = models.CharField(max_length=9, choices=PASS_RULES, default=PassRule.STRICT)
    asked_digest = models.CharField("input digest", max_length=64, db_index=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("test", "-number")
        constraints = [
            models.UniqueConstraint(name="issues_revision_number_once", fields=("test", "number")),
            models.UniqueConstraint(name="issues_revision_digest_once", fields=("test", "digest")),
        ]

    def __str__(self) -> str:
        return f"revision {self.number} of test {self.test_id}"

    def passes(self, score: float | None) -> bool | None:
        """Return True if an answer with this score passes; None without a score."""
        return passes(score, self.pass_threshold, self.pass_rule)


class FrozenCriterion(CriterionFields):
    """A criterion of a revision. Key "" is the test as a whole.

    If a revision has other criteria, those are judged, and key "" is for human verdicts on the
    whole.
    """

    sealed_path = "revision__test__sealed"
    sealed_fields = SEALED

    revision = models.ForeignKey(Revision, models.CASCADE, related_name="criteria")

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("revision", "order")
        constraints = [
            known("issues_frozencriterion_polarity_known", "polarity", Polarity),
            models.UniqueConstraint(
                name="issues_frozencriterion_key_once", fields=("revision", "key")
            ),
        ]

    def __str__(self) -> str:
        return (self.text[:80] or self.check_name) if self.key else "whole test"
