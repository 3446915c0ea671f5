from typing import Any

from rest_framework import serializers

from evalhub.api.batches import BatchSerializer, EstimateSerializer, StartSerializer
from evalhub.api.fields import RowSerializer
from runs.laboratory.position_bias.measuring import MAX_SEED, Measure, new_seed
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.limits import MAX_REVERSED_RESULTS, REVERSED_RESULTS
from runs.models import JudgeRun


class ReversedJudgeRunSerializer(BatchSerializer):
    """A measure of position bias. `judgments` counts by state; its figures are in Between judges.

    `results` were drawn by `seed` of the results of the judge run.
    """

    run = serializers.IntegerField(source="judge_run.run_id", read_only=True)
    judgments = serializers.SerializerMethodField("get_items")

    class Meta:
        model = ReversedJudgeRun
        fields = (
            *("id", "judge_run", "run", "results", "seed", "state", "reason", "judgments"),
            *("cost_limit_usd", "spent_usd", "unpriced_calls", "requested_by"),
            *("created_at", "started_at", "finished_at", "page"),
        )


class MeasureSerializer(StartSerializer):
    """A judge run, and how many of its results to re-judge. Without a seed one is drawn."""

    judge_run = serializers.PrimaryKeyRelatedField(queryset=JudgeRun.objects.select_related("run"))
    results = serializers.IntegerField(
        default=REVERSED_RESULTS, min_value=1, max_value=MAX_REVERSED_RESULTS
    )
    seed = serializers.IntegerField(required=False, min_value=0, max_value=MAX_SEED)


def measure_of(given: dict[str, Any]) -> Measure:
    return Measure(given["judge_run"], given["results"], given.get("seed", new_seed()))


class MeasureEstimateSerializer(EstimateSerializer):
    """Effort of a measure; the costs are null if a judge has no prices. Start with this `seed`."""

    seed = serializers.IntegerField()
    results = serializers.IntegerField()
    available = serializers.IntegerField(help_text="Results whose verdicts can be repeated.")
    judgments = serializers.IntegerField()
    problems = serializers.ListField(child=serializers.CharField())


class ReversedJudgmentSerializer(RowSerializer):
    """A verdict given again with the options reversed. `given_option` is that of the `judgment`.

    `option` and `value` are empty unless `state` is done.
    """

    result = serializers.IntegerField(source="judgment.result_id", read_only=True)
    judge = serializers.IntegerField(source="judgment.judge_id", read_only=True)
    given_option = serializers.CharField(source="judgment.option", read_only=True)

    class Meta:
        model = ReversedJudgment
        fields = (
            *("id", "judge_run", "judgment", "result", "judge", "given_option", "state"),
            *("option", "value", "justification", "was_repaired", "error_kind", "error_message"),
        )
