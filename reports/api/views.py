"""A run's figures for programs: the same that its page shows."""

from typing import Any

from django.http import QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.api.filters import refuse_unknown
from reports.api.serializers import ProgressSerializer, RunReportSerializer
from reports.exports.run import report_json
from reports.queries.progress import progress_of
from reports.queries.run import judgings_of, run_report
from runs.filters import Filters
from runs.models import Run


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
        return Response(progress_of(run, judgings_of(run)).as_json())


class ReportView(RunView):
    @extend_schema(operation_id="runs_report_retrieve", responses=RunReportSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """All figures of the run's report. Its rows are at results/?run=."""
        run = self.found(request, pk)
        report = run_report(run, Filters.read(QueryDict()), reader=request.user)  # type: ignore[arg-type]
        figures: dict[str, Any] = report_json(report, ())
        return Response({name: value for name, value in figures.items() if name != "results"})
