"""Improving a judge: its verdicts beside people's, and drafts of its wording tried on them."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from evalhub.access.sealed import SealedQuerySet
from evalhub.constraints import known, share
from evalhub.models import BatchState, Call, ItemState
from evalhub.work.models import Batch, Item, ItemQuerySet
from issues.models import FrozenCriterion, JudgeTemplate, Tag
from runs.models import Judge, JudgeRun, Result, Suite


class Split(models.TextChoices):
    """A test is in one half, with all that people said of its answers.

    The seen half is read and learnt from. Of the held-out half only figures are shown.
    """

    DEVELOPMENT = "development", "seen half"
    HELD_OUT = "held_out", "held-out half"


class AnnotatorFilter(models.TextChoices):
    """Whose verdicts count."""

    ALL = "all", "all that people judged"
    RANDOM = "random", "only answers drawn at random and judged blind"


class Tuning(models.Model):
    """One judge with one version of a template, on the answers that people judged too.

    `template` is the version in use, with which the judge gave the verdicts that stand. `draft` is
    what is being written to follow it. `left_out` counts, by reason, what could not be measured.
    """

    template = models.ForeignKey(JudgeTemplate, models.PROTECT, related_name="tunings")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="tunings")
    draft = models.ForeignKey(
        JudgeTemplate, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    suite = models.ForeignKey(Suite, models.SET_NULL, null=True, blank=True, related_name="+")
    tag = models.ForeignKey(Tag, models.SET_NULL, null=True, blank=True, related_name="+")
    annotators = models.CharField(
        max_length=6, choices=AnnotatorFilter, default=AnnotatorFilter.ALL
    )
    seed = models.PositiveBigIntegerField(help_text="It decides which test is in which half.")
    left_out = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        constraints = [known("tuning_tuning_people_known", "annotators", AnnotatorFilter)]

    def __str__(self) -> str:
        return f"rehearsal {self.pk} of {self.template}"

    def get_absolute_url(self) -> str:
        return reverse("admin:tuning_tuning_change", args=[self.pk])


class LabelledExample(models.Model):
    """What people decided about one answer, or one criterion of it, and what the judge said.

    Copied when the rehearsal begins: what is said later changes no figure. `value` and
    `judge_value` lie in [0, 1] on the scale of the version in use; the judge's are null where it
    gave no verdict. `is_example`: the version in use has its test among its examples, which proves
    nothing of it; it is in no figure of that version.
    """

    tuning = models.ForeignKey(Tuning, models.CASCADE, related_name="examples", db_index=False)
    result = models.ForeignKey(Result, models.CASCADE, related_name="+")
    criterion = models.ForeignKey(FrozenCriterion, models.PROTECT, related_name="+", db_index=False)
    judge_run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="+")
    split = models.CharField(max_length=12, choices=Split)
    value = models.FloatField()
    passed = models.BooleanField()
    judge_value = models.FloatField(null=True, blank=True)
    judge_passed = models.BooleanField(null=True, blank=True)
    is_example = models.BooleanField(default=False)

    objects: Any = SealedQuerySet.as_manager()
    sealed_path = "result__test__sealed"
    sealed_fields = ()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("tuning_labelled_example_split_known", "split", Split),
            share("tuning_labelled_example_value_share", "value"),
            share("tuning_labelled_example_judge_share", "judge_value"),
            models.UniqueConstraint(
                name="tuning_labelled_example_once", fields=("tuning", "result", "criterion")
            ),
        ]

    def __str__(self) -> str:
        return f"precedent {self.pk}"


class Attempt(Batch):
    """A draft tried on both halves. It keeps what it asked with by copy.

    `content` is what `runs.tuning.frozen_prompt.frozen` made of the draft, `digest` that of it;
    `frozen_judge` the judge as `runs.judge_run.work.jury.snapshot` copies it, with the endpoint of
    the "mender" of
    replies, or null.
    """

    tuning = models.ForeignKey(Tuning, models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveSmallIntegerField()
    template = models.ForeignKey(
        JudgeTemplate, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    content = models.JSONField()
    digest = models.CharField(max_length=64, db_index=True)
    frozen_judge = models.JSONField()

    class Meta:
        ordering = ("tuning", "number")
        verbose_name = "try"
        verbose_name_plural = "attempts"
        constraints = [
            known("tuning_attempt_state_known", "state", BatchState),
            models.UniqueConstraint(name="tuning_attempt_number_once", fields=("tuning", "number")),
        ]

    def __str__(self) -> str:
        return f"try {self.number} of {self.tuning}"


class AttemptJudgment(Item):
    """What the judge said of one precedent in one try. Done: it has a value; an error has none."""

    sealed_path = "labelled_example__result__test__sealed"
    sealed_fields = ("justification", "error_message")

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="judgments", db_index=False)
    labelled_example = models.ForeignKey(LabelledExample, models.CASCADE, related_name="judgments")
    sample = models.PositiveSmallIntegerField(default=0)
    option = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True, blank=True)
    justification = models.TextField(blank=True)
    was_repaired = models.BooleanField(default=False)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("tuning_attempt_judgment_state_known", "state", ItemState),
            share("tuning_attempt_judgment_value_share", "value"),
            models.CheckConstraint(
                name="tuning_attempt_judgment_done_has_value",
                condition=Q(state="done", value__isnull=False)
                | Q(~Q(state="done"), value__isnull=True),
            ),
            models.UniqueConstraint(
                name="tuning_attempt_judgment_once",
                fields=("attempt", "labelled_example", "sample"),
            ),
        ]
        indexes = [
            models.Index(
                fields=("attempt", "id"),
                name="tuning_attempt_judgment_live",
                condition=Q(state="pending"),
            ),
        ]

    def __str__(self) -> str:
        return f"verdict {self.pk} of {self.attempt}"


class Publication(models.Model):
    """What was known of a version of a template when it was published, by copy.

    `attempt` null: it was published without having been tried so, for the reason given.
    `figures` is what `runs.tuning.figures.as_json` gave.
    """

    template = models.OneToOneField(
        JudgeTemplate, models.PROTECT, primary_key=True, related_name="publication"
    )
    tuning = models.ForeignKey(Tuning, models.PROTECT, related_name="publications")
    attempt = models.ForeignKey(
        Attempt, models.PROTECT, null=True, blank=True, related_name="publications"
    )
    reason = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(
                name="tuning_publication_tried_or_why",
                condition=Q(attempt__isnull=False) | ~Q(reason=""),
                violation_error_message="Try the draft first, or say why it is published untried.",
            ),
        ]

    def __str__(self) -> str:
        return f"publication of {self.template}"
