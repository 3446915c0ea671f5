"""Claims of known truth, trials of judges on them, and validations."""

from typing import Any, Self

from django.db import models
from django.db.models import F, Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.history import Signed
from evalhub.model_parts import RowWithPage, known, optional_user, unfinished
from evalhub.models import BatchState, ItemState, LanguageModel
from evalhub.work.models import Batch
from issues.models import JudgeTemplate
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.trials.models.benchmark import (
    LEFT_OUT,
    Artifact,
    Benchmark,
    Idea,
    Review,
    Topic,
    Validity,
)
from runs.laboratory.tuning.models import Split
from runs.models.verdict_item import VerdictItem


class ClaimKind(models.TextChoices):
    EQUAL = "equal", "equal: two paths from one description"
    DIFFERENT = "different", "different: two descriptions"
    LOOP = "loop", "loop: the path returns to its beginning"
    DESCRIBES = "describes", "describes: a summary and its description"
    RANK = "rank", "rank: the left text reflects the anchor better"
    PART = "part", "part: one program in two composed ones"
    CONTEXT = "context", "context: a program alone and as a part"
    LABELLED = "labelled", "labelled by annotators"


class Hardness(models.TextChoices):
    """Origin of the texts of a negative; "" for positives."""

    CROSS_TOPIC = "cross_topic", "of two topics"
    WITHIN_CLUSTER = "within_cluster", "of one cluster"


class Task(models.TextChoices):
    """Kind of task that a judge may be validated for."""

    SUMMARY = "summary", "usefulness of summaries"
    EXPLANATION = "explanation", "usefulness of explanations of code"
    SIMILARITY = "similarity", "similarity of two texts"
    CODE = "code", "similarity of two programs"
    RANK = "rank", "better of two texts"
    PART = "part", "parts of composed programs"


class ClaimQuerySet(SealedQuerySet):
    def usable(self) -> Self:
        """Return those whose texts are all usable (`ArtifactQuerySet.usable`) by now."""
        rows = self.exclude(idea__state__in=LEFT_OUT)
        for name in ("anchor", "left", "right"):
            rows = rows.exclude(**{f"{name}__validity": Validity.CORRUPTED})
            rows = rows.exclude(**{f"{name}__review": Review.EXCLUDED})
            rows = rows.exclude(**{f"{name}__idea__state__in": LEFT_OUT})
        return rows


class Claim(models.Model):
    """A statement about two texts whose truth is known from how they were made, or from people.

    A pair of texts is one claim; its two orders are judged apart. `idea` is the unit that figures
    are resampled by: of a part that part's, of two ideas the left text's. `languages` is sorted,
    such as "cobol, java"; "" if it has none. `score` is that of people, from 1 to 7; null: they
    gave none. Judges are tuned on the development split only.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ()

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="claims", db_index=False)
    kind = models.CharField(max_length=10, choices=ClaimKind)
    anchor = models.ForeignKey(
        Artifact, models.CASCADE, null=True, blank=True, related_name="claims_as_anchor"
    )
    left = models.ForeignKey(Artifact, models.CASCADE, related_name="claims_as_left")
    right = models.ForeignKey(Artifact, models.CASCADE, related_name="claims_as_right")
    truth = models.BooleanField()
    hardness = models.CharField(max_length=15, choices=Hardness, blank=True)
    languages = models.CharField(max_length=85, blank=True)
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="claims")
    idea = models.ForeignKey(Idea, models.CASCADE, related_name="claims")
    split = models.CharField(max_length=12, choices=Split, default=Split.HELD_OUT)
    score = models.FloatField(null=True, blank=True)

    objects = ClaimQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("trials_claim_kind_known", "kind", ClaimKind),
            known("trials_claim_split_known", "split", Split),
            models.CheckConstraint(
                name="trials_claim_hardness_known",
                condition=Q(hardness__in=(*Hardness.values, "")),
            ),
            models.CheckConstraint(name="trials_claim_of_two", condition=~Q(left=F("right"))),
            models.CheckConstraint(
                name="trials_claim_score_range",
                condition=Q(score__isnull=True) | Q(score__range=(1, 7)),
            ),
            models.UniqueConstraint(
                name="trials_claim_once", fields=("benchmark", "kind", "left", "right", "idea")
            ),
        ]

    def __str__(self) -> str:
        return f"claim {self.pk}"


class Trial(Batch, RowWithPage):
    """A judge on a benchmark's claims, each in both orders.

    The judge is a language model with a template, or a metric. `endpoint` is the model's by copy,
    null for a metric. A score of at least `threshold` says that the claim is true. `method` is a
    digest of all that makes the judge: only equal ones are the same judge. `settings` may have
    "tunes_threshold": at its end the metric's threshold is chosen on the development claims, and
    "tuned_on" is their number.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ("reason",)

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="trials")
    language_model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="+"
    )
    endpoint = models.JSONField(null=True, blank=True)
    template = models.ForeignKey(
        JudgeTemplate, models.PROTECT, null=True, blank=True, related_name="+"
    )
    metric = models.CharField(max_length=40, blank=True)
    threshold = models.FloatField()
    settings = models.JSONField(default=dict, blank=True)
    method = models.CharField(max_length=64, db_index=True)
    is_scripted = models.BooleanField(default=False)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [
            known("trials_trial_state_known", "state", BatchState),
            models.CheckConstraint(
                name="trials_trial_model_or_metric",
                condition=Q(
                    language_model__isnull=False,
                    endpoint__isnull=False,
                    template__isnull=False,
                    metric="",
                )
                | (Q(language_model=None, endpoint=None, template=None) & ~Q(metric="")),
            ),
        ]

    def __str__(self) -> str:
        return f"trial {self.pk} of {self.judge_name}"

    @property
    def judge_name(self) -> str:
        return str(TrialJudge(self.language_model, self.template, self.metric))

    @property
    def tunes_threshold(self) -> bool:
        return bool(self.settings.get("tunes_threshold"))

    @property
    def tuned_on(self) -> int | None:
        """Return how many development claims its threshold was chosen on; None: it was given."""
        number: int | None = self.settings.get("tuned_on")
        return number

    @property
    def is_tuned(self) -> bool:
        """Return whether it may fit some claims: only held-out ones may be concluded from."""
        return self.tunes_threshold or bool(self.template and self.template.version > 1)


