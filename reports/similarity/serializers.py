"""The form of similarity, for the API schema."""

from rest_framework import serializers

from evalhub.api.filters import HIGHEST_ID
from runs.models import Outcome


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
