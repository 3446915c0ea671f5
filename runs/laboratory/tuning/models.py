"""Judge tuning: a judge's verdicts next to human verdicts, and attempts with draft prompts."""

from typing import Any

from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import Signed
from evalhub.model_parts import RowWithPage, known, optional_user, share, unfinished
from evalhub.models import BatchState, ItemState, LanguageModel
from evalhub.work.models import Batch
from issues.models import FrozenCriterion, JudgeTemplate, Tag
from runs.models import Judge, JudgeRun, Result, Suite
from runs.models.verdict_item import VerdictItem


class Split(models.TextChoices):
    """Split of a test and all human verdicts on its answers.

    The development split is for reading and examples; the held-out split shows figures only.
    """

    DEVELOPMENT = "development", "development split"
    HELD_OUT = "held_out", "held-out split"


class AnnotatorFilter(models.TextChoices):
    """Human verdicts to tune against."""

    ALL = "all", "all human verdicts"
    RANDOM = "random", "only blind verdicts on randomly drawn answers"


class Tuning(RowWithPage):
    """A judge with one template version, on answers that annotators also evaluated.

    `template` is the version in use, behind the judge's current verdicts; `draft` is its successor
    in progress. `left_out` counts, by reason, answers that could not be compared.
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
    seed = models.PositiveBigIntegerField(help_text="Seed that assigns tests to splits.")
    left_out = models.JSONField(default=dict)
    created_by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "judge tuning"
        verbose_name_plural = "judge tunings"
        constraints = [known("tuning_tuning_annotators_known", "annotators", AnnotatorFilter)]

    def __str__(self) -> str:
        return f"judge tuning {self.pk} of {self.template}"


class LabelledExample(models.Model):
    """The human verdict and the judge's verdict on one answer or one of its criteria.

    Copied when the tuning starts: later verdicts change no figure. `value` and `judge_value` lie
    in [0, 1] on the scale of the version in use; the judge's are null without a verdict.
    `is_example`: its test is an example of the version in use, so that version's figures leave it
    out.
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
        return f"labelled example {self.pk}"


class Attempt(Batch):
    """A judge's pass over both splits with a draft.

    `content` is the draft as copied by `runs.laboratory.tuning.frozen_prompt.frozen`, `digest` its
    digest; `frozen_judge` is the judge as copied by `runs.judging.jury.snapshot`, with the endpoint
    of the "repair_model" or null.
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
        constraints = [
            known("tuning_attempt_state_known", "state", BatchState),
            models.UniqueConstraint(name="tuning_attempt_number_once", fields=("tuning", "number")),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.tuning}"


class AttemptJudgment(VerdictItem):
    """The judge's verdict on a labelled example in an attempt. Done has a value, error none."""

    sealed_path = "labelled_example__result__test__sealed"

    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="judgments", db_index=False)
    labelled_example = models.ForeignKey(LabelledExample, models.CASCADE, related_name="judgments")
    sample = models.PositiveSmallIntegerField(default=0)
    option = models.CharField(max_length=60, blank=True)
    value = models.FloatField(null=True, blank=True)

    class Meta(VerdictItem.Meta):
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
        indexes = [unfinished("tuning_attempt_judgment_live", "attempt")]

    def __str__(self) -> str:
        return f"judgment {self.pk} of {self.attempt}"


class Publication(models.Model):
    """Figures of a template version when it was published, by copy.

    `attempt` null: published untested, for `reason`. `figures` comes from
    `runs.laboratory.tuning.figures.as_json`.
    """

    signed = Signed("created_at", "by", on="template")

    template = models.OneToOneField(
        JudgeTemplate, models.PROTECT, primary_key=True, related_name="publication"
    )
    tuning = models.ForeignKey(Tuning, models.PROTECT, related_name="publications")
    attempt = models.ForeignKey(
        Attempt, models.PROTECT, null=True, blank=True, related_name="publications"
    )
    reason = models.TextField(blank=True)
    figures = models.JSONField(default=dict)
    by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(
                name="tuning_publication_attempt_or_reason",
                condition=Q(attempt__isnull=False) | ~Q(reason=""),
                violation_error_message="Test the draft first, or give a reason.",
            ),
        ]

    def __str__(self) -> str:
        return f"publication of {self.template}"


class PromptQuestion(models.TextChoices):
    READING = "reading", "How does the judge read this prompt?"
    DIFFERENCE = "difference", "What makes the difference?"


class PromptAnswer(models.Model):
    """A judge's answer to a question about a version of a prompt, kept beside its editor.

    `is_edited`: the prompt asked about was in the editor, and differed from the saved version.
    `ideal` and `poor` are the texts compared. An answer about texts may quote a sealed test, and
    is sealed.
    """

    sealed_path = "sealed"
    sealed_fields = ("ideal", "poor", "answer")

    template = models.ForeignKey(JudgeTemplate, models.CASCADE, related_name="prompt_answers")
    is_edited = models.BooleanField(default=False)
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    question = models.CharField(max_length=10, choices=PromptQuestion)
    ideal = models.TextField(blank=True)
    poor = models.TextField(blank=True)
    answer = models.TextField()
    sealed = models.BooleanField(default=False)
    asked_by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [known("tuning_prompt_answer_question_known", "question", PromptQuestion)]

    def __str__(self) -> str:
        return f"answer {self.pk} on {self.template}"
