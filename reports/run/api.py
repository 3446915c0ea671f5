"""The progress and the report of a run, for programs."""

from django.http import QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.admin_site.pages import current_user
from evalhub.api.fields import PlainSerializer
from evalhub.api.filters import refuse_unknown
from evalhub.models import BatchState
from reports.documents.exports import json_of
from reports.documents.serializers import ReportSerializer
from reports.run.page import document_of_run
from reports.run.progress_query import progress_of
from reports.run.query import judge_runs_of, run_report
from runs.models import Outcome, Run
from runs.result_list.filters import Filters

Counts = type(
    "OutcomeCountsSerializer",
    (serializers.Serializer,),
    {
        "__doc__": "Results by outcome.",
        **{name: serializers.IntegerField() for name in Outcome.values},
    },
)


class PartlyJudgedSerializer(PlainSerializer):
    """Answers with `answered` of the `expected` judgments, `replaced` others by a backup judge."""

    expected = serializers.IntegerField()
    answered = serializers.IntegerField()
    replaced = serializers.IntegerField()
    answers = serializers.IntegerField()


class RunProgressSerializer(PlainSerializer):
    """Progress of a run and its judge runs, in numbers of results."""

    state = serializers.ChoiceField(BatchState.choices)
    reason = serializers.CharField()
    is_live = serializers.BooleanField()
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    judged = serializers.IntegerField()
    to_judge = serializers.IntegerField()
    awaiting = serializers.IntegerField()
    retryable = serializers.IntegerField()
    counts = Counts()
    endings = serializers.DictField(
        child=serializers.IntegerField(), help_text="Answers that broke off, by how."
    )
    partly_judged = PartlyJudgedSerializer(many=True)


class RunView(APIView):
    permission_required = "runs.view_run"

    def found(self, request: Request, pk: int) -> Run:
        refuse_unknown(request, ())
        return get_object_or_404(Run.objects.select_related("suite"), pk=pk)


class ProgressView(RunView):
    @extend_schema(operation_id="runs_progress_retrieve", responses=RunProgressSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the progress of a run; small enough to be polled every second."""
        run = self.found(request, pk)
        return Response(progress_of(run, judge_runs_of(run)).as_json())


class ReportView(RunView):
    @extend_schema(operation_id="runs_report_retrieve", responses=ReportSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """Return the report of a run. Its results are at results/?run=."""
        run = self.found(request, pk)
        filters, reader = Filters.read(QueryDict()), current_user(request._request)
        return Response(json_of(document_of_run(run_report(run, filters, reader=reader))))
