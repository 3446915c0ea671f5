from collections.abc import Callable
from typing import Any

from django.db.models import Exists, F, OuterRef, Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.access.sealing.readers import READ_SEALED
from evalhub.api.errors import Conflict
from evalhub.api.filters import refuse_unknown
from evalhub.api.views import Added, ReadableRows, ReadOnly, Written
from evalhub.schedules import BadCron
from runs.api import export_columns, filters, serializers
from runs.api.interchange import RunExport, SuiteExport
from runs.api.jury_serializers import JurySerializer, SuiteSerializer, SuiteVersionSerializer
from runs.api.verdict_serializers import ResultDetailSerializer
from runs.api.verdicts_shown import ExportedVerdicts
from runs.figures.issue_rates import rate_run_of, rates_in
from runs.judging.activation import set_active
from runs.launching.answer_files import read_objects
from runs.launching.imported_answers import import_answers
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchSpec, read_spec
from runs.launching.schedules import launch_again
from runs.lifecycle import control
from runs.models import (
    Answer,
    EvaluationKind,
    HumanEvaluation,
    JudgeRun,
    Judgment,
    Jury,
    Launch,
    Result,
    Run,
    Suite,
)
from runs.scoring.human_evaluation import HumanVerdict, evaluate, is_active, withdraw
from runs.scoring.shown_verdicts import record_filtered


class SuiteViewSet(SuiteExport, Written):
    """Suites: named sets of tests, or filters of the list of tests."""

    queryset = (
        Suite.objects.prefetch_related("tests", "tags", "baselines")
        .select_related("baseline_release")
        .order_by("-pk")
    )
    serializer_class = SuiteSerializer
    filterset_class = filters.SuiteFilters
    ordering_fields = ("id", "name")

    @extend_schema(responses=SuiteVersionSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None)
    def versions(self, request: Request, pk: str) -> Response:
        """Return the tests of each version, newest first."""
        versions = self.get_object().versions.prefetch_related("runs")
        return Response(SuiteVersionSerializer(versions, many=True).data)


class JuryViewSet(Written):
    """Juries: judges that score together."""

    queryset = Jury.objects.with_judges().order_by("-pk")
    serializer_class = JurySerializer
    filterset_class = filters.JuryFilters
    ordering_fields = ("id", "name")


# Runs --------------------------------------------------------------------------------------------


class LaunchViewSet(ReadOnly):
    """Launches. POST to runs/ makes one."""

    queryset = Launch.objects.select_related("requested_by").prefetch_related("runs")
    serializer_class = serializers.LaunchSerializer
    filterset_class = filters.LaunchFilters
    action_permissions = {
        "again": "runs.add_run",
        "schedule": "runs.change_launch",
        "pause": "runs.change_launch",
        "resume": "runs.change_launch",
    }

    @extend_schema(request=None, responses={201: serializers.LaunchSerializer})
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: str) -> Response:
        """Start the same runs again, now."""
        record = launch_again(self.get_object(), by=self.user)
        return self.shown(record, status.HTTP_201_CREATED)

    @extend_schema(request=serializers.CronSerializer, responses=serializers.LaunchSerializer)
    @action(detail=True, methods=["post"])
    def schedule(self, request: Request, pk: str) -> Response:
        """Schedule it, in the site's time zone."""
        return self._schedule(self.sent(request, serializers.CronSerializer)["cron"])

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Pause its schedule."""
        record = self.get_object()
        record.pause()
        return self.shown(record)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Resume its schedule."""
        return self._schedule(self.get_object().cron)

    def _schedule(self, cron: str) -> Response:
        record = self.get_object()
        try:
            record.start_schedule(cron)
        except BadCron as error:
            raise ValidationError({"cron": [str(error)]}) from error
        return self.shown(record)


def _verb(act: Callable[[Run], object], description: str) -> Any:
    """Return the POST action of a run that does `act`, a function of `runs.lifecycle.control`."""

    def view(self: "RunViewSet", request: Request, pk: str) -> Response:
        run = self.get_object()
        act(run)
        return self.shown(run)

    view.__name__ = act.__name__.removesuffix("_run")
    view.__doc__ = description
    return extend_schema(request=None)(action(detail=True, methods=["post"])(view))


