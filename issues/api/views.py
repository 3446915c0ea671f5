from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import ViewSet

from evalhub.access.request_limits import ExpensiveLimit
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.access.sealing.reveals import REVEAL, end, reveal
from evalhub.api.exports import ExportedRows
from evalhub.api.serializers import ExposureSerializer
from evalhub.api.views import Added, ReadableRows, Written
from evalhub.models import Exposure
from evalhub.refusals import Refused
from issues.api import export_columns, filters
from issues.api.bulk import BulkRows
from issues.api.criteria import CheckSerializer
from issues.api.feedback import SIMILAR, SimilarRowSerializer, similar_response
from issues.api.serializers import (
    CommentSerializer,
    EndRevealSerializer,
    IssueMoveSerializer,
    IssueSerializer,
    MergeSerializer,
    ModelRequestSerializer,
    ReadinessSerializer,
    ResolutionLabelSerializer,
    RevealSerializer,
    RevisionSerializer,
    SealingReasonSerializer,
    TagSerializer,
    TestMoveSerializer,
    TestSerializer,
)
from issues.api.templates import JudgeTemplateSerializer, with_parts
from issues.checks import CHECKS
from issues.content.conversation import request_messages
from issues.judge_templates.lifecycle import new_version, publish, retire
from issues.lifecycle import states
from issues.lifecycle.merging import active_merge, may_merge, merge, undo_merge
from issues.lifecycle.moves_with_tests import move_with_tests
from issues.lifecycle.sealing import seal, unseal
from issues.models import Issue, JudgeTemplate, ResolutionLabel, Revision, Tag, Test
from issues.similarity.search import ISSUE
from issues.tags import rename

PUBLISH = "issues.publish_judgetemplate"


class TagViewSet(Written):
    """Tags of issues and suites. Merge tags in the admin."""

    queryset = Tag.objects.order_by("-pk")
    serializer_class = TagSerializer
    filterset_class = filters.TagFilters
    ordering_fields = ("id", "name")

    @transaction.atomic
    def perform_update(self, serializer: BaseSerializer[Tag]) -> None:
        name = serializer.validated_data.pop("name", None)
        tag = serializer.save()
        if name is not None and name != tag.name:
            rename(tag, name, by=self.user)


class ResolutionLabelViewSet(Added):
    """Labels for resolved issues."""

    queryset = ResolutionLabel.objects.order_by("-pk")
    serializer_class = ResolutionLabelSerializer
    ordering_fields = ("id", "name")


class StateViewSet(Written):
    """Rows whose state changes by moves."""

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        serializer.save(author=self.request.user)

    def _move(self, request: Request) -> Response:
        row, sent = self.get_object(), self.sent(request)
        name = sent["move"]
        move = states.move_named(row, name)
        right = move.rights.get(row.state) if move else None
        if right and not request.user.has_perm(right):
            raise PermissionDenied(f"You need the right {right!r} to {name} {row}.")
        if name == "resolve" and isinstance(row, Issue):
            labels, note = sent.get("labels", []), sent.get("note", "")
            states.resolve(row, labels=labels, note=note, by=self.user)
        elif isinstance(row, Issue):
            move_with_tests(row, name, by=self.user)
        else:
            states.move(row, name, by=self.user)
        return self.shown(row)

    @extend_schema(responses=ReadinessSerializer)
    @action(detail=True, serializer_class=ReadinessSerializer)
    def readiness(self, request: Request, pk: str) -> Response:
        """List problems that block review, and the moves that you may make."""
        row = self.get_object()
        moves = [move.name for move in states.open_moves(row, request.user)]
        return Response({"problems": states.problems_of(row), "moves": moves})

    @extend_schema(responses={201: CommentSerializer})
    @action(detail=True, methods=["post"], serializer_class=CommentSerializer)
    def comments(self, request: Request, pk: str) -> Response:
        """Comment on it."""
        comment = self.get_object().comments.create(author=request.user, **self.sent(request))
        return Response(self.get_serializer(comment).data, status=status.HTTP_201_CREATED)


