import json
from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError as SettingsError
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalhub.api.batches import CONSENT, VERBS, BatchRows, EstimateSerializer, is_accepted
from evalhub.api.filters import Id, OneOf, YesNo
from evalhub.api.index import route
from evalhub.api.views import ReadableRows
from evalhub.models import BatchState, ItemState
from evalhub.refusals import Refused
from evalhub.values.option_problems import option_problems
from runs.laboratory.trials.api import serializers
from runs.laboratory.trials.benchmarks.benchmark_counts import with_counts
from runs.laboratory.trials.benchmarks.imports import import_benchmark, read_lines
from runs.laboratory.trials.benchmarks.new_benchmarks import (
    NewTopic,
    generate_fresh,
    new_benchmark,
    small_benchmark,
)
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.generation.generation_estimate import estimate
from runs.laboratory.trials.generation.generation_runs import GenerationOrder, start
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.judges import trial_control
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    BenchmarkState,
    Claim,
    ClaimJudgment,
    ClaimKind,
    GenerationRun,
    Idea,
    IdeaState,
    Review,
    Stage,
    Trial,
    Validity,
)
from runs.laboratory.trials.replays.replay_runs import REPLAY_RIGHTS
from runs.laboratory.tuning.models import Split

STARTED = {200: EstimateSerializer, 201: serializers.GenerationRunSerializer}
ADD_RUN = "trials.add_generationrun"


# Benchmarks --------------------------------------------------------------------------------------


class BenchmarkFilters(filters.FilterSet):
    state = OneOf(BenchmarkState)
    parent = Id(field_name="parent_id")
    is_scripted = YesNo()
    is_imported = YesNo()


