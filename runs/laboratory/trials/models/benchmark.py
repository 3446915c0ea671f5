"""Benchmarks: topics, ideas, and the artifacts made of them along paths of a generation graph."""

from typing import Any, Self

from django.db import models
from django.db.models import Q

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import RowWithPage, known, optional_user
from evalhub.models import Call, LanguageModel
from evalhub.schedules import ScheduledModel


class BenchmarkState(models.TextChoices):
    DRAFT = "draft"
    READY = "ready", "ready for trials"
    RETIRED = "retired"


class Source(models.TextChoices):
    """Author of a topic, an idea or an artifact."""

    HUMAN = "human", "written by hand"
    MODEL = "model", "written by a model"
    IMPORTED = "imported"
    COMPOSED = "composed", "composed of other programs"


class TopicKind(models.TextChoices):
    DOMAIN = "domain", "domain of problems"
    APPLICATION = "application"
    STATEMENTS = "statements", "domain of statements"


class IdeaState(models.TextChoices):
    ACTIVE = "active"
    DROPPED = "dropped", "dropped as a near duplicate"
    EXCLUDED = "excluded"


class Validity(models.TextChoices):
    """Result of parsing an artifact; `not_checked` if there is no parser for its language."""

    VALID = "valid"
    CORRUPTED = "corrupted"
    NOT_CHECKED = "not_checked", "not checked"


class Review(models.TextChoices):
    PENDING = "pending", "not reviewed"
    APPROVED = "approved"
    EDITED = "edited"
    EXCLUDED = "excluded"


class Benchmark(ScheduledModel, RowWithPage):
    """Claims of known truth for judges, and the texts that they are about.

    `kinds` are those of its artifacts, each {"key", "label", "form": "text" or "code",
    "language": "" or a language of `form` "code"}. `version` is that of the list of topics, raised
    when topics are added. `parent` is the benchmark that this one is a fresh instance of, and
    `perturbation` holds its differences. With `cron` a fresh instance is made at each time. Once
    a scripted model has written anything in it, it is scripted.
    """

    sealed_path = "sealed"
    sealed_fields = ("description", "perturbation")

    name = models.CharField(max_length=150, unique=True)
    description = models.TextField(blank=True)
    kinds = models.JSONField(default=list, blank=True)
    seed = models.PositiveBigIntegerField(
        default=1, help_text="Seed of everything drawn at random."
    )
    version = models.PositiveIntegerField(default=1)
    parent = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="instances"
    )
    perturbation = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=BenchmarkState, default=BenchmarkState.DRAFT)
    sealed = models.BooleanField(
        default=False,
        help_text="Only those who may read sealed tests see it, and it is sent to no model "
        "outside the trusted network.",
    )
    is_scripted = models.BooleanField(default=False, editable=False)
    is_imported = models.BooleanField(default=False, editable=False)
    author = optional_user()
    created_at = models.DateTimeField(auto_now_add=True)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = [known("trials_benchmark_state_known", "state", BenchmarkState)]

    def __str__(self) -> str:
        return self.name


