"""Synthetic drafts in the API: batches are asked for, and their drafts accepted or rejected."""

from collections.abc import Callable
from typing import Any

from django.db.models import Count
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.batches import (
    CONSENT,
    ConsentSerializer,
    EstimateSerializer,
    SpentField,
    StartSerializer,
    is_accepted,
)
from evalhub.api.fields import (
    BoundedJSON,
    JSONObject,
    LongText,
    Name,
    PlainSerializer,
    Readable,
    RowSerializer,
)
from evalhub.api.filters import Id, OneOf
from evalhub.api.views import ReadableRows
from evalhub.models import BatchState, ItemState, LanguageModel
from evalhub.refusals import Refused
from evalhub.values.option_problems import option_problems
from issues.api.json_types import DraftFailure, Message
from issues.drafting import decisions
from issues.drafting.settings import DraftingSettings
from issues.drafting.start import Order, estimate, problems_of, start
from issues.drafting.work import CONTROLS
from issues.models import Decision, Draft, Generation, Issue, Test

DRAFT_TESTS, ADD_TEST = "issues.draft_tests", "issues.add_test"


class DraftBatchSerializer(RowSerializer):
    """A batch of drafts. `drafts` counts by decision; `failures` are replies that were not usable.

    `borderline` and `inputs` are null until they were generated.
    """

    generator_name = Name(source="generator")
    judge_name = Name(source="judge")
    requested_by = Name()
    spent_usd = SpentField()
    drafts = serializers.SerializerMethodField()
    settings = JSONObject(DraftingSettings, read_only=True)
    borderline = BoundedJSON(dict[str, str] | None, read_only=True)
    inputs = BoundedJSON(list[list[str]] | None, read_only=True)
    failures = BoundedJSON(list[DraftFailure], read_only=True)
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    class Meta:
        model = Generation
        fields = (
            *("id", "issue", "test", "follows", "generator", "generator_name", "judge"),
            *("judge_name", "settings", "overruled", "borderline", "inputs", "failures", "state"),
            *("reason", "drafts", "cost_limit_usd", "spent_usd", "unpriced_calls"),
            *("requested_by", "created_at", "finished_at", "page"),
        )

    def get_drafts(self, row: Generation) -> dict[str, int]:
        found = row.drafts.order_by().values_list("decision").annotate(Count("pk"))
        return dict.fromkeys(Decision.values, 0) | dict(found)


class DraftOrderSerializer(ConsentSerializer, StartSerializer):
    """A batch to generate. `settings` are criterion, options with quantities, task and so on.

    A batch that follows another takes its issue. Without a judge nobody labels the drafts.
    """

    settings = JSONObject(DraftingSettings)
    issue = serializers.PrimaryKeyRelatedField(
        queryset=Issue.objects.active(), required=False, default=None
    )
    test = Readable(queryset=Test.objects.all(), required=False, default=None)
    examples = Readable(queryset=Test.objects.all(), many=True, required=False, default=list)
    follows = Readable(queryset=Generation.objects.all(), required=False, default=None)
    generator = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.not_applications()
    )
    judge = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.not_applications(), required=False, default=None
    )
    overruled = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=500,
        help_text="Reason for a generator that is not independent.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        sources = (attrs["follows"], attrs["test"])
        attrs["issue"] = attrs["issue"] or next((row.issue for row in sources if row), None)
        if attrs["issue"] is None:
            raise serializers.ValidationError({"issue": ["Name the issue of the tests."]})
        return attrs

    def validate_settings(self, sent: dict[str, Any]) -> DraftingSettings:
        try:
            return DraftingSettings.model_validate(sent)
        except ValidationError as error:
            raise serializers.ValidationError(list(option_problems(error))) from error


class GenerationFilters(filters.FilterSet):
    issue = Id(field_name="issue_id")
    generator = Id(field_name="generator_id")
    state = OneOf(BatchState)


