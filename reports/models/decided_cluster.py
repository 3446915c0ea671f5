from django.conf import settings
from django.db import models

from evalhub.model_parts import known
from issues.models import Issue
from runs.models import Run


class ClusterAct(models.TextChoices):
    CREATED = "created", "filed as a new issue"
    ATTACHED = "attached", "attached to an issue"
    DISMISSED = "dismissed"


class DecidedCluster(models.Model):
    """A proposed cluster of failed answers that somebody accepted or dismissed; deleted by undo.

    `results` are the ids of its results, `feedback` of the items made of them. `issue` is None if
    it was dismissed, or the issue was deleted. Its name is not kept: its words are of texts that
    may be sealed later.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="+")
    act = models.CharField(max_length=9, choices=ClusterAct)
    results = models.JSONField(default=list)
    feedback = models.JSONField(default=list)
    issue = models.ForeignKey(Issue, models.SET_NULL, null=True, related_name="+")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = [known("reports_decidedcluster_act_known", "act", ClusterAct)]

    def __str__(self) -> str:
        return f"{len(self.results)} answers of run {self.run_id}: {self.get_act_display()}"
