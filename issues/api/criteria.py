"""Serializers of rubrics and checks."""

from typing import Any

from rest_framework import serializers

from evalhub.api.fields import JSONObject, PlainSerializer, RowSerializer
from issues.limits import MAX_CRITERIA
from issues.models import Criterion, FrozenCriterion
from issues.rubrics.criterion_content import CONTENT

MAX_ALTERNATIVES = 1000


class CriteriaSerializer(serializers.ListSerializer):
    """A whole rubric."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > MAX_CRITERIA:
            raise serializers.ValidationError(
                f"A rubric has at most {MAX_CRITERIA} criteria, not {len(data)}."
            )
        found: list[Any] = super().to_internal_value(data)
        keys = [criterion["key"] for criterion in found if criterion.get("key")]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise serializers.ValidationError(
                [f"Two criteria have the key {key!r}." for key in twice]
            )
        return found


class CheckedSerializer(RowSerializer):
    """A row whose check may decide."""

    check = serializers.CharField(
        source="check_name", max_length=40, required=False, allow_blank=True
    )
    arguments = JSONObject(required=False)


class CriterionSerializer(CheckedSerializer):
    """A criterion of a rubric. Judges are asked about `text`, or `check` decides.

    Its key is assigned once: send it back to keep the criterion's history and results.
    """

    key = serializers.RegexField(r"^[\w.:-]{1,40}$", required=False)

    class Meta:
        model = Criterion
        fields = CONTENT
        extra_kwargs = {
            "weight": {"default": 1.0},
            "alternative": {
                "max_value": MAX_ALTERNATIVES,
                "help_text": "Null: required. Criteria with the same number form one alternative; "
                "the best one counts.",
            },
        }
        list_serializer_class = CriteriaSerializer

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("check_name") and not attrs.get("text", "").strip():
            raise serializers.ValidationError("Enter the criterion, or choose a check.")
        if not attrs.get("check_name") and attrs.get("arguments"):
            raise serializers.ValidationError({"arguments": ["Only a check takes arguments."]})
        if attrs.get("mandatory") and attrs.get("alternative") is not None:
            raise serializers.ValidationError("A criterion in an alternative cannot be mandatory.")
        return super().validate(attrs)


class FrozenCriterionSerializer(RowSerializer):
    """A criterion as frozen; key "" is the test as a whole."""

    check = serializers.CharField(source="check_name", read_only=True)
    arguments = JSONObject(read_only=True)

    class Meta:
        model = FrozenCriterion
        fields = ("id", *CONTENT, "order")


class CheckSerializer(PlainSerializer):
    """A check decides a criterion without a judge. `arguments` is a JSON Schema."""

    name = serializers.CharField()
    title = serializers.CharField()
    family = serializers.CharField()
    description = serializers.CharField()
    can_run = serializers.BooleanField()
    reason = serializers.CharField(help_text="Reason why it cannot run here; empty if it can.")
    arguments = JSONObject()
