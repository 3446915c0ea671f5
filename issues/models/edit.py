"""Edits of a part of a text by a model: what it proposed, and what a person did with it."""

from typing import Any

from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import known, optional_user
from evalhub.models import LanguageModel
from issues.models.test import Test


class EditAction(models.TextChoices):
    REPHRASE = "rephrase", "Rephrase"
    COUNTERFACTUAL = "counterfactual", "Regenerate as a counterfactual"
    ELABORATE = "elaborate", "Elaborate"
    SHORTEN = "shorten", "Shorten"
    FEEDBACK = "feedback", "Apply the judge’s feedback"
    OWN = "own", "Follow an instruction of your own"


class EditState(models.TextChoices):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


class Edit(models.Model):
    """A step of an edit; rows are added and never changed.

    A proposal has the texts: `before` stood at `start` of its field and would become `after`. Each
    later row refers to it by `proposal`, and has what a person did. `field` names the text, such as
    "test 12 guidelines". `test` is the test that the text is of or derived from; null if unsaved.
    """

    sealed_path = "test__sealed"
    sealed_fields = ("before", "after", "instruction", "field")

    proposal = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="steps"
    )
    state = models.CharField(max_length=8, choices=EditState, default=EditState.PROPOSED)
    field = models.CharField(max_length=120, db_index=True)
    test = models.ForeignKey(Test, models.CASCADE, null=True, blank=True, related_name="edits")
    action = models.CharField(max_length=14, choices=EditAction)
    instruction = models.TextField(blank=True)
    start = models.PositiveIntegerField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [
            known("issues_edit_state_known", "state", EditState),
            known("issues_edit_action_known", "action", EditAction),
            models.CheckConstraint(
                name="issues_edit_step_of_proposal",
                condition=Q(state="proposed", proposal__isnull=True)
                | Q(~Q(state="proposed"), proposal__isnull=False),
            ),
            models.UniqueConstraint(
                name="issues_edit_decided_once",
                fields=("proposal",),
                condition=Q(state__in=("accepted", "rejected")),
            ),
            models.UniqueConstraint(
                name="issues_edit_undone_once", fields=("proposal",), condition=Q(state="undone")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.state}"
