"""How the verdict on a result, and the agreement of a judging, are told."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.statistics.krippendorff import Band
from issues.models import Polarity
from runs.api.serializers import JudgmentSerializer, ResultSerializer
from runs.models import Approach, Result
from runs.scoring.verdict import verdict_on

SEALED = ("justification", "failure_message")
"""Fields of a judgment that are blank where the test may not be read."""


class JudgeCoverageSerializer(serializers.Serializer):
    """One judge, and how many of the verdicts that it was asked for it gave."""

    judge = serializers.IntegerField(source="frozen_judge.judge_id")
    name = serializers.CharField(source="frozen_judge.name")
    model_name = serializers.CharField(source="frozen_judge.endpoint.name")
    approach = serializers.ChoiceField(Approach.choices, source="frozen_judge.approach")
    samples = serializers.IntegerField(source="frozen_judge.samples")
    is_backup = serializers.BooleanField()
    asked = serializers.IntegerField()
    answered = serializers.IntegerField()


class CriterionVerdictSerializer(serializers.Serializer):
    """What was found of one criterion; of the test as a whole where it has no rubric (key "").

    `value` is how far the answer shows it, `score` how good that is: a "should not" is inverted.
    `human_value` counts instead of `value`. `deviation` is the judges' population standard
    deviation. `split` counts judges that gave the same value, the most first. Null: not measured.
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


class ResultVerdictSerializer(serializers.Serializer):
    """What the judging that decides found. Others are told by judgments/?result=….

    `alpha` is Krippendorff's, ordinal; null where `band` says why there is none. Coverage:
    `answered` of `expected` verdicts, and `comparisons_made` of `comparisons_expected` pairs of
    judges. `consensus` names the judges whose values made it, in the order of the jury.
    """

    judge_run = serializers.IntegerField(source="judge_run.pk")
    jury_fingerprint = serializers.CharField(source="judge_run.jury_fingerprint")
    suite_fingerprint = serializers.CharField(source="judge_run.run.suite_fingerprint")
    consensus = serializers.CharField()
    alpha = serializers.FloatField(allow_null=True)
    band = serializers.ChoiceField([(band.value, band.value) for band in Band])
    units = serializers.IntegerField()
    answered = serializers.IntegerField(source="result_score.answered")
    expected = serializers.IntegerField(source="result_score.expected")
    comparisons_made = serializers.IntegerField(source="comparisons.made")
    comparisons_expected = serializers.IntegerField(source="comparisons.expected")
    human_value = serializers.FloatField(allow_null=True)
    judges = JudgeCoverageSerializer(many=True)
    criteria = CriterionVerdictSerializer(many=True)


class ResultDetailSerializer(ResultSerializer):
    """One result with its verdict, criterion by criterion and judge by judge."""

    verdict = serializers.SerializerMethodField()

    class Meta(ResultSerializer.Meta):
        fields = (*ResultSerializer.Meta.fields, "verdict")  # type: ignore[assignment]

    @extend_schema_field(ResultVerdictSerializer(allow_null=True))
    def get_verdict(self, result: Result) -> Any:
        verdict = verdict_on(result)
        if verdict is None:
            return None
        told = ResultVerdictSerializer(verdict).data
        is_readable = getattr(result, "is_readable", False)
        return told if is_readable else without_text(told)


def without_text(told: dict[str, Any]) -> dict[str, Any]:
    """The same without what the test or an answer says; all figures stand."""
    criteria = [
        {
            **criterion,
            "text": "",
            "judgments": [row | dict.fromkeys(SEALED, "") for row in criterion["judgments"]],
        }
        for criterion in told["criteria"]
    ]
    return {**told, "criteria": criteria}
