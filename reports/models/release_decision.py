from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from evalhub.history import Signed
from evalhub.model_parts import known
from runs.models import Release

STAYS = "A decision on a release stays as it was made: record another one."


class ReleaseAct(models.TextChoices):
    SHIPPED = "shipped"
    HELD = "held"


class DecisionQuerySet(models.QuerySet["ReleaseDecision"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise ValidationError(STAYS)

    def delete(self) -> NoReturn:
        raise ValidationError(STAYS)


class ReleaseDecision(models.Model):
    """A person's decision on a release: a record that nobody changes or deletes.

    `concluded` is what the report said at that moment, of each model: {"model", "conclusion",
    "sentence", "basis"}, against the release `against`, "" without one.
    """

    signed = Signed("decided_at", "decided_by", on="release")

    release = models.ForeignKey(Release, models.PROTECT, related_name="decisions")
    act = models.CharField("decision", max_length=7, choices=ReleaseAct)
    reason = models.TextField(blank=True)
    against = models.CharField(max_length=100, blank=True)
    concluded = models.JSONField(default=list)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="release_decisions"
    )
    decided_at = models.DateTimeField(auto_now_add=True)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [known("reports_releasedecision_act_known", "act", ReleaseAct)]

    def __str__(self) -> str:
        return f"{self.release} {self.act}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise ValidationError(STAYS)
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValidationError(STAYS)