class RunViewSet(RunExport, ReadOnly):
    """Runs. POST starts them; verbs control them."""

    queryset = Run.objects.select_related("requested_by").order_by("-pk")
    serializer_class = serializers.RunSerializer
    filterset_class = filters.RunFilters
    action_permissions = dict.fromkeys(
        ("pause", "resume", "cancel", "retry_errors", "rejudge", "run_checks", "set_active"),
        "runs.control_run",
    )

    @extend_schema(request=LaunchSpec, responses={201: serializers.LaunchSerializer})
    def create(self, request: Request) -> Response:
        """Start one run for each model, system prompt and temperature.

        A refusal lists all its `problems`.
        """
        record = launch(read_spec(_body(request)), by=self.user)
        shown = serializers.LaunchSerializer(record).data
        return Response(shown, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.ImportedAnswersBody, responses={201: serializers.RunSerializer}
    )
    @action(detail=False, methods=["post"])
    def import_answers(self, request: Request) -> Response:
        """Make a run of imported answers, which its jury judges like any others."""
        values = _body(request)
        answers = read_objects(values.pop("answers", None))
        spec = read_spec({**values, "tests": sorted({answer.body.test for answer in answers})})
        run = import_answers(spec, answers, by=self.user)
        return self.shown(run, status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[OpenApiParameter("model", OpenApiTypes.INT)],
        responses=serializers.IssueRatesSerializer,
        filters=False,
    )
    @action(detail=False, pagination_class=None, filter_backends=[])
    def issue_rates(self, request: Request) -> Response:
        """Return the pass rate of each issue in one run of a model, named with it.

        It is the model's baseline, else its newest complete run that is comparable with the
        suite's baseline. Without `model` the baseline's model is taken.
        """
        refuse_unknown(request, ("model",))
        query = serializers.ModelChoice(data=request.query_params)
        query.is_valid(raise_exception=True)
        found = rate_run_of(query.validated_data.get("model"))
        rates = [{"issue": pk, **rate._asdict()} for pk, rate in rates_in(found.run).items()]
        return Response(
            {
                "model": found.model and found.model.pk,
                "run": found.run and found.run.pk,
                "name": found.name,
                "is_baseline": found.is_baseline,
                "rates": rates,
            }
        )

    pause = _verb(control.pause_run, "Start no more calls. Those in flight are saved.")
    resume = _verb(control.resume_run, "Continue with the missing calls.")
    cancel = _verb(control.cancel_run, "Stop at once. Saved results stay.")
    retry_errors = _verb(
        control.retry_errors, "Retry failed answers, and failed judgments of the active judge run."
    )

    @extend_schema(
        request=serializers.RejudgeSerializer, responses={201: serializers.JudgeRunSerializer}
    )
    @action(detail=True, methods=["post"])
    def rejudge(self, request: Request, pk: str) -> Response:
        """Judge the same answers again, with a jury or with that of the run `like`.

        A judge run by a jury sets no scores until it is set as active.
        """
        run = self.get_object()
        body = self.sent(request, serializers.RejudgeSerializer)
        options: Any = {
            "by": request.user,
            "allow_sealed_exposure": body["allow_sealed_exposure"],
        }
        if like := body.get("like"):
            judge_run = control.rejudge_like(run, like, **options)
        else:
            judge_run = control.rejudge(run, body.get("jury"), **options)
        shown = serializers.JudgeRunSerializer(judge_run).data
        return Response(shown, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={201: serializers.JudgeRunSerializer})
    @action(detail=True, methods=["post"])
    def run_checks(self, request: Request, pk: str) -> Response:
        """Run the checks on the same answers again; no call is made.

        The new judge run keeps the judgments of the active one, and sets no scores until it is
        set as active.
        """
        judge_run = control.run_checks(self.get_object(), by=self.user)
        shown = serializers.JudgeRunSerializer(judge_run).data
        return Response(shown, status=status.HTTP_201_CREATED)

    @extend_schema(request=serializers.SetActiveSerializer)
    @action(detail=True, methods=["post"])
    def set_active(self, request: Request, pk: str) -> Response:
        """Set the judge run that sets the run's scores."""
        run = self.get_object()
        pk = self.sent(request, serializers.SetActiveSerializer)["judge_run"]
        judge_run = run.judge_runs.filter(pk=pk).first()
        if judge_run is None:
            raise ValidationError({"judge_run": [f"{run} has no judge run {pk}."]})
        set_active(judge_run)
        return self.shown(run)


def _body(request: Request) -> dict[str, Any]:
    if not isinstance(request.data, dict):
        raise ValidationError({"problems": [f"Send a JSON object, not {request.data!r:.80}."]})
    return dict(request.data)


# Results -----------------------------------------------------------------------------------------


