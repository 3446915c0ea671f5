from django.db import models

from evalhub.history import History
from evalhub.model_parts import known


class TagKind(models.TextChoices):
    DOMAIN = "domain"
    TASK_TYPE = "task_type"
    OTHER = "other"


class Tag(models.Model):
    """A label of issues, tests and suites: domain, task type or anything else."""

    name = models.CharField(max_length=100, unique=True)
    kind = models.CharField(max_length=10, choices=TagKind, default=TagKind.OTHER)
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="children"
    )
    history = History()

    class Meta:
        ordering = ("kind", "name")
        constraints = [
            known("issues_tag_kind_known", "kind", TagKind),
            models.CheckConstraint(
                name="issues_tag_not_own_parent",
                condition=models.Q(parent__isnull=True) | ~models.Q(parent=models.F("id")),
                violation_error_message="A tag cannot be its own parent.",
            ),
        ]

    def __str__(self) -> str:
        return self.name
