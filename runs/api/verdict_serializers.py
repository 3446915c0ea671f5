"""A result's verdict in the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.api.fields import PlainSerializer
from evalhub.statistics.agreement.alpha_bands import Band
from issues.models import Polarity
from runs.api.serializers import JudgmentSerializer, ResultSerializer
from runs.models import Approach, Result
from runs.scoring.verdict import verdicts_on

SEALED = ("justification", "failure_message")
"""Fields of a judgment that are blank to readers who may not read the test."""


class JudgeCoverageSerializer(PlainSerializer):
    """A judge, with the number of judgments asked of it and of those with a value."""

    judge = serializers.IntegerField(source="judge.judge_id")
    name = serializers.CharField(source="judge.name")
    model_name = serializers.CharField(source="judge.frozen_judge.endpoint.name")
    approach = serializers.ChoiceField(Approach.choices, source="judge.frozen_judge.approach")
    samples = serializers.IntegerField(source="judge.frozen_judge.samples")
    is_backup = serializers.BooleanField(source="judge.is_backup")
    asked = serializers.IntegerField()
    answered = serializers.IntegerField()


class CriterionVerdictSerializer(PlainSerializer):
    """The verdict on one criterion, or on the test as a whole if it has no rubric (key "").

    `value` is the consensus of the judges, or the check's value: how far the answer shows the
    criterion, from 0 to 1. `human_value` replaces it. `score` is the same, inverted for a "should
    not". `deviation` is the judges' population standard deviation. `split` has the numbers of
    judges that gave the same value, largest first. Null: not measured.
    """

    key = serializers.CharField(source="criterion.key")
    text = serializers.CharField(source="criterion.text")
    polarity = serializers.ChoiceField(Polarity.choices, source="criterion.polarity")
    weight = serializers.FloatField(source="criterion.weight")
    alternative = serializers.IntegerField(source="criterion.alternative", allow_null=True)
    mandatory = serializers.BooleanField(source="criterion.mandatory")
    check = serializers.CharField(source="criterion.check_name")
    value = serializers.FloatField(allow_null=True)
    human_value = serializers.FloatField(allow_null=True)
    score = serializers.FloatField(allow_null=True)
    deviation = serializers.FloatField(allow_null=True)
    is_split = serializers.BooleanField()
    split = serializers.ListField(child=serializers.IntegerField())
    judgments = JudgmentSerializer(many=True)


class ResultVerdictSerializer(PlainSerializer):
    """The verdict in the active judge run. For other judge runs, see judgments/?result=….

    `alpha` is Krippendorff's, ordinal; null for the reason that `band` gives. Coverage: `answered`
    of `expected` judgments, `replaced` others by a backup judge, and `comparisons_made` of
    `comparisons_expected` pairs of judges.
    `consensus` names the judges behind it, in the order of the jury.
    """

    judge_run = serializers.IntegerField(source="judge_run.pk")
    jury_fingerprint = serializers.CharField(source="judge_run.jury_fingerprint")
    suite_fingerprint = serializers.CharField(source="judge_run.run.suite_fingerprint")
    consensus = serializers.CharField()
    alpha = serializers.FloatField(source="agreement.alpha", allow_null=True)
    alpha_low = serializers.FloatField(
        source="agreement.interval.low", default=None, allow_null=True
    )
    alpha_high = serializers.FloatField(
        source="agreement.interval.high", default=None, allow_null=True
    )
    band = serializers.ChoiceField(
        [(band.value, band.value) for band in Band], source="agreement.band"
    )
    units = serializers.IntegerField(source="agreement.units")
    answered = serializers.IntegerField(source="result_score.answered")
    expected = serializers.IntegerField(source="result_score.expected")
    replaced = serializers.IntegerField(source="result_score.replaced")
    comparisons_made = serializers.IntegerField(source="comparisons.made")
    comparisons_expected = serializers.IntegerField(source="comparisons.expected")
    human_value = serializers.FloatField(allow_null=True)
    judges = JudgeCoverageSerializer(source="coverage", many=True)
    criteria = CriterionVerdictSerializer(many=True)


class ResultDetailSerializer(ResultSerializer):
    """A result with its verdict by criterion and judge."""

    verdict = serializers.SerializerMethodField()

    @extend_schema_field(ResultVerdictSerializer(allow_null=True))
    def get_verdict(self, result: Result) -> Any:
        verdict = verdicts_on(result, with_judges=True).active
        if verdict.result_score is None:
            return None
        data = ResultVerdictSerializer(verdict).data
        if not getattr(result, "is_readable", False):
            for criterion in data["criteria"]:
                criterion["text"] = ""
                for judgment in criterion["judgments"]:
                    judgment.update(dict.fromkeys(SEALED, ""))
        return data
