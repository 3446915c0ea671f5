from django.db import models
from django.db.models import Q

from evalhub.model_parts import optional_user
from issues.models.issue import Issue


class Merge(models.Model):
    """A merge of one issue into another, with what is needed to undo it.

    `moved` holds the ids of the rows that moved, by their name on an issue (tests, feedback,
    comments, sources, and tags that the other lacked). `changed` holds the fields of the kept issue
    that took the other's value, as [before, after].
    """

    merged_away = models.ForeignKey(Issue, models.PROTECT, related_name="merges")
    kept = models.ForeignKey(Issue, models.PROTECT, related_name="taken_in")
    moved = models.JSONField(default=dict)
    changed = models.JSONField(default=dict)
    state_before = models.CharField(max_length=10, help_text="State of the merged issue.")
    by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = optional_user()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(
                name="issues_merge_once",
                fields=("merged_away",),
                condition=Q(undone_at__isnull=True),
            ),
            models.CheckConstraint(
                name="issues_merge_two_issues", condition=~Q(merged_away=models.F("kept"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.merged_away} into {self.kept}"
