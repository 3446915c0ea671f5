from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel, ConfigDict
from rest_framework import serializers

from evalhub.api.batches import SpentField
from evalhub.api.fields import (
    BoundedJSON,
    JSONObject,
    LongText,
    Name,
    PlainSerializer,
    RowSerializer,
)
from evalhub.statistics.agreement.alpha_bands import Band
from issues.rubrics.scoring import WHOLE_TEST
from runs.launching.answer_files import ImportedAnswerBody
from runs.launching.launch_options import LaunchSpec
from runs.models import (
    Answer,
    Approach,
    EvaluationKind,
    HumanEvaluation,
    JudgeRun,
    Judgment,
    Jury,
    Launch,
    Outcome,
    Result,
    Run,
)
from runs.scoring.agreement import agreement_in


class RetrievedDocument(BaseModel):
    """A text that an application retrieved for its answer."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    title: str = ""


class Turn(BaseModel):
    """A generated turn; `call` is the id of its call, null if it was imported."""

    model_config = ConfigDict(extra="allow")

    content: str | None
    call: int | None = None
    tool_calls: list[dict[str, Any]] = []
    documents: list[RetrievedDocument] | None = None
    session_id: str = ""


class ScaleStatistics(BaseModel):
    """Sums of one scale: `units` are criteria with two values or more, `interval` is of alpha."""

    model_config = ConfigDict(extra="allow")

    units: int = 0
    raters: list[int] = []
    interval: list[float] | None = None


class TakenStatistics(BaseModel):
    judgments: int
    saved_usd: Decimal | None


class JudgeRunStatistics(BaseModel):
    """Sums over judgments, which add up over judge runs; without any, it is not finished.

    `judges`: judgments by judge id and state. `failures`: failed ones by kind. `comparisons`:
    pairs of values that were made, and expected. `scales` by name. `taken`: judgments that were
    taken from equal requests in earlier runs, and the cost that they saved.
    """

    model_config = ConfigDict(extra="allow")

    judges: dict[str, dict[str, int]] = {}
    failures: dict[str, int] = {}
    comparisons: list[int | None] = []
    scales: dict[str, ScaleStatistics] = {}
    taken: TakenStatistics | None = None


# Runs --------------------------------------------------------------------------------------------


class RunSerializer(RowSerializer):
    """A run with its configuration as copied at launch. `page` is its report.

    `similarity_model` is the name of the embedding model; "" is the built-in one.
    """

    litellm_model = serializers.SerializerMethodField()
    similarity_model = serializers.SerializerMethodField()
    spent_usd = SpentField()
    requested_by = Name()
    params = JSONObject(read_only=True)
    suite_version = serializers.IntegerField(
        source="suite_version.number", read_only=True, allow_null=True, default=None
    )
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Run
        exclude = ("endpoint", "similarity_endpoint", "provenance_parts")

    def get_litellm_model(self, run: Run) -> str:
        return str(run.endpoint.get("litellm_model", ""))

    def get_similarity_model(self, run: Run) -> str:
        return str(run.similarity_endpoint.get("name", ""))


class ModelChoice(PlainSerializer):
    model = serializers.IntegerField(min_value=1, max_value=2**63 - 1, required=False)


class IssueRatesSerializer(PlainSerializer):
    """The run whose rates are given, and passed, scored and all results of its issues.

    `run` is null where the model has no complete run that is comparable with the baseline.
    """

    class IssueRate(PlainSerializer):
        issue = serializers.IntegerField()
        passed = serializers.IntegerField()
        scored = serializers.IntegerField()
        total = serializers.IntegerField()

    model = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()
    is_baseline = serializers.BooleanField()
    rates = IssueRate(many=True)


class LaunchSerializer(RowSerializer):
    """A launch with its `spec`, its schedule and all `runs` that it started."""

    spec = JSONObject(read_only=True)
    runs: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    requested_by = Name()

    class Meta:
        model = Launch
        fields = "__all__"


class CronSerializer(PlainSerializer):
    """Minute, hour, day of month, month and day of week, such as 0 6 * * 1."""

    cron = serializers.CharField(max_length=100)


class ImportedAnswersBody(LaunchSpec):
    """A launch of one model with imported answers."""

    answers: list[ImportedAnswerBody]


class RejudgeSerializer(PlainSerializer):
    """The jury, or `like`, a run whose jury judges again; without both, the last judges.

    With `like`, the judge run becomes active as soon as it is done, so that both runs can be
    compared. `allow_sealed_exposure`: send sealed tests outside the trusted network.
    """

    jury = serializers.PrimaryKeyRelatedField(
        queryset=Jury.objects.filter(is_active=True), allow_null=True, required=False
    )
    like = serializers.PrimaryKeyRelatedField(
        queryset=Run.objects.all(), allow_null=True, required=False
    )
    allow_sealed_exposure = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("jury") and attrs.get("like"):
            raise serializers.ValidationError("Send either jury or like, not both.")
        return attrs


class SetActiveSerializer(PlainSerializer):
    judge_run = serializers.IntegerField(min_value=1)


# Results -----------------------------------------------------------------------------------------


class AnswerSerializer(RowSerializer):
    """An answer. `turns` are the generated ones in order; the last is the answer.

    `documents` are those retrieved for any turn; null: not reported. With `removed_at`, the texts
    were removed then, and `text` says so.
    """

    turns = BoundedJSON(list[Turn], read_only=True)
    tool_calls = BoundedJSON(list[dict[str, Any]], read_only=True)
    documents = BoundedJSON(list[RetrievedDocument] | None, read_only=True)

    class Meta:
        model = Answer
        fields = (
            *("text", "turns", "tool_calls", "documents", "reasoning", "created_at"),
            "removed_at",
        )


class ResultSerializer(RowSerializer):
    """A result. `outcome` is passed, failed, unscored, error or pending; null is not measured.

    `lowest_score` and `highest_score`, and whether it passes at each, are what missing judgments
    allow: equal to the score where none is missing, 0 and 1 without a score.
    `has_taken_verdicts`: a verdict in its score was asked in another run.
    `is_readable` is false for a sealed test whose text you may not read: then `answer` is null
    and `error_message` empty; all figures are included. `repeat` counts from 1. Label, release and
    model are the run's.
    """

    run_label = serializers.CharField(read_only=True)
    release = serializers.CharField(read_only=True)
    model = serializers.CharField(read_only=True)
    test_source_id = serializers.CharField(read_only=True)
    tags = serializers.ListField(
        child=serializers.CharField(), source="tag_set.names", read_only=True
    )
    is_readable = serializers.BooleanField(read_only=True)
    outcome = serializers.ChoiceField(Outcome.choices, read_only=True)
    repeat = serializers.IntegerField(source="repeat_number", read_only=True, min_value=1)
    answer = serializers.SerializerMethodField()

    class Meta:
        model = Result
        exclude = ("tag_set", "worker", "attempts", "next_try_at")

    @extend_schema_field(AnswerSerializer(allow_null=True))
    def get_answer(self, result: Result) -> Any:
        # Only readable answers were fetched with the results; others are not there.
        answer = getattr(result, "answer", None)
        return AnswerSerializer(answer).data if answer is not None else None

    def to_representation(self, instance: Result) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if shown["is_readable"] else {**shown, "error_message": ""}


class FrozenJudgeSerializer(PlainSerializer):
    """A judge as copied when the judge run began.

    `template` is its judge template for whole tests, null if it uses each test's;
    `rubric_template` is the one for criteria.
    """

    judge = serializers.IntegerField()
    name = serializers.CharField()
    approach = serializers.ChoiceField(Approach.choices)
    params = JSONObject()
    samples = serializers.IntegerField()
    template = serializers.IntegerField(allow_null=True)
    rubric_template = serializers.IntegerField(allow_null=True)


class AlphaIntervalSerializer(PlainSerializer):
    """The 95 % bounds of an alpha."""

    low = serializers.FloatField()
    high = serializers.FloatField()


class AgreementSerializer(PlainSerializer):
    """Agreement of the judges of a finished judge run.

    `alpha` is Krippendorff's, ordinal; if null, `band` says why. `interval` has its 95 % bounds
    by a bootstrap over results, from which `band` follows; null: unknown. `units` counts criteria
    of results with two values or more; `comparisons_made` counts pairs of judgments, of
    `comparisons_expected` (null if they were not counted).
    """

    alpha = serializers.FloatField(allow_null=True)
    interval = AlphaIntervalSerializer(allow_null=True)
    band = serializers.ChoiceField([(band.value, band.value) for band in Band])
    units = serializers.IntegerField()
    comparisons_made = serializers.IntegerField(allow_null=True)
    comparisons_expected = serializers.IntegerField(allow_null=True)


class JudgeRunSerializer(RowSerializer):
    """A jury's pass over a run's results. The active one sets the scores.

    `judgments_from` is the judge run whose judgments it keeps, having run the checks again.
    """

    agreement = serializers.SerializerMethodField()

    judges = FrozenJudgeSerializer(many=True, source="jury.judges", read_only=True)
    backup = FrozenJudgeSerializer(source="jury.backup", allow_null=True, read_only=True)
    spent_usd = SpentField()
    requested_by = Name()
    statistics = JSONObject(JudgeRunStatistics, read_only=True)

    class Meta:
        model = JudgeRun
        exclude = ("jury", "provenance_parts")

    @extend_schema_field(AgreementSerializer(allow_null=True))
    def get_agreement(self, judge_run: JudgeRun) -> dict[str, Any] | None:
        if not judge_run.statistics:
            return None
        alpha, band, units, interval = agreement_in(judge_run.statistics)
        made, expected = judge_run.statistics.get("comparisons", (None, None))
        return {
            "alpha": alpha,
            "interval": interval and interval._asdict(),
            "band": band.value,
            "units": units,
            "comparisons_made": made,
            "comparisons_expected": expected,
        }


class JudgmentSerializer(RowSerializer):
    """A judgment. `criterion` "" is the whole test; `judge` null is a check.

    `value` is the degree to which the answer shows the criterion, be that good or bad; null if
    the judgment failed and does not count. `template` is the judge template that was used.
    `taken_from` is the judgment that was asked, if this one's verdict was taken from there.
    """

    criterion = serializers.CharField(source="criterion.key", read_only=True)
    judge_name = serializers.CharField(source="judge.__str__", read_only=True, default="")
    approach = serializers.CharField(source="judge.approach", read_only=True, default="")

    class Meta:
        model = Judgment
        exclude = ("provenance", "request_key", "asked_usd")


class HumanEvaluationSerializer(RowSerializer):
    """A human evaluation. `option` is one of the scale of the test or criterion and sets `value`.

    `criterion` is the key of a criterion; the default "" is the whole test, which outranks
    verdicts on criteria. For a criterion, `option` is the degree to which the answer shows it.
    """

    annotator = Name()
    criterion = serializers.CharField(
        source="criterion.key", max_length=40, required=False, allow_blank=True, default=WHOLE_TEST
    )
    option = serializers.CharField(max_length=60)
    justification = LongText()
    kind = serializers.ChoiceField(
        choices=[
            choice for choice in EvaluationKind.choices if choice[0] != EvaluationKind.WITHDRAWAL
        ],
        default=EvaluationKind.EVALUATION,
    )
    replaces = serializers.IntegerField(
        required=False,
        allow_null=True,
        write_only=True,
        help_text="For an adjudication: the id of somebody else's, which it replaces on purpose.",
    )

    class Meta:
        model = HumanEvaluation
        fields = "__all__"
        read_only_fields = ("value", "chosen_by", "blind", "seconds")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Leave the option to `evaluate`, which knows the result's scale."""
        return attrs


class WithdrawSerializer(PlainSerializer):
    reason = LongText(required=False, allow_blank=True, default="")
