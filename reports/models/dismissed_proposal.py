from django.conf import settings
from django.db import models

from issues.models import Issue


class DismissedProposal(models.Model):
    """A proposal for an issue that somebody dismissed; it returns with a newer run.

    `run` is the id of the newest run that it was drawn from, kept when the run is deleted.
    """

    issue = models.ForeignKey(Issue, models.CASCADE, related_name="+", db_index=False)
    act = models.CharField(max_length=10)
    run = models.PositiveBigIntegerField()
    dismissed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    dismissed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                name="reports_dismissedproposal_once", fields=("issue", "act", "run")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.act} {self.issue_id}: dismissed"
