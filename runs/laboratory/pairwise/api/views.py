from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import VERBS, BatchRows, consent_of
from evalhub.api.errors import Conflict
from evalhub.api.filters import Id, OneOf
from evalhub.api.index import route
from evalhub.models import BatchState, ItemState
from runs.api.verdicts_shown import OpenVerdicts
from runs.laboratory.pairwise import judge_runs
from runs.laboratory.pairwise.api import serializers
from runs.laboratory.pairwise.evaluations import Chosen, active_choice, choose, undo
from runs.laboratory.pairwise.judge_runs import PairwiseOrder
from runs.laboratory.pairwise.models import (
    PairChoice,
    PairEvaluation,
    PairJudgment,
    PairwiseJudgeRun,
)
from runs.models import Result

ADD = "pairwise.add_pairwisejudgerun"


class PairwiseJudgeRunFilters(filters.FilterSet):
    run = Id(field_name="runs")
    state = OneOf(BatchState)
    method = filters.CharFilter()


@route("pairwise-judge-runs", "api-pairwise-run")
class PairwiseJudgeRunViewSet(BatchRows):
    """Pairwise judge runs: a model judges the answers of runs in pairs, each in both orders."""

    queryset = (
        PairwiseJudgeRun.objects.select_related("language_model", "requested_by")
        .prefetch_related("runs")
        .order_by("-pk")
    )
    serializer_class = serializers.PairwiseJudgeRunSerializer
    filterset_class = PairwiseJudgeRunFilters
    action_permissions = dict.fromkeys(VERBS, ADD)

    @extend_schema(
        request=serializers.PairwiseOrderSerializer,
        responses={201: serializers.PairwiseJudgeRunSerializer},
    )
    def create(self, request: Request) -> Response:
        """Start judging all comparable pairs. A refusal lists all its `problems`."""
        given = self.sent(request, serializers.PairwiseOrderSerializer)
        names = ("runs", "language_model", "criterion", "ties")
        wanted = PairwiseOrder(*(given[name] for name in names))
        made = judge_runs.start(wanted, by=self.user, **consent_of(given))
        return self.shown(made, status.HTTP_201_CREATED)


class PairFilters(filters.FilterSet):
    pair = Id(field_name="pair_id")
    first_run = Id(field_name="pair__first__run_id")
    second_run = Id(field_name="pair__second__run_id")


class PairJudgmentFilters(PairFilters):
    judge_run = Id(field_name="judge_run_id")
    state = OneOf(ItemState)


class PairsShown(OpenVerdicts):
    """Rows on pairs; whoever reads them has seen verdicts on both results."""

    results = ("pair__first_id", "pair__second_id")


@route("pair-judgments", "api-pair-judgment")
class PairJudgmentViewSet(PairsShown):
    """Judgments on pairs of tests whose text you may read."""

    queryset = PairJudgment.objects.select_related("pair").order_by("-pk")
    serializer_class = serializers.PairJudgmentSerializer
    filterset_class = PairJudgmentFilters


@route("pair-evaluations", "api-pair-evaluation")
class PairEvaluationViewSet(PairsShown):
    """Human verdicts on pairs. POST appends yours; none is deleted."""

    queryset = PairEvaluation.objects.select_related("pair", "annotator").order_by("-pk")
    serializer_class = serializers.PairEvaluationSerializer
    filterset_class = PairFilters
    action_permissions = {"withdraw": "pairwise.add_pairevaluation"}

    @extend_schema(
        request=serializers.PairChoiceSerializer,
        responses={201: serializers.PairEvaluationSerializer},
    )
    def create(self, request: Request) -> Response:
        """Say which of two results is better."""
        given = self.sent(request, serializers.PairChoiceSerializer)
        one, other = given["results"]
        ids = {one.pk, other.pk}
        if Result.objects.filter(pk__in=ids).readable_by(self.user).count() < len(ids):
            raise NotFound("There is no such result, or you may not read its text.")
        chosen = Chosen(
            _choice(given["better"], min(ids)),
            int(one.pk > other.pk),
            given["justification"],
            given.get("seconds"),
        )
        made = choose(one, other, chosen, by=self.user)
        return self.shown(made, status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={201: serializers.PairEvaluationSerializer})
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Withdraw your choice; the previous one applies again. Appends a withdrawal."""
        row = self.get_object()
        if row.annotator_id != self.user.pk:
            raise PermissionDenied("Only its annotator can withdraw a choice.")
        if active_choice(row.pair, self.user) != row:
            raise Conflict("This choice is not active: it was withdrawn or replaced.")
        undo(row.pair, by=self.user)
        last = PairEvaluation.objects.filter(pair=row.pair, annotator=self.user).latest("pk")
        return self.shown(last, status.HTTP_201_CREATED)


def _choice(better: int | None, first: int) -> PairChoice:
    if better is None:
        return PairChoice.TIE
    return PairChoice.FIRST if better == first else PairChoice.SECOND