@route("benchmarks", "api-benchmark")
class BenchmarkViewSet(ReadableRows):
    """Benchmarks: claims of known truth for judges, and the texts that they are about."""

    queryset = with_counts(Benchmark.objects.select_related("author").order_by("-pk"))
    serializer_class = serializers.BenchmarkSerializer
    detail_serializer_class = serializers.BenchmarkDetailSerializer
    filterset_class = BenchmarkFilters
    action_permissions = {
        **dict.fromkeys(("small", "generate", "replay", "fresh"), ADD_RUN),
        "import_claims": "trials.add_benchmark",
        "build_claims": "trials.add_trial",
    }

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset()
        return rows.prefetch_related("topics", "paths") if self._is_one else rows

    def get_serializer_class(self) -> type[BaseSerializer]:
        return serializers.BenchmarkDetailSerializer if self._is_one else self.serializer_class

    @property
    def _is_one(self) -> bool:
        return self.action in ("retrieve", "create", "import_claims")

    @extend_schema(
        request=serializers.NewBenchmarkSerializer,
        responses={201: serializers.BenchmarkDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Make a benchmark of topics and paths; `generate` has its texts written."""
        given = self.sent(request, serializers.NewBenchmarkSerializer)
        topics = [NewTopic(**topic) for topic in given.pop("topics")]
        return self._made(
            new_benchmark(given.pop("name"), topics, given.pop("paths"), by=self.user, **given)
        )

    @extend_schema(
        request=serializers.BenchmarkImportSerializer,
        responses={201: serializers.BenchmarkDetailSerializer},
    )
    @action(detail=False, methods=["post"], url_path="import")
    def import_claims(self, request: Request) -> Response:
        """Make a benchmark of real texts with labels. A refusal lists all its `problems`."""
        given = self.sent(request, serializers.BenchmarkImportSerializer)
        lines = read_lines("\n".join(map(json.dumps, given["claims"])))
        return self._made(
            import_benchmark(given["name"], lines, by=self.user, sealed=given["sealed"])
        )

    @extend_schema(request=serializers.SmallSerializer, responses=STARTED)
    @action(detail=False, methods=["post"])
    def small(self, request: Request) -> Response:
        """Have a model write a small benchmark to try. Without `accepted_calls`, estimate it."""
        given = self.sent(request, serializers.SmallSerializer)
        return _started(given, lambda: small_benchmark(given["language_model"], by=self.user))

    @extend_schema(request=serializers.GenerateSerializer, responses=STARTED)
    @action(detail=True, methods=["post"])
    def generate(self, request: Request, pk: str) -> Response:
        """Have a trusted model write what is missing. Without `accepted_calls`, estimate it."""
        given = self.sent(request, serializers.GenerateSerializer)
        order = GenerationOrder(
            self.get_object(),
            Stage(given["stage"]),
            given["language_model"],
            settings=_settings(given["settings"]),
        )
        return self._start(order, given)

    @extend_schema(request=serializers.ReplaySerializer, responses=STARTED)
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, pk: str) -> Response:
        """Test a model on paths. Its results become the run that the replay names when done.

        Without `accepted_calls`, estimate it.
        """
        if not request.user.has_perms(REPLAY_RIGHTS):
            raise PermissionDenied(f"You need the rights {', '.join(REPLAY_RIGHTS)} for this.")
        given = self.sent(request, serializers.ReplaySerializer)
        benchmark, jury = self.get_object(), given.get("jury")
        if wrong := [path.pk for path in given["paths"] if path.benchmark_id != benchmark.pk]:
            raise ValidationError({"paths": [f"{benchmark} has no path {wrong[0]}."]})
        order = GenerationOrder(
            benchmark,
            Stage.ARTIFACTS,
            given["language_model"],
            given["tested_model"],
            given["paths"],
            GenerationSettings(
                max_tokens=given["max_tokens"], jury=jury and jury.pk, release=given["release"]
            ),
        )
        return self._start(order, given)

    @extend_schema(request=serializers.FreshSerializer, responses=STARTED)
    @action(detail=True, methods=["post"])
    def fresh(self, request: Request, pk: str) -> Response:
        """Generate a fresh instance: the same topics and paths, with ideas of its own.

        Without `accepted_calls`, estimate it.
        """
        given = self.sent(request, serializers.FreshSerializer)
        benchmark = self.get_object()
        return _started(
            given,
            lambda: generate_fresh(
                benchmark,
                by=self.user,
                seed=given.get("seed"),
                instruction=given["instruction"],
            ),
        )

    @extend_schema(request=None, responses=serializers.BuiltSerializer)
    @action(detail=True, methods=["post"])
    def build_claims(self, request: Request, pk: str) -> Response:
        """Add the claims that follow from its texts. The start of a trial does so, too."""
        benchmark = self.get_object()
        return Response(
            {"added": build_claims(benchmark), "claims": benchmark.claims.usable().count()}
        )

    def _made(self, benchmark: Benchmark) -> Response:
        row = self.get_queryset().filter(pk=benchmark.pk).first() or benchmark
        return Response(self.get_serializer(row).data, status=status.HTTP_201_CREATED)

    def _start(self, order: GenerationOrder, given: dict[str, Any]) -> Response:
        limit = given.get("cost_limit_usd")
        return _started(given, lambda: start(order, by=self.user, cost_limit_usd=limit))


def _started(given: dict[str, Any], begin: Callable[[], GenerationRun]) -> Response:
    """Start what was estimated and accepted, or answer the estimate."""
    found = estimate(begin)
    if found.problems:
        raise Refused(found.problems, field="")
    if not is_accepted(given[CONSENT], found.calls.low):
        return Response(EstimateSerializer(found).data)
    shown = serializers.GenerationRunSerializer(begin()).data
    return Response(shown, status=status.HTTP_201_CREATED)


def _settings(values: dict[str, Any]) -> GenerationSettings:
    try:
        return GenerationSettings.model_validate(values)
    except SettingsError as error:
        raise Refused(option_problems(error), field="settings") from error


class IdeaFilters(filters.FilterSet):
    benchmark = Id(field_name="topic__benchmark_id")
    topic = Id(field_name="topic_id")
    state = OneOf(IdeaState)


@route("ideas", "api-idea")
class IdeaViewSet(ReadableRows):
    """Ideas of programs; of an imported benchmark, what texts have in common."""

    queryset = Idea.objects.select_related("topic").order_by("-pk")
    serializer_class = serializers.IdeaSerializer
    filterset_class = IdeaFilters


class TextFilters(filters.FilterSet):
    benchmark = Id(field_name="benchmark_id")
    idea = Id(field_name="idea_id")
    replay = Id(field_name="replay_id")
    is_reference = YesNo("replay", lookup_expr="isnull")
    kind = filters.CharFilter()
    validity = OneOf(Validity)
    review = OneOf(Review)


@route("benchmark-texts", "api-benchmark-text")
class TextViewSet(ReadableRows):
    """Texts of benchmarks: descriptions, programs, summaries, and those of replays."""

    queryset = Artifact.objects.select_related("language_model", "reviewed_by").order_by("-pk")
    serializer_class = serializers.TextSerializer
    filterset_class = TextFilters


class ClaimFilters(filters.FilterSet):
    benchmark = Id(field_name="benchmark_id")
    topic = Id(field_name="topic_id")
    kind = OneOf(ClaimKind)
    split = OneOf(Split)
    truth = YesNo()


@route("claims", "api-claim")
class ClaimViewSet(ReadableRows):
    """Claims whose texts are all usable: neither corrupted nor excluded."""

    queryset = Claim.objects.usable().order_by("-pk")
    serializer_class = serializers.BenchmarkClaimSerializer
    filterset_class = ClaimFilters


class GenerationRunFilters(filters.FilterSet):
    benchmark = Id(field_name="benchmark_id")
    state = OneOf(BatchState)
    is_replay = YesNo("tested_model", lookup_expr="isnull", exclude=True)


@route("generation-runs", "api-generation-run")
class GenerationRunViewSet(ReadableRows, BatchRows):
    """Generation runs of benchmarks, and replays of models under test."""

    queryset = (
        GenerationRun.objects.select_related("language_model", "tested_model", "requested_by")
        .prefetch_related("paths")
        .order_by("-pk")
    )
    serializer_class = serializers.GenerationRunSerializer
    filterset_class = GenerationRunFilters
    action_permissions = dict.fromkeys(VERBS, ADD_RUN)


# Trials ------------------------------------------------------------------------------------------


class TrialFilters(filters.FilterSet):
    benchmark = Id(field_name="benchmark_id")
    language_model = Id(field_name="language_model_id")
    template = Id(field_name="template_id")
    metric = filters.CharFilter()
    state = OneOf(BatchState)


@route("trials", "api-trial")
class TrialViewSet(ReadableRows, BatchRows):
    """Trials of judges on benchmarks. One of them comes with its measures."""

    queryset = Trial.objects.select_related(
        "benchmark", "language_model", "template", "requested_by"
    ).order_by("-pk")
    serializer_class = serializers.TrialSerializer
    detail_serializer_class = serializers.TrialDetailSerializer
    filterset_class = TrialFilters
    action_permissions = dict.fromkeys(VERBS, "trials.add_trial")

    @extend_schema(
        request=serializers.TrialStartSerializer,
        responses={201: serializers.TrialSerializer(many=True)},
    )
    def create(self, request: Request) -> Response:
        """Start a trial of each judge. A refusal lists all its `problems`."""
        given = self.sent(request, serializers.TrialStartSerializer)
        benchmark = given["benchmark"]
        build_claims(benchmark)
        chosen, limit = serializers.chosen_in(given), given.get("cost_limit_usd")
        made = trial_control.start(benchmark, chosen, by=self.user, cost_limit_usd=limit)
        shown = serializers.TrialSerializer(made, many=True).data
        return Response(shown, status=status.HTTP_201_CREATED)


class ClaimJudgmentFilters(filters.FilterSet):
    trial = Id(field_name="trial_id")
    claim = Id(field_name="claim_id")
    order = filters.ChoiceFilter(choices=[("0", "as given"), ("1", "reversed")])
    state = OneOf(ItemState)


@route("claim-judgments", "api-claim-judgment")
class ClaimJudgmentViewSet(ReadableRows):
    """Scores of claims: two for each judge and claim, one in each order."""

    queryset = ClaimJudgment.objects.order_by("-pk")
    serializer_class = serializers.ClaimJudgmentSerializer
    filterset_class = ClaimJudgmentFilters
