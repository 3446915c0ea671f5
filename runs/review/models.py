"""What people are asked to look at: queues of results, and places for those who review them."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from simple_history.models import HistoricalRecords

from evalhub.access.sealed import SealedQuerySet
from evalhub.constraints import known, share
from runs.models import HumanEvaluation, Result, Run, Suite

MAX_REVIEWERS = 9


class QueueState(models.TextChoices):
    OPEN = "open"
    CLOSED = "closed"


class BlindMode(models.TextChoices):
    """Of which results the judges' verdicts are hidden until the reviewer has given theirs."""

    NONE = "none", "of none"
    RANDOM = "random", "of those drawn at random"
    ALL = "all", "of all"


class ReviewScope(models.TextChoices):
    """What a reviewer decides on."""

    WHOLE = "whole", "the answer as a whole"
    CRITERIA = "criteria", "each criterion of the rubric"
    EITHER = "either", "as the reviewer sees fit"


class Reasoning(models.TextChoices):
    """When a reviewer has to say why."""

    OVERRIDES = "overrides", "where it overrides what is shown"
    ALWAYS = "always"


class Queue(models.Model):
    """Results that deserve a person, and how they are reviewed.

    `follows` is a suite whose runs are added by themselves once they are done; `runs` are those
    that were added as a whole, so or by hand. `random_share` is the part of what is added that is
    drawn at random, in [0, 1]; `seed` decides the draw.
    """

    name = models.CharField(max_length=150, unique=True)
    instructions = models.TextField(blank=True, help_text="What reviewers read beside each item.")
    follows = models.ForeignKey(
        Suite, models.SET_NULL, null=True, blank=True, related_name="review_queues"
    )
    runs = models.ManyToManyField(Run, related_name="review_queues", blank=True, editable=False)
    reviewers = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_REVIEWERS)],
        help_text="So many people review each item.",
    )
    random_share = models.FloatField(
        default=0.2, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    blind = models.CharField(max_length=6, choices=BlindMode, default=BlindMode.RANDOM)
    scope = models.CharField(max_length=8, choices=ReviewScope, default=ReviewScope.EITHER)
    reasoning = models.CharField(max_length=9, choices=Reasoning, default=Reasoning.OVERRIDES)
    reserved_minutes = models.PositiveSmallIntegerField(
        default=30,
        validators=[MinValueValidator(1), MaxValueValidator(24 * 60)],
        help_text="So long an item is kept for who looks at it and does nothing.",
    )
    state = models.CharField(max_length=6, choices=QueueState, default=QueueState.OPEN)
    seed = models.PositiveBigIntegerField(editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        editable=False,
    )
    created_at = models.DateTimeField(auto_now_add=True)

    history = HistoricalRecords()

    class Meta:
        ordering = ("name",)
        permissions = [
            ("review_results", "Can review results of queues"),
            ("send_back", "Can send reviews back"),
        ]
        constraints = [
            known("review_queue_state_known", "state", QueueState),
            known("review_queue_blind_known", "blind", BlindMode),
            known("review_queue_asks_known", "scope", ReviewScope),
            known("review_queue_reasoning_known", "reasoning", Reasoning),
            share("review_queue_random_share", "random_share"),
            models.CheckConstraint(
                name="review_queue_reviewers_range",
                condition=Q(reviewers__gte=1, reviewers__lte=MAX_REVIEWERS),
                violation_error_message=f"Choose from 1 to {MAX_REVIEWERS} reviewers.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("admin:review_queue_change", args=[self.pk])


class ReviewItem(models.Model):
    """A result in a queue. Why it is there is recorded when it is added, and never changes.

    `reasons` are what `runs.review.reasons.as_json` wrote, the gravest first: {"key", "told"},
    `description` being the reason in words that hold no text of the test; [] only for what was
    drawn at
    random and has none besides. `position` orders the queue: low comes first.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ()

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="items", db_index=False)
    result = models.ForeignKey(Result, models.CASCADE, related_name="review_items")
    reasons = models.JSONField(default=list)
    is_random = models.BooleanField(default=False)
    position = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("queue", "position", "pk")
        constraints = [
            models.UniqueConstraint(name="review_item_once", fields=("queue", "result")),
        ]

    def __str__(self) -> str:
        return f"{self.queue}: {self.result}"


class AssignmentState(models.TextChoices):
    OPEN = "open"
    RESERVED = "reserved"
    SUBMITTED = "submitted"
    SENT_BACK = "sent_back", "sent back"


class Assignment(models.Model):
    """Room for one reviewer of an item: an item has as many as its queue had reviewers.

    So the database itself holds how many review an item, and that each of them is another person.
    `draft` is what its reviewer has typed so far, or what was submitted: see
    `runs.review.submission.as_draft`. `queue` and `position` are its item's. `evaluations` are what
    was made of it when it was submitted last. `past` is what became of it before, oldest first:
    {"what": "left", "undone", "sent_back" or "skipped", "by", "at", "note", "draft"}.
    """

    sealed_path = "item__result__test__sealed"
    sealed_fields = ("draft", "note", "sent_back_note", "past")

    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="assignments", db_index=False)
    number = models.PositiveSmallIntegerField()
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="assignments", db_index=False)
    position = models.BigIntegerField()
    state = models.CharField(max_length=9, choices=AssignmentState, default=AssignmentState.OPEN)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="review_assignments",
    )
    reserved_until = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True, help_text="For those who look at it next.")
    seconds = models.PositiveIntegerField("seconds taken", null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    evaluations = models.ManyToManyField(HumanEvaluation, blank=True, related_name="assignments")
    sent_back_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    sent_back_note = models.TextField(blank=True)
    past = models.JSONField(default=list, blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("queue", "position", "pk")
        constraints = [
            known("review_assignment_state_known", "state", AssignmentState),
            models.UniqueConstraint(name="review_assignment_once", fields=("item", "number")),
            models.UniqueConstraint(
                name="review_assignment_another_person", fields=("item", "annotator")
            ),
            models.CheckConstraint(
                name="review_assignment_open_has_nobody",
                condition=Q(state="open", annotator__isnull=True)
                | Q(~Q(state="open"), annotator__isnull=False),
            ),
            models.CheckConstraint(
                name="review_assignment_reserved_expires",
                condition=Q(state="reserved", reserved_until__isnull=False)
                | Q(~Q(state="reserved"), reserved_until__isnull=True),
            ),
            models.CheckConstraint(
                name="review_assignment_submitted_at",
                condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
            ),
        ]
        indexes = [
            models.Index(
                fields=("queue", "state", "position", "id"), name="review_assignment_to_take"
            ),
            models.Index(
                fields=("queue", "annotator", "state", "submitted_at"),
                name="review_assignment_mine",
            ),
        ]

    def __str__(self) -> str:
        return f"place {self.number} of {self.item}"


class Skip(models.Model):
    """That a person would not review an item, and why; it is not offered to them again.

    `draft` is what they had typed; it comes back where the skip is taken back.
    """

    sealed_path = "item__result__test__sealed"
    sealed_fields = ("reason", "draft")

    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="skips", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_skips"
    )
    reason = models.TextField()
    draft = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(
                name="review_skip_once",
                fields=("item", "annotator"),
                condition=Q(undone_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator} skipped {self.item}: {self.reason}"


class Correction(models.Model):
    """How a person would have answered. It becomes the test's reference by an explicit act only.

    `undone_at`: its author has undone the review that it came with.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ("text",)

    result = models.ForeignKey(Result, models.CASCADE, related_name="corrections")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="corrections"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    promoted_at = models.DateTimeField(null=True, blank=True)
    promoted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        permissions = [("promote_correction", "Can make a correction the reference of its test")]

    def __str__(self) -> str:
        return f"correction of {self.result} by {self.annotator}"


class Dispute(Result):
    """A result on which people's verdicts differ, or did: for those who settle it."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = "disputed result"

    def __str__(self) -> str:
        return f"dispute over result {self.pk}"