class Topic(models.Model):
    """A seed concept. The ideas of a cluster are related, but not identical.

    `version` is the version of the benchmark's list since which it is there.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ("title",)

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="topics", db_index=False)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=12, choices=TopicKind, default=TopicKind.DOMAIN)
    is_cluster = models.BooleanField("cluster", default=False)
    place = models.PositiveIntegerField(default=0)
    source = models.CharField(max_length=10, choices=Source, default=Source.HUMAN)
    version = models.PositiveIntegerField(default=1)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("benchmark", "place", "pk")
        constraints = [
            known("trials_topic_kind_known", "kind", TopicKind),
            known("trials_topic_source_known", "source", Source),
            models.UniqueConstraint(
                name="trials_topic_once",
                fields=("benchmark", "title"),
                violation_error_message="This benchmark already has that topic.",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Idea(models.Model):
    """An idea of a program, or what the texts of an imported line have in common.

    `reason` says why it was dropped or excluded. `name` is unique within a benchmark's topic.
    """

    sealed_path = "topic__benchmark__sealed"
    sealed_fields = ("name", "statement", "reason")

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="ideas", db_index=False)
    name = models.CharField(max_length=200)
    statement = models.TextField(blank=True)
    place = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=IdeaState, default=IdeaState.ACTIVE)
    reason = models.TextField(blank=True)
    source = models.CharField(max_length=10, choices=Source, default=Source.HUMAN)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("topic", "place", "pk")
        constraints = [
            known("trials_idea_state_known", "state", IdeaState),
            known("trials_idea_source_known", "source", Source),
            models.CheckConstraint(
                name="trials_idea_left_out_has_reason",
                condition=Q(state=IdeaState.ACTIVE) | ~Q(reason=""),
                violation_error_message="Give a reason.",
            ),
        ]
        indexes = [models.Index(fields=("topic", "place"), name="trials_idea_place")]

    def __str__(self) -> str:
        return self.name


class GenerationPath(models.Model):
    """A path of the generation graph.

    `steps` are its edges in order, each {"from", "to", "label": "trusted" or "tested"} with keys of
    the benchmark's kinds. Without a tested edge it makes reference data.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ()

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="paths", db_index=False)
    name = models.CharField(max_length=150)
    steps = models.JSONField()
    place = models.PositiveIntegerField(default=0)

    objects: Any = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("benchmark", "place", "pk")
        constraints = [
            models.UniqueConstraint(
                name="trials_path_once",
                fields=("benchmark", "name"),
                violation_error_message="This benchmark already has a path of that name.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_tested(self) -> bool:
        return any(step["label"] == "tested" for step in self.steps)


class ArtifactQuerySet(SealedQuerySet):
    def reference(self) -> Self:
        """Return those made by trusted models or people, not those of a replay."""
        return self.filter(replay=None)

    def usable(self) -> Self:
        """Return those that claims may be about: neither corrupted nor excluded."""
        left_out = Q(validity=Validity.CORRUPTED) | Q(review=Review.EXCLUDED)
        return self.exclude(left_out).exclude(idea__isnull=False, idea__state__in=LEFT_OUT)


LEFT_OUT = (IdeaState.DROPPED, IdeaState.EXCLUDED)


class Artifact(models.Model):
    """A text of an idea, made from its `parent`. Paths share an equal beginning.

    `replay` is the generation run in which it depends on a tested model; null: reference data.
    A composite has no idea but `members`, the programs that it is composed of. `original` is a
    model's text before the first edit; "": unchanged. `exposed_at` is when it was shown to
    developers of models.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ("text", "original", "validity_reason", "review_reason")

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="artifacts")
    idea = models.ForeignKey(Idea, models.CASCADE, null=True, blank=True, related_name="artifacts")
    kind = models.CharField(max_length=40, help_text="Key of one of the benchmark's kinds.")
    parent = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="children"
    )
    replay = models.ForeignKey(
        "GenerationRun", models.CASCADE, null=True, blank=True, related_name="artifacts"
    )
    members = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="parts_of")
    source = models.CharField(max_length=10, choices=Source, default=Source.MODEL)
    language_model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="+"
    )
    is_tested = models.BooleanField(default=False, help_text="Its own edge was the tested model's.")
    text = models.TextField(blank=True)
    original = models.TextField(blank=True)
    validity = models.CharField(max_length=12, choices=Validity, default=Validity.NOT_CHECKED)
    validity_reason = models.TextField(blank=True)
    review = models.CharField(max_length=10, choices=Review, default=Review.PENDING)
    review_reason = models.TextField(blank=True)
    reviewed_by = optional_user()
    reviewed_at = models.DateTimeField(null=True, blank=True)
    exposed_at = models.DateTimeField(null=True, blank=True)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ArtifactQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        verbose_name = "text"
        constraints = [
            known("trials_artifact_source_known", "source", Source),
            known("trials_artifact_validity_known", "validity", Validity),
            known("trials_artifact_review_known", "review", Review),
            models.CheckConstraint(
                name="trials_artifact_corrupted_has_reason",
                condition=~Q(validity=Validity.CORRUPTED) | ~Q(validity_reason=""),
            ),
            models.CheckConstraint(
                name="trials_artifact_excluded_has_reason",
                condition=~Q(review=Review.EXCLUDED) | ~Q(review_reason=""),
                violation_error_message="Give a reason.",
            ),
            models.CheckConstraint(
                name="trials_artifact_tested_in_replay",
                condition=Q(is_tested=False) | Q(replay__isnull=False),
            ),
            models.UniqueConstraint(
                name="trials_artifact_root_once",
                fields=("idea", "kind"),
                condition=Q(parent=None) & ~Q(source=Source.IMPORTED),
            ),
            models.UniqueConstraint(
                name="trials_artifact_reference_once",
                fields=("parent", "kind"),
                condition=Q(replay=None),
            ),
            models.UniqueConstraint(
                name="trials_artifact_replayed_once",
                fields=("replay", "parent", "kind", "is_tested"),
                condition=Q(replay__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"text {self.pk}"