class GenerationViewSet(ReadableRows):
    """Batches of synthetic drafts. POST has a model write one."""

    queryset = Generation.objects.select_related("generator", "judge", "requested_by").order_by(
        "-pk"
    )
    serializer_class = DraftBatchSerializer
    filterset_class = GenerationFilters
    action_permissions = dict.fromkeys(("create", *CONTROLS), DRAFT_TESTS)

    @extend_schema(
        request=DraftOrderSerializer,
        responses={200: EstimateSerializer, 201: DraftBatchSerializer},
    )
    def create(self, request: Request) -> Response:
        """Estimate a batch, or have it written with `accepted_calls`.

        A refusal lists all its `problems`.
        """
        given = self.sent(request, DraftOrderSerializer)
        is_allowed, consent = given.pop("allow_sealed_exposure"), given.pop(CONSENT)
        order = Order(**given)
        if problems := problems_of(order):
            raise Refused(problems, field="")
        exposure = order.exposure()
        if exposure and not is_allowed:
            problem = f"{exposure} Confirm it with allow_sealed_exposure: true."
            raise Refused([problem], field="allow_sealed_exposure")
        found = estimate(order)
        if not is_accepted(consent, found.calls[0]):
            calls, cost = dict(zip(("low", "high"), found.calls, strict=True)), found.cost_usd
            shown = {"calls": calls, "cost": {"low": cost, "high": None}}
            return Response(EstimateSerializer(shown).data)
        made = start(order, by=self.user)
        return self.shown(made, status.HTTP_201_CREATED)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Stop writing; drafts are kept."""
        return self._controlled(CONTROLS["cancel"])

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Write the missing drafts."""
        return self._controlled(CONTROLS["resume"])

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Retry exactly the failed drafts."""
        return self._controlled(CONTROLS["retry"])

    def _controlled(self, act: Callable[[Generation], object]) -> Response:
        row = self.get_object()
        act(row)
        return self.shown(row)


class DraftSerializer(RowSerializer):
    """A draft of a test. `meant` is what it is meant to show, `label` what the judge says.

    `expected` is the human verdict: an option, or first, second or tie of a pair; "" until there is
    one.
    """

    meant = serializers.CharField(read_only=True)
    messages = BoundedJSON(list[Message], read_only=True)
    failures = BoundedJSON(list[DraftFailure], read_only=True)
    decided_by = Name()

    class Meta:
        model = Draft
        fields = (
            *("id", "generation", "state", "decision", "meant", "option", "is_borderline"),
            *("winner", "messages", "context", "answer", "second_answer", "rationale", "label"),
            *("label_reason", "label_error", "expected", "was_edited", "dropped_for", "failures"),
            *("error_message", "decided_by", "decided_at", "test"),
        )


class DraftAcceptanceSerializer(PlainSerializer):
    """Acceptance of a draft: the human verdict, and its texts where they change."""

    expected = serializers.CharField(default="", allow_blank=True, max_length=60)
    prompt = LongText(required=False)
    answer = LongText(required=False)
    second_answer = LongText(required=False)


class DraftFilters(filters.FilterSet):
    generation = Id(field_name="generation_id")
    issue = Id(field_name="generation__issue_id")
    generator = Id(field_name="generation__generator_id")
    state = OneOf(ItemState)
    decision = OneOf(Decision)


class DraftViewSet(ReadableRows):
    """Drafts of tests. One becomes a test only once it is accepted."""

    queryset = Draft.objects.select_related("generation", "decided_by").order_by("-pk")
    serializer_class = DraftSerializer
    filterset_class = DraftFilters
    action_permissions = dict.fromkeys(("accept", "reject", "undo"), ADD_TEST)

    @extend_schema(request=DraftAcceptanceSerializer)
    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """Make a draft test of it, or what its batch is for."""
        row = self.get_object()
        texts = self.sent(request, DraftAcceptanceSerializer)
        expected = texts.pop("expected")
        decisions.accept(row, expected=expected, by=self.user, texts=decisions.Texts(**texts))
        return self.shown(row)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Reject it."""
        row = self.get_object()
        decisions.reject(row, by=self.user)
        return self.shown(row)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undo your decision; a test that was made of it is deleted if nobody used it."""
        row = self.get_object()
        decisions.undo_last([row.pk], by=self.user)
        return self.shown(row)
