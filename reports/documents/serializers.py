"""The form of reports, for the schema: what is in them comes from `reports.queries`."""

from rest_framework import serializers

from evalhub.api.filters import HIGHEST_ID
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
    """`passed` of `n` decided results, each once; `share` null where n is 0. A 95 % interval."""

    passed = serializers.IntegerField()
    n = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    is_resampled = serializers.BooleanField()


class ScoreSerializer(serializers.Serializer):
    """Σ w·s / Σ w over the `n` results with a score; null where n is 0. A 95 % interval."""

    mean = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    interval = IntervalSerializer(allow_null=True)


class LineSerializer(serializers.Serializer):
    """An issue's or a tag's share of the run."""

    name = serializers.CharField()
    issue_id = serializers.IntegerField(allow_null=True)
    counts = Counts()
    rate = RateSerializer()


class DomainSerializer(LineSerializer):
    """A domain with all that lies in it; `depth` is how many domains it lies in."""

    depth = serializers.IntegerField()


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

    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    with_tokens = serializers.IntegerField()
    cost_usd = serializers.DecimalField(14, 8, allow_null=True)
    with_cost = serializers.IntegerField()
    answered = serializers.IntegerField()


class RunReportSerializer(serializers.Serializer):
    """All figures of a run's report. `labels` must be known wherever they appear.

    `outside` are results in no domain; `flaky` is null where each test was asked once, and
    `sealing` (open, never exposed and exposed tests) where no test is sealed.
    """

    run = serializers.JSONField()
    labels = serializers.ListField(child=serializers.CharField())
    judge_run = serializers.JSONField(allow_null=True)
    progress = ProgressSerializer()
    counts = Counts()
    rate = RateSerializer()
    score = ScoreSerializer()
    heavy = serializers.ListField(child=serializers.JSONField())
    similarity = serializers.JSONField(allow_null=True)
    sealing = serializers.JSONField(allow_null=True)
    overridden = serializers.IntegerField()
    disputed = serializers.IntegerField()
    issues = LineSerializer(many=True)
    tags = LineSerializer(many=True)
    domains = DomainSerializer(many=True)
    outside = Counts()
    flaky = serializers.JSONField(allow_null=True)
    usage = UsageSerializer()
    latency = serializers.JSONField(allow_null=True)
    cost = serializers.JSONField(allow_null=True)
    panel = serializers.JSONField(allow_null=True)
    overrides = serializers.ListField(child=serializers.JSONField())
    errors = serializers.DictField(child=serializers.IntegerField())  # type: ignore[assignment]
    failures = serializers.ListField(child=serializers.JSONField())


class EmbeddingSerializer(serializers.Serializer):
    """What makes the vectors; `language_model` null is what is built in."""

    language_model = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()


class WordingSerializer(serializers.Serializer):
    """A way in which the test was asked; `result` is the latest one, by which it is chosen."""

    revision = serializers.IntegerField()
    variants = serializers.IntegerField()
    result = serializers.IntegerField()


class VariantSerializer(serializers.Serializer):
    """A model variant's latest answer. `mean` is over the `compared` others; null: not measured."""

    result = serializers.IntegerField()
    run = serializers.IntegerField()
    model_name = serializers.CharField()
    variant_key = serializers.CharField()
    is_scripted = serializers.BooleanField()
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    compared = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    deviation = serializers.FloatField(allow_null=True)
    to_reference = serializers.FloatField(allow_null=True)


class SimilaritySerializer(serializers.Serializer):
    """Cosines in [-1, 1] of the variants' answers, in the order of `variants`; null: not measured.

    `measured` of `pairs` pairs have one.
    """

    test = serializers.IntegerField()
    revision = serializers.IntegerField(allow_null=True)
    embedding = EmbeddingSerializer()
    embeddings = EmbeddingSerializer(many=True)
    wordings = WordingSerializer(many=True)
    variants = VariantSerializer(many=True)
    pairs = serializers.IntegerField()
    measured = serializers.IntegerField()
    matrix = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True))
    )


class SimilarityQuery(serializers.Serializer):
    """Which answers are compared, and by what."""

    result = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=HIGHEST_ID,
        help_text="Compare answers to the same question as this result's; else to the newest.",
    )
    language_model = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=HIGHEST_ID,
        help_text="By the vectors of this embedding model, where runs kept them; else built in.",
    )


class DocumentSerializer(serializers.Serializer):
    """A report: sentences, headline numbers by name, and tables by key.

    A row of a table is an object by the names of its columns; null is not measured. A rate is
    {passed, n, share, interval}, an estimate {value, n, interval}, a link {text, url, note}.
    """

    question = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    sentences = serializers.ListField(child=serializers.CharField())
    facts = serializers.DictField(child=serializers.JSONField())
    tables = serializers.DictField(child=serializers.JSONField())
