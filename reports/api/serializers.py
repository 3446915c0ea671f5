"""The form of reports, for the schema: what is in them comes from `reports.queries`."""

from rest_framework import serializers

from runs.models import Outcome

Counts = type(
    "CountsSerializer",
    (serializers.Serializer,),
    {
        "__doc__": "Results by outcome.",
        **{name: serializers.IntegerField() for name in Outcome.values},
    },
)


class IntervalSerializer(serializers.Serializer):
    low = serializers.FloatField()
    high = serializers.FloatField()


class RateSerializer(serializers.Serializer):
    """`passed` of `n` decided results; `share` null where n is 0. The interval is of 95 %."""

    passed = serializers.IntegerField()
    n = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    is_weighted = serializers.BooleanField()
    is_resampled = serializers.BooleanField()


class LineSerializer(serializers.Serializer):
    """An issue's or a tag's share of the run."""

    name = serializers.CharField()
    issue_id = serializers.IntegerField(allow_null=True)
    counts = Counts()
    rate = RateSerializer()


class ProgressSerializer(serializers.Serializer):
    state = serializers.CharField()
    reason = serializers.CharField()
    is_live = serializers.BooleanField()
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    judged = serializers.IntegerField()
    to_judge = serializers.IntegerField()
    awaiting = serializers.IntegerField()
    retryable = serializers.IntegerField()
    counts = Counts()


class UsageSerializer(serializers.Serializer):
    """Sums of the answers where it was measured; null where it never was."""

    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    with_tokens = serializers.IntegerField()
    cost_usd = serializers.DecimalField(14, 8, allow_null=True)
    with_cost = serializers.IntegerField()
    answered = serializers.IntegerField()


class RunReportSerializer(serializers.Serializer):
    """All figures of a run's report. `labels` must be known wherever they appear."""

    run = serializers.JSONField()
    labels = serializers.ListField(child=serializers.CharField())
    judging = serializers.JSONField(allow_null=True)
    progress = ProgressSerializer()
    counts = Counts()
    rate = RateSerializer()
    overridden = serializers.IntegerField()
    disputed = serializers.IntegerField()
    issues = LineSerializer(many=True)
    tags = LineSerializer(many=True)
    usage = UsageSerializer()
    latency = serializers.JSONField(allow_null=True)
    panel = serializers.JSONField(allow_null=True)
    overrides = serializers.ListField(child=serializers.JSONField())
    errors = serializers.DictField(child=serializers.IntegerField())  # type: ignore[assignment]
    failures = serializers.ListField(child=serializers.JSONField())
