from typing import Any

from rest_framework import serializers

from evalhub.api.batches import SpentField, StartSerializer
from evalhub.api.fields import Name, PlainSerializer, RowSerializer
from evalhub.models import BatchState
from evalhub.work.control import progress_of
from issues.models import JudgeTemplate, Tag
from runs.laboratory.tuning.conclusions import conclusion, warnings, warnings_of
from runs.laboratory.tuning.figures import as_json, tuning_figures
from runs.laboratory.tuning.models import AnnotatorFilter, Attempt, Tuning
from runs.models import Judge, Suite


class TuningSerializer(RowSerializer):
    """A judge tuning. `left_out` counts, by reason, answers that could not be compared."""

    judge_name = Name(source="judge")
    is_scripted = serializers.BooleanField(
        source="judge.language_model.is_scripted", read_only=True
    )
    template_name = Name(source="template")
    created_by = Name()
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Tuning
        fields: tuple[str, ...] = (
            *("id", "template", "template_name", "judge", "judge_name", "is_scripted", "draft"),
            *("suite", "tag", "annotators", "seed", "left_out", "created_by", "created_at", "page"),
        )
        extra_kwargs = {"left_out": {"of": dict[str, int]}}


class TuningAttemptSerializer(RowSerializer):
    """An attempt; `judgments` counts its judgments by state."""

    spent_usd = SpentField()
    is_complete = serializers.SerializerMethodField()
    judgments = serializers.SerializerMethodField()

    class Meta:
        model = Attempt
        fields = (
            *("id", "number", "state", "reason", "is_complete", "digest", "judgments"),
            *("spent_usd", "unpriced_calls", "created_at"),
        )

    def get_is_complete(self, attempt: Attempt) -> bool:
        return attempt.state == BatchState.DONE

    def get_judgments(self, attempt: Attempt) -> dict[str, int]:
        return dict(progress_of(attempt).counts)


class TuningDetailSerializer(TuningSerializer):
    """A judge tuning with the figures of the version in use and of each complete attempt."""

    figures = serializers.SerializerMethodField()
    attempts = TuningAttemptSerializer(many=True, read_only=True)

    class Meta(TuningSerializer.Meta):
        fields = (*TuningSerializer.Meta.fields, "figures", "attempts")

    def get_figures(self, tuning: Tuning) -> dict[str, Any]:
        found = tuning_figures(tuning)
        return {
            "sizes": found.sizes,
            "in_use": as_json(found.in_use),
            "attempts": [
                as_json(one) | {"conclusion": conclusion(one), "warnings": list(warnings_of(one))}
                for one in found.attempts
            ],
            "warnings": list(warnings(found)),
        }


class TuningOrderSerializer(PlainSerializer):
    """The judge, the version in use, and the human verdicts to tune against."""

    template = serializers.PrimaryKeyRelatedField(queryset=JudgeTemplate.objects.all())
    judge = serializers.PrimaryKeyRelatedField(queryset=Judge.objects.all())
    suite = serializers.PrimaryKeyRelatedField(
        queryset=Suite.objects.all(), required=False, allow_null=True
    )
    tag = serializers.PrimaryKeyRelatedField(
        queryset=Tag.objects.all(), required=False, allow_null=True
    )
    annotators = serializers.ChoiceField(
        choices=AnnotatorFilter.choices, default=AnnotatorFilter.ALL
    )
    seed = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)


class AttemptOrderSerializer(StartSerializer):
    """Cost limit of an attempt, and whether sealed tests may leave the trusted network."""
