"""The similarity of models' answers to a test as JSON."""

from rest_framework import serializers

from evalhub.api.fields import PlainSerializer
from evalhub.api.filters import HIGHEST_ID
from runs.models import Outcome


class EmbeddingModelSerializer(PlainSerializer):
    """The embedding model; `language_model` null is the built-in one."""

    language_model = serializers.IntegerField(source="language_model_id", allow_null=True)
    name = serializers.CharField()


class PromptVersionSerializer(PlainSerializer):
    """A version of the test's prompt; `result` is its latest result, which selects it."""

    revision = serializers.IntegerField(source="number")
    variants = serializers.IntegerField()
    result = serializers.IntegerField(source="result_id")


class ComparedVariantSerializer(PlainSerializer):
    """A model variant's latest answer. `mean` is over the `compared` others; null: not measured."""

    result = serializers.IntegerField(source="result_id")
    run = serializers.IntegerField(source="run.pk")
    model_name = serializers.CharField(source="run.model_name")
    variant_key = serializers.CharField(source="run.variant_key")
    is_scripted = serializers.BooleanField(source="run.is_scripted")
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    compared = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    deviation = serializers.FloatField(allow_null=True)
    to_reference = serializers.FloatField(allow_null=True)


class SimilaritySerializer(PlainSerializer):
    """Cosines in [-1, 1] of the variants' answers, in the order of `variants`; null: not measured.

    `measured` of `pairs` pairs have one.
    """

    test = serializers.IntegerField(source="test.pk")
    revision = serializers.IntegerField(source="prompt_version.number", allow_null=True)
    embedding = EmbeddingModelSerializer(source="embedder")
    embeddings = EmbeddingModelSerializer(source="embedders", many=True)
    prompt_versions = PromptVersionSerializer(many=True)
    variants = ComparedVariantSerializer(many=True)
    pairs = serializers.IntegerField()
    measured = serializers.IntegerField()
    matrix = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True))
    )


class SimilarityQuery(PlainSerializer):
    """The answers to compare, and the embedding model."""

    result = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=HIGHEST_ID,
        help_text="Compare answers to this result's prompt; default: the newest prompt.",
    )
    language_model = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=HIGHEST_ID,
        help_text="Use vectors of this embedding model, if runs kept them; default: built in.",
    )
