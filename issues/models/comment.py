from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import Signed
from evalhub.model_parts import optional_user
from issues.models.issue import Issue
from issues.models.test import Test


class CommentFields(models.Model):
    """A comment, with author and time. Append-only."""

    sealed_fields = ("text",)

    author = optional_user()
    author_name = models.CharField(
        max_length=150,
        blank=True,
        help_text="Author of an imported comment, if without an account.",
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        abstract = True
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.author or self.author_name}: {self.text[:60]}"


class Comment(CommentFields):
    """A comment on an issue."""

    sealed_path = "issue__tests__sealed"
    also_sealed_paths = ("issue__merged_into__tests__sealed",)

    signed = Signed("created_at", "author", on="issue")

    issue = models.ForeignKey(Issue, models.CASCADE, related_name="comments")


class TestComment(CommentFields):
    """A comment on a test."""

    __test__ = False
    sealed_path = "test__sealed"
    signed = Signed("created_at", "author", on="test")

    test = models.ForeignKey(Test, models.CASCADE, related_name="comments")
