from typing import Any

from rest_framework import serializers

from evalhub.api.batches import BatchSerializer, ConsentSerializer, LimitSerializer
from evalhub.api.fields import JSONObject, LongText, Name, PlainSerializer, Readable, RowSerializer
from evalhub.models import LanguageModel
from issues.models import JudgeTemplate
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.judges.measures import JudgeMeasures, measures_of
from runs.laboratory.trials.judges.metrics import Metric
from runs.laboratory.trials.judges.trial_judges import TrialJudge, fitting_templates
from runs.laboratory.trials.judges.verdicts import ended_verdicts
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    Claim,
    ClaimJudgment,
    GenerationPath,
    GenerationRun,
    Idea,
    Stage,
    Topic,
    Trial,
)
from runs.laboratory.tuning.models import Split
from runs.limits import MAX_BENCHMARK_LINES
from runs.models import Jury

CALLED = LanguageModel.objects.not_applications()


# Benchmarks --------------------------------------------------------------------------------------


class TopicSerializer(RowSerializer):
    class Meta:
        model = Topic
        fields = ("id", "title", "kind", "is_cluster", "source", "version")


class PathSerializer(RowSerializer):
    """A path; `name` is as you send it, an asterisk marks a text by the model under test."""

    class Meta:
        model = GenerationPath
        fields = ("id", "name", "is_tested")


class BenchmarkSerializer(RowSerializer):
    """A benchmark, with the numbers of what it has. `ideas` counts active ones."""

    topics = serializers.IntegerField(source="topic_total", read_only=True)
    clusters = serializers.IntegerField(source="cluster_total", read_only=True)
    ideas = serializers.IntegerField(source="idea_total", read_only=True)
    claims = serializers.IntegerField(source="claim_total", read_only=True)
    trials = serializers.IntegerField(source="trial_total", read_only=True)
    perturbation = JSONObject(read_only=True)
    author = Name()
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Benchmark
        fields: tuple[str, ...] = (
            *("id", "name", "description", "state", "version", "seed", "parent", "perturbation"),
            *("sealed", "is_scripted", "is_imported", "topics", "clusters", "ideas", "claims"),
            *("trials", "author", "created_at", "page"),
        )


class BenchmarkDetailSerializer(BenchmarkSerializer):
    """A benchmark with its topics and paths."""

    topic_list = TopicSerializer(source="topics", many=True, read_only=True)
    paths = PathSerializer(many=True, read_only=True)

    class Meta(BenchmarkSerializer.Meta):
        fields = (*BenchmarkSerializer.Meta.fields, "topic_list", "paths")


class NewTopicSerializer(RowSerializer):
    class Meta:
        model = Topic
        fields = ("title", "kind", "is_cluster")


class NewBenchmarkSerializer(PlainSerializer):
    """A benchmark to generate: topics, of which at least 30 % are clusters, and paths."""

    name = serializers.CharField(max_length=150)
    description = LongText(default="", allow_blank=True)
    topics = NewTopicSerializer(many=True)
    paths = serializers.ListField(
        child=serializers.CharField(max_length=500),
        max_length=50,
        help_text="Such as description > java > summary*: the model under test writes what has an "
        "asterisk.",
    )
    seed = serializers.IntegerField(default=1, min_value=0, max_value=2**31 - 1)
    sealed = serializers.BooleanField(default=False)


class SmallSerializer(ConsentSerializer):
    """The model that writes a small benchmark: 2 topics with 3 ideas each."""

    language_model = serializers.PrimaryKeyRelatedField(queryset=CALLED)


class BenchmarkImportSerializer(PlainSerializer):
    """Real texts that annotators have compared: each of `claims` as a line of an imported file."""

    name = serializers.CharField(max_length=150)
    sealed = serializers.BooleanField(default=False)
    claims = serializers.ListField(
        child=JSONObject(),
        max_length=MAX_BENCHMARK_LINES,
        help_text="left, right, and label (true or false) or score (1 to 7); optional are kind, "
        "topic and idea.",
    )


