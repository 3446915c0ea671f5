from typing import Any

from rest_framework import serializers

from evalhub.api.batches import BatchSerializer, StartSerializer
from evalhub.api.fields import Name, PlainSerializer, RowSerializer
from evalhub.models import LanguageModel
from runs.laboratory.pairwise.evaluations import MAX_REASON, MAX_SECONDS
from runs.laboratory.pairwise.models import (
    MAX_CRITERION,
    PairEvaluation,
    PairJudgment,
    PairwiseJudgeRun,
)
from runs.models import Result, Run


class PairwiseJudgeRunSerializer(BatchSerializer):
    """A pairwise judge run. `judgments` counts by state; a pair has two, one for each order."""

    language_model_name = Name(source="language_model")
    judgments = serializers.SerializerMethodField("get_items")

    class Meta:
        model = PairwiseJudgeRun
        fields = (
            *("id", "runs", "language_model", "language_model_name", "criterion", "ties"),
            *("method", "state", "reason", "judgments", "cost_limit_usd", "spent_usd"),
            *("unpriced_calls", "requested_by", "created_at", "started_at", "finished_at", "page"),
        )


class PairwiseOrderSerializer(StartSerializer):
    """Runs to compare in pairs, and the model that judges them."""

    runs = serializers.PrimaryKeyRelatedField(queryset=Run.objects.all(), many=True)
    language_model = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.not_applications()
    )
    criterion = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=MAX_CRITERION,
        help_text="What makes an answer better; empty: each test's guidelines and reference.",
    )
    ties = serializers.BooleanField(default=True)


class PairJudgmentSerializer(RowSerializer):
    """A judge's choice on a pair in one order: 0 shows the first result first, 1 the second.

    `choice` is first, second or tie in terms of the results, however they were shown; "" unless
    `state` is done. An answer has won only if both orders agree.
    """

    first = serializers.IntegerField(source="pair.first_id", read_only=True)
    second = serializers.IntegerField(source="pair.second_id", read_only=True)

    class Meta:
        model = PairJudgment
        fields = (
            *("id", "judge_run", "pair", "first", "second", "order", "state", "choice"),
            *("justification", "was_repaired", "error_kind", "error_message"),
        )


class PairEvaluationSerializer(RowSerializer):
    """An annotator's choice on a pair; "" is a withdrawal. The newest of each annotator counts."""

    first = serializers.IntegerField(source="pair.first_id", read_only=True)
    second = serializers.IntegerField(source="pair.second_id", read_only=True)
    annotator = Name()

    class Meta:
        model = PairEvaluation
        fields = (
            *("id", "pair", "first", "second", "annotator", "choice", "order", "justification"),
            *("blind", "seconds", "created_at"),
        )


class PairChoiceSerializer(PlainSerializer):
    """Your choice between two results, in the order in which you saw them.

    `better` is one of the two, or null: they are equal.
    """

    results = serializers.PrimaryKeyRelatedField(
        queryset=Result.objects.select_related("revision"), many=True
    )
    better = serializers.IntegerField(allow_null=True)
    justification = serializers.CharField(default="", allow_blank=True, max_length=MAX_REASON)
    seconds = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MAX_SECONDS
    )

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        results, better = given["results"], given["better"]
        if len(results) != 2:
            raise serializers.ValidationError({"results": f"Send 2 results, not {len(results)}."})
        known = [one.pk for one in results]
        if better is not None and better not in known:
            raise serializers.ValidationError(
                {"better": f"{better} is neither {known[0]} nor {known[1]}; null means equal."}
            )
        return given
