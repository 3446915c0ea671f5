import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from evalhub.api.errors import Conflict
from evalhub.api.views import ReadableRows, ReadOnly, Rows, Written
from runs.models import HumanEvaluation
from runs.review.api import filters, serializers
from runs.review.assignment_actions import send_back, skip, submit, undo
from runs.review.models import Assignment, BlindMode, Queue, ReviewItem
from runs.review.progress import progress
from runs.review.queue_items import add_assignments, add_runs
from runs.review.reservations import ANSWERED, LOST, NoAssignment, release, take, take_item

REVIEW = "review.review_results"
CHANGE = "review.change_queue"


class ReviewActions(Rows):
    """Actions of reviewers: 409 if somebody else has the assignment, or it is done otherwise."""

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, NoAssignment):
            exc = Conflict(str(exc))
        elif isinstance(exc, ValidationError) and getattr(exc, "code", None) in (LOST, ANSWERED):
            exc = Conflict(" ".join(exc.messages))
        return super().handle_exception(exc)

    def taken(self, assignment: Assignment) -> Response:
        context = self.get_serializer_context()
        return Response(serializers.TakenAssignmentSerializer(assignment, context=context).data)


class QueueViewSet(ReviewActions, Written):
    """Queues of results for human review."""

    queryset = Queue.objects.select_related("created_by").order_by("-pk")
    serializer_class = serializers.QueueSerializer
    filterset_class = filters.QueueFilters
    ordering_fields = ("id", "name")
    action_permissions = {
        "add_run": CHANGE,
        "progress": "review.view_queue",
        "take": REVIEW,
        "undo": REVIEW,
    }

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.save(seed=secrets.randbits(53), created_by=self.request.user)

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        add_assignments(serializer.save())

    @extend_schema(
        request=serializers.AddRunSerializer, responses={200: serializers.AddedToQueueSerializer}
    )
    @action(detail=True, methods=["post"])
    def add_run(self, request: Request, pk: str) -> Response:
        """Add a run's answers that need review, plus a random sample. Repeating adds nothing."""
        queue = self.get_object()
        run = self.sent(request, serializers.AddRunSerializer)["run"]
        return Response(add_runs(queue, run)._asdict())

    @extend_schema(responses=serializers.QueueProgressSerializer)
    @action(detail=True, methods=["get"])
    def progress(self, request: Request, pk: str) -> Response:
        """Progress of the queue."""
        return Response(progress(self.get_object())._asdict())

    @extend_schema(request=None, responses={200: serializers.TakenAssignmentSerializer, 204: None})
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Reserve your next assignment; repeating returns the same one. 204: none left."""
        assignment = take(self.get_object(), by=self.user)
        return self.taken(assignment) if assignment else Response(status=204)

    @extend_schema(request=None, responses={200: serializers.TakenAssignmentSerializer, 204: None})
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undo your last submission or skip and get the assignment back. 204: nothing to undo."""
        assignment = undo(self.get_object(), by=self.user)
        return self.taken(assignment) if assignment else Response(status=204)


class ItemViewSet(ReviewActions, ReadOnly):
    """Items of queues, with the reasons for their review."""

    queryset = ReviewItem.objects.all()
    serializer_class = serializers.ReviewItemSerializer
    filterset_class = filters.ItemFilters
    action_permissions = {"take": REVIEW}

    def get_queryset(self) -> QuerySet[ReviewItem]:
        user = self.request.user
        mine = HumanEvaluation.objects.filter(result=OuterRef("result"), annotator=user.pk)
        is_blind = Q(queue__blind=BlindMode.ALL) | Q(queue__blind=BlindMode.RANDOM, is_random=True)
        shown = Q(pk__isnull=False) if user.has_perm(CHANGE) else Exists(mine)
        rows: QuerySet[ReviewItem] = ReviewItem.objects.readable_by(user)
        rows = rows.annotate(is_hidden=is_blind & ~Q(shown))
        return rows.prefetch_related("assignments").order_by("-pk")

    @extend_schema(request=None, responses=serializers.TakenAssignmentSerializer)
    @action(detail=True, methods=["post"])
    def take(self, request: Request, pk: str) -> Response:
        """Reserve an assignment of this item."""
        return self.taken(take_item(self.get_object(), by=self.user))


class AssignmentViewSet(ReviewActions, ReadableRows):
    """Assignments of items to annotators. Take one from its queue."""

    queryset = Assignment.objects.select_related("annotator", "queue", "item").order_by("-pk")
    serializer_class = serializers.AssignmentSerializer
    filterset_class = filters.AssignmentFilters
    action_permissions = {
        "submit": REVIEW,
        "skip": REVIEW,
        "release": REVIEW,
        "send_back": "review.send_back",
    }

    @extend_schema(
        request=serializers.ReviewSubmissionSerializer,
        responses=serializers.SubmittedReviewSerializer,
    )
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: str) -> Response:
        """Submit your review. Repeating it does nothing; another one is refused until you undo."""
        assignment = self.get_object()
        given = self.sent(request, serializers.ReviewSubmissionSerializer)
        submission = serializers.submission_of(given)
        found = submit(assignment, submission, by=self.user)
        shown = self.shown(assignment).data
        return Response({"assignment": shown, "agrees": found.agrees, "is_new": found.is_new})

    @extend_schema(request=serializers.SkipSerializer, responses=serializers.AssignmentSerializer)
    @action(detail=True, methods=["post"])
    def skip(self, request: Request, pk: str) -> Response:
        """Skip the item; it is not offered to you again."""
        assignment = self.get_object()
        reason = self.sent(request, serializers.SkipSerializer)["reason"]
        skip(assignment, reason, by=self.user)
        return self.shown(assignment)

    @extend_schema(request=None, responses=serializers.AssignmentSerializer)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        """Release the assignment without a verdict."""
        assignment = self.get_object()
        release(assignment, by=self.user)
        return self.shown(assignment)

    @extend_schema(
        request=serializers.SendBackSerializer, responses=serializers.AssignmentSerializer
    )
    @action(detail=True, methods=["post"])
    def send_back(self, request: Request, pk: str) -> Response:
        """Ask the annotator to review again. Their verdict counts until they resubmit."""
        assignment = self.get_object()
        note = self.sent(request, serializers.SendBackSerializer)["note"]
        send_back(assignment, note, by=self.user)
        return self.shown(assignment)