class GenerateSerializer(ConsentSerializer, LimitSerializer):
    """A generation run: it makes what is missing up to a stage. `settings` are its sizes."""

    language_model = serializers.PrimaryKeyRelatedField(queryset=CALLED)
    stage = serializers.ChoiceField(choices=Stage.choices, default=Stage.ARTIFACTS)
    settings = JSONObject(
        default=dict,
        help_text=", ".join(sorted({*GenerationSettings.model_fields} - {"jury", "release"})),
    )


class ReplaySerializer(ConsentSerializer, LimitSerializer):
    """The replay of paths with a model under test; without a jury only humans score it."""

    paths = serializers.PrimaryKeyRelatedField(queryset=GenerationPath.objects.all(), many=True)
    tested_model = serializers.PrimaryKeyRelatedField(queryset=CALLED)
    language_model = serializers.PrimaryKeyRelatedField(
        queryset=CALLED, help_text="It writes the trusted texts after the tested one."
    )
    jury = serializers.PrimaryKeyRelatedField(
        queryset=Jury.objects.filter(is_active=True), required=False, allow_null=True
    )
    release = serializers.CharField(default="", allow_blank=True, max_length=100)
    max_tokens = serializers.IntegerField(default=2000, min_value=16, max_value=32_000)


class FreshSerializer(ConsentSerializer):
    """The differences of a fresh instance, written like the benchmark itself was."""

    seed = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=2**31 - 1
    )
    instruction = serializers.CharField(default="", allow_blank=True, max_length=1000)


class BuiltSerializer(PlainSerializer):
    """Numbers of claims that follow from the texts: new ones, and all."""

    added = serializers.IntegerField()
    claims = serializers.IntegerField()


class IdeaSerializer(RowSerializer):
    """An idea. `reason` says why it was dropped or excluded."""

    topic_title = Name(source="topic")

    class Meta:
        model = Idea
        fields = ("id", "topic", "topic_title", "name", "statement", "state", "reason", "source")


class TextSerializer(RowSerializer):
    """A text of an idea, made from its `parent`. `replay`: it depends on a model under test."""

    language_model_name = Name(source="language_model")
    reviewed_by = Name()

    class Meta:
        model = Artifact
        fields = (
            *("id", "benchmark", "idea", "kind", "parent", "replay", "source", "language_model"),
            *("language_model_name", "is_tested", "text", "original", "validity"),
            *("validity_reason", "review", "review_reason", "reviewed_by", "reviewed_at"),
            *("exposed_at", "created_at"),
        )


class BenchmarkClaimSerializer(RowSerializer):
    """A claim of known truth about two texts; `score` is that of annotators, from 1 to 7."""

    class Meta:
        model = Claim
        fields = (
            *("id", "benchmark", "kind", "anchor", "left", "right", "truth", "hardness"),
            *("languages", "topic", "idea", "split", "score"),
        )


class TrialBatchSerializer(BatchSerializer):
    """Progress of background work: `items` counts by state."""

    items = serializers.SerializerMethodField()

    BATCH = (
        *("state", "reason", "items", "cost_limit_usd", "spent_usd", "unpriced_calls"),
        *("is_scripted", "requested_by", "created_at", "started_at", "finished_at", "page"),
    )


class GenerationRunSerializer(TrialBatchSerializer):
    """A generation run, or a replay with a `tested_model`, whose results are the run `run`."""

    language_model_name = Name(source="language_model")
    tested_model_name = Name(source="tested_model")
    settings = JSONObject(read_only=True)

    class Meta:
        model = GenerationRun
        fields = (
            *("id", "benchmark", "stage", "paths", "language_model", "language_model_name"),
            *("tested_model", "tested_model_name", "settings", "expected", "run"),
            *TrialBatchSerializer.BATCH,
        )


# Trials ------------------------------------------------------------------------------------------


class TrialSerializer(TrialBatchSerializer):
    """A judge on all claims of a benchmark, each in both orders.

    `tuned_on` is the number of development claims that its threshold was chosen on; null: none.
    """

    benchmark_name = Name(source="benchmark")
    judge = serializers.CharField(source="judge_name", read_only=True)

    class Meta:
        model = Trial
        fields: tuple[str, ...] = (
            *("id", "benchmark", "benchmark_name", "judge", "language_model", "template"),
            *(
                "metric",
                "threshold",
                "tunes_threshold",
                "tuned_on",
                "method",
                *TrialBatchSerializer.BATCH,
            ),
        )


