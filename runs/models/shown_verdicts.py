from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.models.run import Result, Run


class Sight(models.Model):
    """A person was shown the verdicts on a result, or on all results of a run (`result` null)."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    result = models.ForeignKey(Result, models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="runs_sight_of_result_once",
                fields=("person", "result"),
                condition=Q(result__isnull=False),
            ),
            models.UniqueConstraint(
                name="runs_sight_of_run_once",
                fields=("person", "run"),
                condition=Q(result__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} saw the verdicts of {self.result or self.run}"
