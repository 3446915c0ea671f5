from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History
from evalhub.model_parts import RowWithPage, known, once, optional_user
from issues.models.tag import Tag


class IssueState(models.TextChoices):
    DRAFT = "draft"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    RESOLVED = "resolved"
    DEPRECATED = "deprecated"


class Severity(models.TextChoices):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class ResolutionLabel(models.Model):
    """A label for resolved issues, defined by the team."""

    name = models.CharField(max_length=100, unique=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


MAX_MERGES = 3
"""Number of successive merges across which an issue's texts stay sealed."""


class IssueQuerySet(SealedQuerySet):
    def active(self) -> "IssueQuerySet":
        """Return issues whose tests may run."""
        return self.exclude(state=IssueState.DEPRECATED)


class Issue(RowWithPage):
    """A wrong behaviour of models, with description, tags and state.

    Its texts may quote its tests, so they are sealed with any of them. The title and the public
    summary are open to all.
    """

    sealed_path = "tests__sealed"
    also_sealed_paths = tuple(  # its tests have moved there
        "merged_into__" * merges + "tests__sealed" for merges in range(1, MAX_MERGES + 1)
    )
    sealed_fields = ("description", "resolution_note")

    title = models.CharField(max_length=200)
    description = models.TextField(
        blank=True, help_text="The wrong behaviour, and how to recognise it."
    )
    generic_statement = models.TextField(
        "public summary",
        blank=True,
        help_text="For readers outside the team. Do not quote the test.",
    )
    state = models.CharField(max_length=10, choices=IssueState, default=IssueState.DRAFT)
    severity = models.CharField(max_length=10, choices=Severity, default=Severity.MEDIUM)
    tags = models.ManyToManyField(Tag, blank=True, related_name="issues")
    assignee = optional_user("issues")
    author = optional_user()
    resolution_labels = models.ManyToManyField(ResolutionLabel, blank=True, related_name="issues")
    resolution_note = models.TextField(blank=True)
    merged_into = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="merged"
    )
    source_id = models.CharField(
        max_length=200, blank=True, help_text="ID in the system that it was imported from."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    history = History(m2m_fields=[tags, resolution_labels])
    objects = IssueQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        permissions = [("approve_issue", "Can approve, resolve and deprecate issues")]
        constraints = [
            known("issues_issue_state_known", "state", IssueState),
            known("issues_issue_severity_known", "severity", Severity),
            once("issues_issue_source_once", "source_id"),
        ]

    def __str__(self) -> str:
        return self.title


class SourceKind(models.TextChoices):
    GENERAL = "general"
    URL = "url", "link"
    GITHUB = "github", "GitHub"


class Source(models.Model):
    """A place where the issue was seen, besides feedback."""

    sealed_path = "issue__tests__sealed"
    also_sealed_paths = ("issue__merged_into__tests__sealed",)
    sealed_fields = ("value",)

    issue = models.ForeignKey(Issue, models.CASCADE, related_name="sources")
    kind = models.CharField(max_length=10, choices=SourceKind, default=SourceKind.GENERAL)
    value = models.CharField(max_length=500)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [known("issues_source_kind_known", "kind", SourceKind)]

    def __str__(self) -> str:
        return self.value