NAMES = {
    "run_label": F("run__label"),
    "release": F("run__release"),
    "model": F("run__model_name"),
    "test_source_id": F("test__source_id"),
}
"""Names of a result's run and test, without which rows mean nothing outside."""


class ResultViewSet(ExportedVerdicts):
    """Results with their answers. Sealed tests that you may not read show figures only.

    A single result includes its verdict, criterion by criterion.
    """

    queryset = Result.objects.all()
    results = ("pk",)
    serializer_class = serializers.ResultSerializer
    detail_serializer_class = ResultDetailSerializer
    filterset_class = filters.ResultFilters
    exported = export_columns.RESULTS

    def paginate_queryset(self, queryset: Any) -> Any:
        """Record also what a filter by verdict tells of the results that it leaves out."""
        rows = super().paginate_queryset(queryset)
        if not getattr(self.paginator, "has_next", False):
            self._record_others()
        return rows

    def _record_others(self) -> None:
        others = self.request.query_params.copy()
        named = [name for name in filters.BY_VERDICT if others.pop(name, None)]
        if named:
            scope = filters.ResultFilters(others, Result.objects.all(), request=self.request).qs
            record_filtered(self.request.user, scope)

    def export_rows(self) -> QuerySet[Result]:
        self._record_others()
        rows: QuerySet[Result] = Result.objects.all()
        if self.request.user.has_perm(READ_SEALED):
            return rows
        readable = Result.objects.readable_by(self.request.user).filter(pk=OuterRef("pk"))
        rows = rows.annotate(is_readable=Exists(readable))
        return rows

    def get_queryset(self) -> QuerySet[Result]:
        user = self.request.user
        readable = Result.objects.readable_by(user).filter(pk=OuterRef("pk"))
        answers = Prefetch("answer", Answer.objects.readable_by(user))
        related = ("run", "revision__template") if self.action == "retrieve" else ()
        return (
            Result.objects.annotate(is_readable=Exists(readable), **NAMES)
            .select_related("tag_set", *related)
            .prefetch_related(answers)
            .order_by("-pk")
        )


class JudgeRunViewSet(ReadOnly):
    """Judge runs. POST runs/{id}/rejudge/ adds one."""

    queryset = JudgeRun.objects.select_related("requested_by").order_by("-pk")
    serializer_class = serializers.JudgeRunSerializer
    filterset_class = filters.JudgeRunFilters


class JudgmentViewSet(ReadableRows, ExportedVerdicts):
    """Judgments on tests whose text you may read."""

    queryset = Judgment.objects.select_related(
        "criterion", "judge__language_model", "judge__template"
    ).order_by("-pk")
    serializer_class = serializers.JudgmentSerializer
    filterset_class = filters.JudgmentFilters
    exported = export_columns.JUDGMENTS


class HumanEvaluationViewSet(Added, ReadableRows, ExportedVerdicts):
    """Human evaluations. POST appends one, which overrides the judges; none is deleted."""

    queryset = HumanEvaluation.objects.select_related("criterion", "annotator").order_by("-pk")
    serializer_class = serializers.HumanEvaluationSerializer
    filterset_class = filters.HumanEvaluationFilters
    exported = export_columns.EVALUATIONS
    action_permissions = {"withdraw": "runs.add_humanevaluation"}

    def perform_create(self, serializer: Any) -> None:
        given = dict(serializer.validated_data)
        result = given.pop("result")
        given["criterion"] = given["criterion"]["key"]
        user = self.request.user
        get_object_or_404(Result.objects.readable_by(user), pk=result.pk)
        if given["kind"] == EvaluationKind.ADJUDICATION and not user.has_perm("runs.adjudicate"):
            raise PermissionDenied("You may evaluate, but not adjudicate.")
        serializer.instance = evaluate(result, HumanVerdict(**given), by=self.user)

    @extend_schema(
        request=serializers.WithdrawSerializer,
        responses={201: serializers.HumanEvaluationSerializer},
    )
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Withdraw your evaluation; the previous verdict applies again. Appends a withdrawal."""
        evaluation = self.get_object()
        if evaluation.annotator_id != request.user.pk:
            raise PermissionDenied("Only its annotator can withdraw an evaluation.")
        if not is_active(evaluation):
            raise Conflict("This evaluation is not active: it was withdrawn or replaced.")
        undone = withdraw(
            evaluation.result,
            by=self.user,
            criterion=evaluation.criterion.key,
            **self.sent(request, serializers.WithdrawSerializer),
        )
        return self.shown(undone, status.HTTP_201_CREATED)
