"""The figures of runs and tests for programs: the same that their pages show."""

from typing import Any

from django.http import QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.api.filters import refuse_unknown
from issues.models import Test
from reports.documents.serializers import (
    ProgressSerializer,
    RunReportSerializer,
    SimilarityQuery,
    SimilaritySerializer,
)
from reports.run.exports import report_json
from reports.run.progress_query import progress_of
from reports.run.query import judge_runs_of, run_report
from reports.similarity.exports import similarity_json
from reports.similarity.query import similarity_of
from runs.figures.filters import Filters
from runs.models import Result, Run


class RunView(APIView):
    """Something about one run."""

    permission_required = "runs.view_run"

    def found(self, request: Request, pk: int) -> Run:
        refuse_unknown(request, ())
        return get_object_or_404(Run, pk=pk)


class ProgressView(RunView):
    @extend_schema(operation_id="runs_progress_retrieve", responses=ProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """How far the run has come; small enough to be asked every second."""
        run = self.found(request, pk)
        return Response(progress_of(run, judge_runs_of(run)).as_json())


class ReportView(RunView):
    @extend_schema(operation_id="runs_report_retrieve", responses=RunReportSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """All figures of the run's report. Its rows are at results/?run=."""
        run = self.found(request, pk)
        report = run_report(run, Filters.read(QueryDict()), reader=request.user)  # type: ignore[arg-type]
        figures: dict[str, Any] = report_json(report, ())
        return Response({name: value for name, value in figures.items() if name != "results"})


class SimilarityView(APIView):
    permission_required = "runs.view_run"

    @extend_schema(
        operation_id="tests_similarity_retrieve",
        parameters=[SimilarityQuery],
        responses=SimilaritySerializer,
    )
    def get(self, request: Request, pk: int) -> Response:
        """How alike models answer a test: the cosine of each pair of their latest answers."""
        refuse_unknown(request, ("result", "language_model"))
        query = SimilarityQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        test = get_object_or_404(Test.objects.readable_by(request.user), pk=pk)
        result = query.validated_data.get("result", 0)
        if result and not Result.objects.filter(pk=result, test=test).exists():
            raise ValidationError({"result": f"Test {pk} has no result {result}."})
        model = query.validated_data.get("language_model")
        reader: Any = request.user
        likeness = similarity_of(test, reader=reader, result_id=result, embedder_id=model)
        if likeness.embedder.language_model_id != model:
            message = f"None of the runs compared here kept vectors of language model {model}."
            raise ValidationError({"language_model": message})
        return Response(similarity_json(likeness))
