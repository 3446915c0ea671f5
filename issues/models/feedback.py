from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History
from evalhub.llm.content.images import check_images
from evalhub.model_parts import RowWithPage, known, once, optional_user
from issues.content.feedback_content import ERASED
from issues.models.issue import Issue


class FeedbackState(models.TextChoices):
    NEW = "new"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"
    DUPLICATE = "duplicate"


class Rating(models.TextChoices):
    UP = "up", "thumbs up"
    DOWN = "down", "thumbs down"
    NONE = "none", "not rated"


class Feedback(RowWithPage):
    """Feedback of an end user on an answer.

    Tests are made from it, so a sealed test seals all feedback of its issue.
    """

    sealed_path = "issue__tests__sealed"
    also_sealed_paths = ("issue__merged_into__tests__sealed",)
    sealed_fields = tuple(ERASED)

    messages = models.JSONField(
        default=list,
        blank=True,
        help_text="The conversation before the answer, if it has more than the prompt.",
    )
    prompt = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    rating = models.CharField(max_length=4, choices=Rating, default=Rating.NONE)
    comment = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True, help_text="The model that answered.")
    release = models.CharField(
        max_length=100, blank=True, help_text="The release that answered, such as 1.4."
    )
    source = models.CharField(max_length=100, blank=True, help_text="The application that sent it.")
    raw = models.JSONField(default=dict, blank=True, help_text="Other fields sent with it.")
    state = models.CharField(max_length=10, choices=FeedbackState, default=FeedbackState.NEW)
    issue = models.ForeignKey(
        Issue, models.SET_NULL, null=True, blank=True, related_name="feedback"
    )
    duplicate_of = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="duplicates"
    )
    note = models.TextField(blank=True, help_text="Reason or findings of triage.")
    received_by = optional_user()
    source_id = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    erased_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When its texts were erased."
    )

    history = History()
    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "feedback"
        permissions = [("erase_feedback", "Can erase the texts of feedback")]
        indexes = [models.Index(fields=("state", "id"), name="issues_feedback_inbox")]
        constraints = [
            known("issues_feedback_state_known", "state", FeedbackState),
            known("issues_feedback_rating_known", "rating", Rating),
            models.CheckConstraint(
                name="issues_feedback_duplicate_stated",
                condition=models.Q(duplicate_of=None) | models.Q(state=FeedbackState.DUPLICATE),
                violation_error_message="Only a duplicate has an original.",
            ),
            once("issues_feedback_source_once", "source", "source_id"),
        ]

    def __str__(self) -> str:
        if self.erased_at is not None:
            return f"feedback {self.pk}, erased on {self.erased_at:%Y-%m-%d}"
        return (self.comment or self.prompt or f"feedback {self.pk}")[:80]

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """Return the messages before the answer; only the prompt if no others were sent."""
        return self.messages or [{"role": "user", "content": self.prompt}]

    def clean(self) -> None:
        """Keep feedback that a sealed test seals at its issue: it leaves by a merge only.

        Its images must be stored.
        """
        check_images(self.messages)
        stored = Feedback.objects.filter(pk=self.pk, issue__tests__sealed=True)
        if self.pk and stored.exclude(issue=self.issue_id).exists():
            raise ValidationError(
                {
                    "issue": "A sealed test of its issue seals this feedback too. "
                    "Merge the issues instead."
                }
            )
