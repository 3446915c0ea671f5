"""Feedback API: create one or many, triage, and search for similar."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.access.models import TokenScope
from evalhub.access.request_limits import ExpensiveLimit
from evalhub.api.errors import Conflict
from evalhub.api.exports import ExportedRows
from evalhub.api.fields import BoundedJSON, JSONObject, PlainSerializer, RowSerializer
from evalhub.api.filters import refuse_unknown
from evalhub.api.views import ReadableRows, Written
from issues.api import filters
from issues.api.export_columns import FEEDBACK as FEEDBACK_COLUMNS
from issues.api.images import Messages
from issues.api.json_types import Message
from issues.content.feedback_content import SENT, TRIAGE, says_nothing
from issues.content.feedback_messages import with_conversation
from issues.limits import MAX_FEEDBACK_AT_ONCE
from issues.models import Feedback, FeedbackState
from issues.similarity.search import FEEDBACK, LONGEST, similar
from issues.triage.actions import follow, locked, mark_duplicate
from issues.triage.erasure import erase
from issues.triage.intake import take_in

SIMILAR = [
    OpenApiParameter("text", str, required=True, description="Text to compare with."),
    OpenApiParameter("limit", int, description="From 1 to 20; default 5."),
]


class FeedbackSerializer(RowSerializer):
    """Feedback from an application, with a prompt, answer, comment or rating.

    `messages` are a whole conversation, as chat models take it. Its last turn, if the
    application's, becomes the `answer`, and its last user message the `prompt`.
    """

    messages: Any = Messages(required=False)
    raw = JSONObject(required=False)

    class Meta:
        model = Feedback
        fields = ("id", *SENT, *TRIAGE, "created_at", "erased_at")
        read_only_fields: tuple[str, ...] = (*TRIAGE, "erased_at")
        # What has the id of earlier feedback is no error: it is answered with that.
        validators: tuple[Any, ...] = ()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            attrs = with_conversation(attrs)
        except ValueError as error:
            raise serializers.ValidationError({"messages": [str(error)]}) from error
        if says_nothing(attrs):
            raise serializers.ValidationError("Send a prompt, an answer, a comment or a rating.")
        row = {name: value for name, value in attrs.items() if name != "source_id"}
        super().validate(row)
        return attrs


class KnownFeedbackSerializer(RowSerializer):
    """Feedback that was sent before; a token that may read is answered with the whole row."""

    class Meta:
        model = Feedback
        fields = ("id", "source", "source_id")


class FeedbackTriageSerializer(RowSerializer):
    """Triage of feedback: the texts stay as received."""

    messages = BoundedJSON(list[Message], read_only=True)
    raw = JSONObject(read_only=True)

    class Meta(FeedbackSerializer.Meta):
        read_only_fields = (*SENT, "created_at", "erased_at")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Setting an original makes it a duplicate; any other state clears the original."""
        row = self.instance
        if attrs.get("duplicate_of") is not None:
            attrs.setdefault("state", FeedbackState.DUPLICATE)
        state = attrs.get("state", row.state if row else "")
        if state != FeedbackState.DUPLICATE:
            if attrs.get("duplicate_of") is not None:
                raise ValidationError({"duplicate_of": ["Only a duplicate has an original."]})
            attrs["duplicate_of"] = None
        elif attrs.get("duplicate_of", row.duplicate_of if row else None) is None:
            raise ValidationError(
                {"duplicate_of": ["Set `duplicate_of` to the original feedback."]}
            )
        return super().validate(attrs)

    @transaction.atomic
    def update(self, instance: Feedback, validated_data: dict[str, Any]) -> Feedback:
        by, row = self.context["request"].user, locked(instance.pk)
        original = validated_data.pop("duplicate_of", None)
        if original is not None:
            row.note = validated_data.get("note", row.note)
            mark_duplicate(row, original, by=by)
            return row
        if validated_data.get("state", row.state) != FeedbackState.DUPLICATE:
            row.duplicate_of = None
        changed: Feedback = super().update(row, validated_data)
        follow(changed, by=by)
        return changed


class FeedbackBatchRowSerializer(PlainSerializer):
    """Outcome of one row of a batch: added, or a duplicate; null is one that you may not read."""

    id = serializers.IntegerField(allow_null=True)
    state = serializers.ChoiceField(["added", "duplicates"])


class FeedbackBatchSerializer(PlainSerializer):
    """A batch of rows. If any row is invalid, nothing is saved."""

    feedback = serializers.ListField(
        child=serializers.JSONField(), min_length=1, max_length=MAX_FEEDBACK_AT_ONCE
    )


class FeedbackBatchResultSerializer(PlainSerializer):
    """Results in the order sent."""

    added = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    results = FeedbackBatchRowSerializer(many=True)