class ClaimJudgment(VerdictItem):
    """The judge's score of a claim in one order. Done has a score, error none.

    `order` 0 shows the left text first, 1 the right one. `score` is from 1 to 7, a metric's from 0
    to 1, for the texts in the order in which they were shown.
    """

    sealed_path = "trial__benchmark__sealed"

    trial = models.ForeignKey(Trial, models.CASCADE, related_name="judgments", db_index=False)
    claim = models.ForeignKey(Claim, models.CASCADE, related_name="judgments")
    order = models.PositiveSmallIntegerField()
    score = models.FloatField(null=True, blank=True)

    class Meta(VerdictItem.Meta):
        constraints = [
            known("trials_claim_judgment_state_known", "state", ItemState),
            models.UniqueConstraint(
                name="trials_claim_judgment_once", fields=("trial", "claim", "order")
            ),
            models.CheckConstraint(
                name="trials_claim_judgment_order_known", condition=Q(order__in=(0, 1))
            ),
            models.CheckConstraint(
                name="trials_claim_judgment_done_has_score",
                condition=Q(state="done", score__isnull=False, score__range=(0, 7))
                | Q(~Q(state="done"), score__isnull=True),
            ),
        ]
        indexes = [unfinished("trials_claim_judgment_live", "trial")]

    def __str__(self) -> str:
        return f"judgment {self.pk} on claim {self.claim_id}"


class Validation(models.Model):
    """A user's mark that a judge is fit for a kind of task, as a trial showed.

    It lapses when the judge's `method` changes, and when it is withdrawn.
    """

    sealed_path = "trial__benchmark__sealed"
    sealed_fields = ("note",)
    signed = Signed("created_at", "by", on="trial")

    trial = models.ForeignKey(Trial, models.CASCADE, related_name="validations")
    task = models.CharField(max_length=12, choices=Task)
    method = models.CharField(max_length=64, db_index=True)
    language_model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="validations"
    )
    template = models.ForeignKey(
        JudgeTemplate, models.PROTECT, null=True, blank=True, related_name="validations"
    )
    note = models.TextField(blank=True)
    by = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [
            known("trials_validation_task_known", "task", Task),
            models.UniqueConstraint(
                name="trials_validation_once",
                fields=("method", "task", "trial"),
                condition=Q(withdrawn_at=None),
                violation_error_message="This trial already validates the judge for that task.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_task_display()}, validated by {self.trial}"