class IssueViewSet(BulkRows, ExportedRows, StateViewSet):
    """Issues. Their tests are listed at `tests/?issue=`."""

    queryset = (
        Issue.objects.select_related("assignee", "author")
        .prefetch_related("tags", "sources", "comments__author", "feedback", "resolution_labels")
        .order_by("-pk")
    )
    serializer_class = IssueSerializer
    filterset_class = filters.IssueFilters
    exported = export_columns.ISSUES
    ordering_fields = ("id", "created_at", "updated_at")
    action_permissions = {
        "move": states.CHANGE_ISSUE,
        "merge": states.CHANGE_ISSUE,
        "unmerge": states.CHANGE_ISSUE,
        "comments": "issues.add_comment",
        "bulk": "issues.add_issue",
    }

    def get_queryset(self) -> QuerySet[Issue]:
        readable = Issue.objects.readable_by(self.request.user).filter(pk=OuterRef("pk"))
        issues: QuerySet[Issue] = super().get_queryset()
        return issues.annotate(is_readable=Exists(readable.order_by()))

    @extend_schema(responses=IssueSerializer)
    @action(detail=True, methods=["post"], serializer_class=IssueMoveSerializer)
    def move(self, request: Request, pk: str) -> Response:
        """Change the state: review, approve, resolve, reopen, draft or deprecate."""
        return self._move(request)

    @extend_schema(responses=IssueSerializer)
    @action(detail=True, methods=["post"], serializer_class=MergeSerializer)
    def merge(self, request: Request, pk: str) -> Response:
        """Merge this issue into another and return that one."""
        issue, sent = self.get_object(), self.sent(request)
        kept = sent["into"]
        readable = Issue.objects.readable_by(request.user)
        if readable.filter(pk__in=[issue.pk, kept.pk]).count() < len({issue.pk, kept.pk}):
            raise PermissionDenied(
                "Merging issues with sealed tests requires the right to read sealed tests."
            )
        if not may_merge(issue, request.user):
            raise PermissionDenied(
                f"Merging {issue} into another requires the right to approve issues."
            )
        taken = dict.fromkeys(sent.get("take", ()), issue)
        merge([issue], kept, take=taken, by=self.user)
        return self.shown(kept)

    @extend_schema(request=None, responses=IssueSerializer)
    @action(detail=True, methods=["post"])
    def unmerge(self, request: Request, pk: str) -> Response:
        """Undo its merge into another issue: moved rows return."""
        issue = self.get_object()
        found = active_merge(issue)
        if found and not may_merge(Issue(state=found.state_before), request.user):
            raise PermissionDenied(
                f"Undoing the merge of {issue} requires the right to approve issues."
            )
        undo_merge(issue, by=self.user)
        return self.shown(issue)

    @extend_schema(parameters=SIMILAR, responses=SimilarRowSerializer(many=True), filters=False)
    @action(
        detail=False,
        pagination_class=None,
        filterset_class=None,
        throttle_classes=[ExpensiveLimit],
    )
    def similar(self, request: Request) -> Response:
        """List issues similar to a text, most similar first, with reasons."""
        return similar_response(request, ISSUE)


