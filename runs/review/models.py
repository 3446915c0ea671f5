"""Review queues: their items, and assignments of items to annotators."""

from typing import Self

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Cast
from django.utils import timezone

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import History, Signed
from evalhub.model_parts import RowWithPage, known, optional_user, share
from runs.laboratory.pairwise.models import PairEvaluation
from runs.limits import MAX_RESERVED_MINUTES, MAX_REVIEWERS, RESERVED_MINUTES
from runs.models import HumanEvaluation, Result, Run, Suite
from runs.review.reasons import RANDOM


class QueueState(models.TextChoices):
    OPEN = "open"
    CLOSED = "closed"


class BlindMode(models.TextChoices):
    """The items whose judgments are hidden until the reviewer has submitted."""

    NONE = "none", "for no items"
    RANDOM = "random", "for random items"
    ALL = "all", "for all items"


class ReviewScope(models.TextChoices):
    """The scope of a review."""

    WHOLE = "whole", "the answer as a whole"
    CRITERIA = "criteria", "each criterion of the rubric"
    EITHER = "either", "reviewer's choice"
    PAIRS = "pairs", "pairs of answers"


class Reasoning(models.TextChoices):
    """The verdicts that require a reason."""

    OVERRIDES = "overrides", "when overriding the judges"
    ALWAYS = "always"


class Queue(RowWithPage):
    """A queue of results for review, with its settings.

    `follows` is a suite whose completed runs are added automatically; `runs` are those added as a
    whole, automatically or by hand. `random_share` is the share of added items that are drawn at
    random, in [0, 1]; `seed` decides the draw.
    """

    name = models.CharField(max_length=150, unique=True)
    instructions = models.TextField(blank=True, help_text="Reviewers read these beside each item.")
    follows = models.ForeignKey(
        Suite, models.SET_NULL, null=True, blank=True, related_name="review_queues"
    )
    runs = models.ManyToManyField(Run, related_name="review_queues", blank=True, editable=False)
    reviewers = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_REVIEWERS)],
        help_text="Number of people who review each item.",
    )
    random_share = models.FloatField(
        default=0.2, validators=[MinValueValidator(0), MaxValueValidator(1)]
    )
    blind = models.CharField(max_length=6, choices=BlindMode, default=BlindMode.RANDOM)
    scope = models.CharField(max_length=8, choices=ReviewScope, default=ReviewScope.EITHER)
    ties = models.BooleanField(
        "allow ties", default=True, help_text="Pairs of answers can be equally good."
    )
    reasoning = models.CharField(max_length=9, choices=Reasoning, default=Reasoning.OVERRIDES)
    reserved_minutes = models.PositiveSmallIntegerField(
        default=RESERVED_MINUTES,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_RESERVED_MINUTES)],
        help_text="An idle item is released after this time.",
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

    history = History()

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


class ReviewItemQuerySet(SealedQuerySet):
    def for_reason(self, key: str) -> Self:
        """Search the key in the text of the JSON: SQLite cannot query lists of objects."""
        if key == RANDOM:
            return self.filter(is_random=True)
        as_text = self.alias(as_text=Cast("reasons", models.TextField()))
        return as_text.filter(as_text__contains=f'"key": "{key}"')


class ReviewItem(models.Model):
    """A result in a queue, or a pair: the better of it and `other`, which is younger, is asked for.

    The reasons for its review are recorded when it is added.

    `reasons` are as `runs.review.reasons.as_json` writes them, most severe first: {"key",
    "description"}, without texts of the test; [] only for a random item without other reasons.
    `position` orders the queue: low comes first.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ()

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="items", db_index=False)
    result = models.ForeignKey(Result, models.CASCADE, related_name="review_items")
    other = models.ForeignKey(
        Result, models.CASCADE, null=True, blank=True, related_name="review_items_as_other"
    )
    reasons = models.JSONField(default=list)
    is_random = models.BooleanField(default=False)
    position = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ReviewItemQuerySet.as_manager()

    class Meta:
        ordering = ("queue", "position", "pk")
        constraints = [
            models.UniqueConstraint(
                name="review_item_once",
                fields=("queue", "result"),
                condition=Q(other__isnull=True),
            ),
            models.UniqueConstraint(
                name="review_item_pair_once", fields=("queue", "result", "other")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.queue}: {self.result}"


class AssignmentState(models.TextChoices):
    OPEN = "open"
    RESERVED = "reserved"
    SUBMITTED = "submitted"
    SENT_BACK = "sent_back", "sent back"


class Assignment(models.Model):
    """An item's place for one reviewer; an item has one per reviewer of its queue.

    Constraints ensure the number of reviewers and that they are different people. `draft` is the
    reviewer's input, or the submission: see `runs.review.review_draft.as_draft`. `queue` and
    `position` are its item's. `evaluations` are those of the last submission, `pair_evaluation` the
    one on a pair. `past` is its history, oldest first: {"what": "left", "undone", "sent_back" or
    "skipped", "by", "at", "note", "draft"}.
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
    note = models.TextField(blank=True, help_text="Note for the next reviewer.")
    seconds = models.PositiveIntegerField("seconds taken", null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    evaluations = models.ManyToManyField(HumanEvaluation, blank=True, related_name="assignments")
    pair_evaluation = models.ForeignKey(
        PairEvaluation, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    sent_back_by = optional_user()
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
        return f"assignment {self.number} of {self.item}"


class Skip(models.Model):
    """A reviewer's refusal of an item, which is not offered to them again.

    `draft` is their input, restored when the skip is undone.
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
    """A corrected answer. It becomes the test's reference answer only by an explicit action.

    `undone_at`: its author has undone the review that it came with.
    """

    sealed_path = "result__test__sealed"
    sealed_fields = ("text",)
    signed = Signed("created_at", "annotator", on="result")

    result = models.ForeignKey(Result, models.CASCADE, related_name="corrections")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="corrections"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    promoted_at = models.DateTimeField(null=True, blank=True)
    promoted_by = optional_user()

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        permissions = [("promote_correction", "Can use a correction as reference answer")]

    def __str__(self) -> str:
        return f"correction of {self.result} by {self.annotator}"


class Dispute(Result):
    """A result that is or was disputed, for adjudicators."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = "disputed result"

    def __str__(self) -> str:
        return f"dispute over result {self.pk}"