class TrialDetailSerializer(TrialSerializer):
    """A trial with its measures.

    They are of all usable claims, or of the held-out ones if the judge was tuned; by task, too.
    Report `judge_reliability` concludes from them which judge is fit.
    """

    measures = serializers.SerializerMethodField()

    class Meta(TrialSerializer.Meta):
        fields = (*TrialSerializer.Meta.fields, "measures")

    def get_measures(self, trial: Trial) -> dict[str, Any]:
        verdicts = ended_verdicts(trial)
        return {
            "split": Split.HELD_OUT if trial.is_tuned else None,
            "all": as_json(measures_of(verdicts)),
            "tasks": {
                task: as_json(measures_of(one for one in verdicts if one.task == task))
                for task in sorted({one.task for one in verdicts})
            },
        }


def as_json(found: JudgeMeasures) -> dict[str, Any]:
    """Return measures as objects and numbers; null is not measured."""
    balanced = found.balanced
    shares = ("right", "sensitivity", "specificity", "hard_false", "symmetric", "transitive")
    return {
        "asked": found.asked,
        "scored": found.scored,
        "failed": found.failed,
        "counts": found.counts._asdict(),
        "balanced_accuracy": balanced
        and {
            "value": balanced.value,
            "low": balanced.interval.low,
            "high": balanced.interval.high,
            "method": balanced.method,
        },
        **{
            name: share and {"part": share.part, "n": share.n, "share": share.share}
            for name in (*shares, "prefers_first", "prefers_second")
            for share in [getattr(found, name)]
        },
    }


class TrialJudgeSerializer(PlainSerializer):
    """A language model with a judge template, or a metric, with a threshold or its default."""

    language_model = serializers.PrimaryKeyRelatedField(
        queryset=CALLED, required=False, allow_null=True
    )
    template = serializers.PrimaryKeyRelatedField(
        queryset=JudgeTemplate.objects.all(), required=False, allow_null=True
    )
    metric = serializers.ChoiceField(
        choices=[key.value for key in Metric], required=False, allow_blank=True
    )
    threshold = serializers.FloatField(
        required=False, allow_null=True, min_value=0, max_value=1, help_text="Of a metric only."
    )
    tunes_threshold = serializers.BooleanField(
        default=False,
        help_text="Choose the metric's threshold on the development claims: measures are then of "
        "the held-out ones.",
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        model, template = given.get("language_model"), given.get("template")
        if bool(model) == bool(given.get("metric")) or bool(model) != bool(template):
            raise serializers.ValidationError(
                "Name either a language_model with its template, or a metric."
            )
        if template and template not in fitting_templates():
            raise serializers.ValidationError(
                {"template": f"{template} is not published, or needs more than two texts."}
            )
        return given


class TrialStartSerializer(LimitSerializer):
    """Judges to try on a benchmark, a trial each. `cost_limit_usd` is that of each trial."""

    benchmark = Readable(queryset=Benchmark.objects.all())
    judges = TrialJudgeSerializer(many=True)


def chosen_in(given: dict[str, Any]) -> list[TrialJudge]:
    """Return the judges of a valid body of a `TrialStartSerializer`."""
    return [
        TrialJudge(
            language_model=one.get("language_model"),
            template=one.get("template"),
            metric=one.get("metric") or "",
            metric_threshold=one.get("threshold"),
            tunes_threshold=one["tunes_threshold"],
        )
        for one in given["judges"]
    ]


class ClaimJudgmentSerializer(RowSerializer):
    """A judge's score of a claim in one order: 0 shows the left text first, 1 the right one.

    `score` is from 1 to 7, a metric's from 0 to 1; null unless `state` is done.
    """

    class Meta:
        model = ClaimJudgment
        fields = (
            *("id", "trial", "claim", "order", "state", "score", "justification"),
            *("was_repaired", "error_kind", "error_message"),
        )
