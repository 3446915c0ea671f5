"""The similarity of models' answers to a test, for programs."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.api.fields import PlainSerializer
from evalhub.api.filters import HIGHEST_ID, refuse_unknown
from issues.models import Test
from reports.similarity.query import similarity_of
from runs.models import Outcome, Result


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


class SimilarityView(APIView):
    permission_required = "runs.view_run"

    @extend_schema(
        operation_id="tests_similarity_retrieve",
        parameters=[SimilarityQuery],
        responses=SimilaritySerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        """Compare models' answers to a test: the cosine of each pair of their latest answers."""
        refuse_unknown(request, ("result", "language_model"))
        query = SimilarityQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        test = get_object_or_404(Test.objects.readable_by(request.user), pk=pk)
        result = query.validated_data.get("result", 0)
        if result and not Result.objects.filter(pk=result, test=test).exists():
            raise ValidationError({"result": f"Test {pk} has no result {result}."})
        model = query.validated_data.get("language_model")
        reader: Any = request.user
        similarity = similarity_of(test, reader=reader, result_id=result, embedder_id=model)
        if similarity.embedder.language_model_id != model:
            message = f"No compared run has vectors of language model {model}."
            raise ValidationError({"language_model": message})
        return Response(SimilaritySerializer(similarity).data)
