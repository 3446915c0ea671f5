"""Generation runs: the background work that writes a benchmark's ideas and artifacts."""

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evalhub.access.sealing.readers import SealedQuerySet
from evalhub.model_parts import known, unfinished
from evalhub.models import BatchState, Call, ItemState, LanguageModel
from evalhub.work.models import Batch, Item, ItemQuerySet
from runs.laboratory.trials.models.benchmark import Artifact, Benchmark, GenerationPath, Idea, Topic
from runs.models import Run


class Stage(models.TextChoices):
    """Last stage of a generation run. Each goes through those before it, and makes what lacks."""

    TOPICS = "topics"
    IDEAS = "ideas"
    DESCRIPTIONS = "descriptions"
    ARTIFACTS = "artifacts", "texts of all paths"


class GenerationRun(Batch):
    """A pass of a trusted model over a benchmark, or the replay of paths with a tested model.

    `endpoint` and `tested_endpoint` are copies. `settings` is read by `GenerationSettings`.
    `expected` is the number of steps that it will take if every reply is usable: steps are added
    as their parents are made. `run` has the results of a replay.
    """

    sealed_path = "benchmark__sealed"
    sealed_fields = ("reason", "settings")

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="generation_runs")
    stage = models.CharField(max_length=12, choices=Stage, default=Stage.ARTIFACTS)
    paths = models.ManyToManyField(GenerationPath, blank=True, related_name="generation_runs")
    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    endpoint = models.JSONField()
    tested_model = models.ForeignKey(
        LanguageModel, models.PROTECT, null=True, blank=True, related_name="+"
    )
    tested_endpoint = models.JSONField(null=True, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    expected = models.PositiveIntegerField(default=0)
    is_scripted = models.BooleanField(default=False)
    run = models.ForeignKey(Run, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = SealedQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        verbose_name = "generation run"
        constraints = [
            known("trials_generation_run_state_known", "state", BatchState),
            known("trials_generation_run_stage_known", "stage", Stage),
            models.CheckConstraint(
                name="trials_generation_run_tested_has_endpoint",
                condition=Q(tested_model=None, tested_endpoint=None)
                | Q(tested_model__isnull=False, tested_endpoint__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"generation run {self.pk} of {self.benchmark}"

    def get_absolute_url(self) -> str:
        return reverse("admin:trials_benchmark_change", args=[self.benchmark_id])

    @property
    def is_replay(self) -> bool:
        return self.tested_model_id is not None


class GenerationStep(Item):
    """A request for topics, a topic's ideas, an idea's description, or an artifact of a parent.

    `kind` is the artifact's; "" for topics and ideas. `artifact` is what it made: a corrupted one
    is done too. `dropped` counts near duplicates among its ideas.
    """

    sealed_path = "run__benchmark__sealed"
    sealed_fields = ("error_message",)

    run = models.ForeignKey(GenerationRun, models.CASCADE, related_name="steps", db_index=False)
    topic = models.ForeignKey(Topic, models.CASCADE, null=True, blank=True, related_name="+")
    idea = models.ForeignKey(Idea, models.CASCADE, null=True, blank=True, related_name="+")
    parent = models.ForeignKey(Artifact, models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=40, blank=True)
    is_tested = models.BooleanField(default=False)
    artifact = models.ForeignKey(Artifact, models.SET_NULL, null=True, blank=True, related_name="+")
    dropped = models.PositiveIntegerField(default=0)
    call = models.ForeignKey(
        Call, models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = [
            known("trials_generation_step_state_known", "state", ItemState),
            models.UniqueConstraint(
                name="trials_generation_step_topic_once",
                fields=("run", "topic"),
                condition=Q(topic__isnull=False),
            ),
            models.UniqueConstraint(
                name="trials_generation_step_root_once",
                fields=("run", "idea", "kind"),
                condition=Q(idea__isnull=False, parent=None),
            ),
            models.UniqueConstraint(
                name="trials_generation_step_artifact_once",
                fields=("run", "parent", "kind", "is_tested"),
                condition=Q(parent__isnull=False),
            ),
        ]
        indexes = [unfinished("trials_generation_step_live", "run")]

    def __str__(self) -> str:
        return f"step {self.pk} of generation run {self.run_id}"
