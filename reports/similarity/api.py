"""The similarity of models' answers to a test, for programs."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.api.filters import refuse_unknown
from issues.models import Test
from reports.similarity.query import similarity_of
from reports.similarity.serializers import SimilarityQuery, SimilaritySerializer
from runs.models import Result


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