class SimilarRowSerializer(PlainSerializer):
    """A similar issue or feedback item, with similarity from 0 to 1 and the reason."""

    kind = serializers.CharField()
    id = serializers.IntegerField(source="pk")
    title = serializers.CharField()
    score = serializers.FloatField()
    why = serializers.CharField()
    state = serializers.CharField()
    issue = serializers.IntegerField(source="issue_id", allow_null=True)


def similar_response(request: Request, kind: str) -> Response:
    """Return rows similar to the text in the request."""
    refuse_unknown(request, ("text", "limit"))
    text, limit = request.query_params.get("text", ""), request.query_params.get("limit", "5")
    if not text.strip():
        raise ValidationError({"text": ["Send a text to compare, such as ?text=…"]})
    if not (limit.isascii() and limit.isdecimal() and len(limit) <= 2 and 1 <= int(limit) <= 20):
        raise ValidationError({"limit": ["Choose a limit from 1 to 20."]})
    found = similar(text[:LONGEST], reader=request.user, kinds=[kind], limit=int(limit))
    return Response(SimilarRowSerializer(found, many=True).data)


class FeedbackViewSet(ExportedRows, ReadableRows, Written):
    """Feedback of end users. POST adds it, PATCH triages it.

    POST with a `source_id` of your own, unique in its `source`: sending it again returns 200 and
    the existing row, unchanged; to a token for feedback, its id alone. Feedback of issues with a
    sealed test is visible only to users who may read sealed tests.
    """

    queryset = Feedback.objects.order_by("-pk")
    serializer_class = FeedbackSerializer
    filterset_class = filters.FeedbackFilters
    exported = FEEDBACK_COLUMNS
    ordering_fields = ("id", "created_at")
    action_permissions = {"batch": "issues.add_feedback", "erase": "issues.erase_feedback"}
    takes_feedback = ("create", "batch")

    def get_serializer_class(self) -> Any:
        return FeedbackTriageSerializer if self.action == "partial_update" else FeedbackSerializer

    @extend_schema(responses={200: KnownFeedbackSerializer, 201: FeedbackSerializer})
    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        received = take_in([self.sent(request)], by=self.user, reason="Sent to the API")
        if received.added:
            return self.shown(received.added[0], status.HTTP_201_CREATED)
        there = self.get_queryset().filter(pk=received.duplicates[0]).first()
        if there is None:
            raise Conflict("Feedback with this source_id exists already, and you may not read it.")
        if getattr(request.auth, "scope", "") == TokenScope.FEEDBACK:  # it reads nothing
            return Response(KnownFeedbackSerializer(there).data)
        return self.shown(there)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def erase(self, request: Request, pk: str | None = None) -> Response:
        """Erase its texts, in all versions, and images that nothing else uses; for good."""
        erase([self.get_object()], by=self.user)
        return self.shown(self.get_object())

    @extend_schema(
        request=FeedbackBatchSerializer,
        responses={200: FeedbackBatchResultSerializer, 201: FeedbackBatchResultSerializer},
    )
    @action(detail=False, methods=["post"], serializer_class=FeedbackBatchSerializer)
    def batch(self, request: Request) -> Response:
        """Send up to 500 rows; those whose `source` sent their `source_id` before change nothing.

        Nor does one that comes twice in a batch: `results` has the id of the first.
        """
        rows = self._rows(self.sent(request, FeedbackBatchSerializer)["feedback"])
        received = take_in(rows, by=self.user, reason="Sent to the API")
        known = self.get_queryset().filter(pk__in=received.duplicates.values())
        readable = set(known.values_list("pk", flat=True))
        results = [
            {"id": received.added[n].pk, "state": "added"}
            if n in received.added
            else {
                "id": pk if (pk := received.duplicates[n]) in readable else None,
                "state": "duplicates",
            }
            for n in range(len(rows))
        ]
        counts = {"added": len(received.added), "duplicates": len(received.duplicates)}
        code = status.HTTP_201_CREATED if received.added else status.HTTP_200_OK
        return Response({**counts, "results": results}, status=code)

    def _rows(self, sent: list[Any]) -> list[dict[str, Any]]:
        """Return the rows if all are valid.

        Raises:
            ValidationError: Some are not; errors under `feedback` by place, counted from 0.
        """
        bodies = [
            FeedbackSerializer(data=row, context=self.get_serializer_context()) for row in sent
        ]
        errors: dict[str, Any] = {
            str(n): body.errors for n, body in enumerate(bodies) if not body.is_valid()
        }
        if errors:
            raise ValidationError({"feedback": errors})
        return [body.validated_data for body in bodies]

    @extend_schema(parameters=SIMILAR, responses=SimilarRowSerializer(many=True), filters=False)
    @action(
        detail=False,
        pagination_class=None,
        filterset_class=None,
        throttle_classes=[ExpensiveLimit],
    )
    def similar(self, request: Request) -> Response:
        """List feedback similar to a text, most similar first, with reasons."""
        return similar_response(request, FEEDBACK)