class TestViewSet(BulkRows, ExportedRows, StateViewSet):
    """Tests of issues. Sealed ones are visible only to users who may read them."""

    __test__ = False

    queryset = Test.objects.all()
    serializer_class = TestSerializer
    filterset_class = filters.TestFilters
    exported = export_columns.TESTS
    ordering_fields = ("id", "created_at", "updated_at")
    action_permissions = {
        "move": states.CHANGE_TEST,
        "seal": states.CHANGE_TEST,
        "comments": "issues.add_testcomment",
        "bulk": "issues.add_test",
        **dict.fromkeys(("unseal", "reveal", "end_reveal"), REVEAL),
    }

    def get_queryset(self) -> QuerySet[Test]:
        tests: QuerySet[Test] = Test.objects.readable_by(self.request.user)
        related = tests.select_related("issue", "template", "author")
        return related.prefetch_related("criteria", "tags", "comments__author").order_by("-pk")

    @extend_schema(responses=ModelRequestSerializer)
    @action(detail=True, url_path="request", serializer_class=ModelRequestSerializer)
    def model_request(self, request: Request, pk: str) -> Response:
        """Show the request that a model is sent, with the documents in it. Nothing is sent."""
        test = self.get_object()
        messages = request_messages(test.messages, test.context)
        return Response({"messages": messages, "tools": test.tools})

    @extend_schema(responses=TestSerializer)
    @action(detail=True, methods=["post"], serializer_class=TestMoveSerializer)
    def move(self, request: Request, pk: str) -> Response:
        """Change the state: review, approve, draft or deprecate."""
        return self._move(request)

    @extend_schema(responses=TestSerializer)
    @action(detail=True, methods=["post"], serializer_class=SealingReasonSerializer)
    def seal(self, request: Request, pk: str) -> Response:
        """Seal the test, so that only users who may read sealed tests see its text."""
        test = self.get_object()
        if not request.user.has_perm(READ_SEALED):
            raise PermissionDenied("Only users who may read sealed tests can seal a test.")
        seal(test, **self.sent(request), by=self.user)
        return self.shown(test)

    @extend_schema(responses=TestSerializer)
    @action(detail=True, methods=["post"], serializer_class=SealingReasonSerializer)
    def unseal(self, request: Request, pk: str) -> Response:
        """Open the test to everybody. Recorded as an exposure."""
        test = self.get_object()
        unseal(test, **self.sent(request), by=self.user)
        return self.shown(test)

    @extend_schema(responses={201: ExposureSerializer})
    @action(detail=True, methods=["post"], serializer_class=RevealSerializer)
    def reveal(self, request: Request, pk: str) -> Response:
        """Reveal this sealed test to one user. Recorded as an exposure."""
        test = self.get_object()
        if not test.sealed:
            raise Refused([f"{test} is not sealed: everybody can read it."])
        exposure = reveal(test.pk, **self.sent(request), by=self.user)
        shown = ExposureSerializer(exposure, context={"shows_all": True})
        return Response(shown.data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=ExposureSerializer)
    @action(detail=True, methods=["post"], serializer_class=EndRevealSerializer)
    def end_reveal(self, request: Request, pk: str) -> Response:
        """End a user's access. The exposure stays on record."""
        test, sent = self.get_object(), self.sent(request)
        rows = Exposure.objects.filter(test=test.pk).revealed_to(sent["user"])
        exposure = get_object_or_404(rows)
        end(exposure, by=self.user)
        exposure.refresh_from_db()
        return Response(ExposureSerializer(exposure, context={"shows_all": True}).data)


class JudgeTemplateViewSet(Written):
    """Judge prompts and scales. Drafts change; published versions are fixed."""

    queryset = JudgeTemplate.objects.order_by("-pk")
    serializer_class = JudgeTemplateSerializer
    filterset_class = filters.JudgeTemplateFilters
    action_permissions = {
        "publish": PUBLISH,
        "retire": PUBLISH,
        "new_version": "issues.add_judgetemplate",
    }

    def get_queryset(self) -> QuerySet[JudgeTemplate]:
        templates: QuerySet[JudgeTemplate] = super().get_queryset()
        return with_parts(templates, self.user)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def publish(self, request: Request, pk: str) -> Response:
        """Publish the draft: tests can use it, and it can no longer change."""
        template = self.get_object()
        publish(template, by=self.user)
        return self.shown(template)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, pk: str) -> Response:
        """Retire the version; tests that use it keep it."""
        template = self.get_object()
        retire(template, by=self.user)
        return self.shown(template)

    @extend_schema(request=None, responses={201: JudgeTemplateSerializer})
    @action(detail=True, methods=["post"])
    def new_version(self, request: Request, pk: str) -> Response:
        """Create a draft with the next version number as a copy."""
        draft = new_version(self.get_object(), by=self.user)
        return self.shown(draft, status.HTTP_201_CREATED)


class CheckViewSet(ViewSet):
    """List the checks that a criterion may use, with their arguments."""

    permission_required = "issues.view_test"

    @extend_schema(responses=CheckSerializer(many=True))
    def list(self, request: Request) -> Response:
        return Response(CheckSerializer(list(CHECKS.values()), many=True).data)


class RevisionViewSet(ReadableRows):
    """Tests as frozen at launch; results refer to these."""

    queryset = Revision.objects.prefetch_related("criteria").order_by("-pk")
    serializer_class = RevisionSerializer
    filterset_class = filters.RevisionFilters
