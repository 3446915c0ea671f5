"""Drafts of tests: requests to a model, its texts, and the decisions on them."""

from typing import Any

from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import RowWithPage, known, optional_user, unfinished
from evalhub.models import BatchState, Call, ItemState, LanguageModel
from evalhub.work.models import Batch, Item, ItemQuerySet
from issues.models.issue import Issue
from issues.models.test import Test


class Decision(models.TextChoices):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DROPPED = "dropped", "dropped as a near duplicate"


class Generation(Batch, RowWithPage):
    """A batch of drafts by one model.

    `settings` is a `issues.drafting.settings.DraftingSettings`; generator and judge are copies as
    endpoints, the judge's null if nobody labels. `borderline` and `inputs` (pairs of name and text,
    the same for the whole batch) are null until they were generated. `sources` are the tests whose
    text the calls carry.
    """

    sealed_path = "sources__sealed"
    sealed_fields = (
        *("settings", "borderline", "inputs", "passage", "passages", "failures"),
        *("overruled", "reason"),
    )

    issue = models.ForeignKey(
        Issue, models.PROTECT, null=True, blank=True, related_name="generations"
    )
    test = models.ForeignKey(
        Test,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The test whose judge settings accepted drafts take.",
    )
    follows = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="followers"
    )
    sources = models.ManyToManyField(Test, blank=True, related_name="+")
    generator = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    judge = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="+"
    )
    endpoint = models.JSONField()
    judge_endpoint = models.JSONField(null=True, blank=True)
    settings = models.JSONField()
    passages = models.JSONField(
        default=list, help_text="Of the uploaded documents: document, page and text."
    )
    overruled = models.TextField(
        blank=True, help_text="Why this generator was used although it is not independent."
    )
    passage = models.JSONField(null=True, blank=True, help_text="The one that this batch rests on.")
    borderline = models.JSONField(null=True, blank=True)
    inputs = models.JSONField(null=True, blank=True)
    prepared_at = models.DateTimeField(
        null=True, blank=True, help_text="When borderline option and input were there."
    )
    failures = models.JSONField(
        default=list, help_text="Replies about borderline option and input that were not usable."
    )

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name = "batch of drafts"
        verbose_name_plural = "batches of drafts"
        permissions = [("draft_tests", "Can have models draft tests and edit texts")]
        constraints = [known("issues_generation_state_known", "state", BatchState)]

    def __str__(self) -> str:
        return f"batch {self.pk} by {self.generator}"


class Draft(Item):
    """An input with an answer by a model, or two. It is no test until a person accepts it.

    `option` is what the answer is meant to show, a label of the criterion ("" for a borderline one
    and for a pair); `winner` is the answer of a pair that is meant to win. `label` is what another
    model says. `expected` is the human verdict, empty until there is one: an option, or the winner
    of a pair.
    """

    sealed_path = "generation__sources__sealed"
    sealed_fields = (
        *("messages", "context", "answer", "second_answer", "rationale", "failures"),
        *("option", "label", "label_reason", "label_error", "expected", "error_message"),
        "dropped_for",
    )

    generation = models.ForeignKey(Generation, models.CASCADE, related_name="drafts")
    option = models.CharField(max_length=60, blank=True)
    is_borderline = models.BooleanField(default=False)
    winner = models.CharField(max_length=6, blank=True, help_text="Of a pair: first or second.")
    messages = models.JSONField(default=list, blank=True)
    context = models.TextField(blank=True, help_text="The passage that it rests on.")
    answer = models.TextField(blank=True)
    second_answer = models.TextField(blank=True)
    rationale = models.TextField(blank=True, help_text="Why it shows the option, by its generator.")
    failures = models.JSONField(
        default=list, help_text="Replies that were not usable as they were: asked, reason, reply."
    )
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    label = models.CharField(max_length=60, blank=True)
    label_reason = models.TextField(blank=True)
    label_error = models.TextField(blank=True)
    decision = models.CharField(max_length=8, choices=Decision, default=Decision.PROPOSED)
    dropped_for = models.CharField(max_length=60, blank=True)
    expected = models.CharField(max_length=60, blank=True)
    was_edited = models.BooleanField(default=False)
    decided_by = optional_user()
    decided_at = models.DateTimeField(null=True, blank=True)
    test = models.OneToOneField(Test, models.SET_NULL, null=True, blank=True, related_name="draft")

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("generation", "pk")
        constraints = [
            known("issues_draft_state_known", "state", ItemState),
            known("issues_draft_decision_known", "decision", Decision),
            models.CheckConstraint(
                name="issues_draft_winner_known", condition=Q(winner__in=("", "first", "second"))
            ),
            models.CheckConstraint(
                name="issues_draft_done_has_answer",
                condition=~Q(state="done") | ~Q(answer=""),
            ),
            models.CheckConstraint(
                name="issues_draft_accepted_was_done",
                condition=Q(decision="proposed") | Q(state="done"),
            ),
        ]
        indexes = [unfinished("issues_draft_live", "generation")]

    def __str__(self) -> str:
        return f"draft {self.pk}"

    @property
    def is_pair(self) -> bool:
        return bool(self.winner)

    @property
    def meant(self) -> str:
        """Return what it is meant to show, in words."""
        if self.winner:
            return f"the {self.winner} answer wins"
        return "borderline" if self.is_borderline else self.option

    @property
    def is_hit(self) -> bool | None:
        """Return whether the judge says what was meant; None for borderline and without label."""
        if self.is_borderline or not self.label:
            return None
        return self.label == (self.winner or self.option)
