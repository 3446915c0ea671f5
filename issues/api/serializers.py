from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from rest_framework import serializers

from evalhub.access.sealing.readers import READ_SEALED
from evalhub.api.fields import (
    BoundedJSON,
    JSONObject,
    LongText,
    Name,
    PlainSerializer,
    RowSerializer,
)
from evalhub.models import User
from issues.api.criteria import CriterionSerializer, FrozenCriterionSerializer
from issues.api.images import Messages
from issues.api.json_types import Message, RevisionContent
from issues.assignees import REFUSAL, assignable
from issues.content.conversation import check_messages, raw_prompt_problems
from issues.content.test_content import CONTENT, REMARKS, REVIEWED
from issues.lifecycle.merging import FIELDS as MERGED_FIELDS
from issues.lifecycle.states import ISSUE_MOVES, TEST_MOVES, review_again
from issues.models import (
    Comment,
    Issue,
    JudgeTemplate,
    ResolutionLabel,
    Revision,
    Source,
    Tag,
    TemplateState,
    Test,
)
from issues.rubrics.editing import replace

WITHHELD = {"description": "", "resolution_note": "", "sources": [], "comments": []}
"""Issue fields that may quote its tests, with their value for users who may not read those."""


class TagSerializer(RowSerializer):
    class Meta:
        model = Tag
        fields = ("id", "name", "kind", "parent")


class ResolutionLabelSerializer(RowSerializer):
    class Meta:
        model = ResolutionLabel
        fields = ("id", "name")


class IssueSourceSerializer(RowSerializer):
    class Meta:
        model = Source
        fields = ("kind", "value")


class CommentSerializer(RowSerializer):
    """A comment on an issue or a test."""

    author = Name()

    class Meta:
        model = Comment
        fields = ("id", "author", "author_name", "text", "created_at")
        read_only_fields = ("author_name",)


class AssigneeField(serializers.SlugRelatedField):
    default_error_messages = {"does_not_exist": REFUSAL}
    queryset = User.objects.all()

    def get_queryset(self) -> QuerySet[User]:
        issue = self.parent.instance
        return assignable(issue if isinstance(issue, Issue) else None)


class IssueSerializer(RowSerializer):
    """`tags` by name. `sources` replaces all of them. The state changes by `move` only.

    For an issue with sealed tests that you may not read, `is_readable` is false and the fields that
    may quote them are empty; read the public summary instead.
    """

    tags = serializers.SlugRelatedField(
        slug_field="name", queryset=Tag.objects.all(), many=True, required=False
    )
    assignee = AssigneeField(slug_field="username", allow_null=True, required=False)
    author = Name()
    resolution_labels: Any = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    sources = IssueSourceSerializer(many=True, required=False)
    comments = CommentSerializer(many=True, read_only=True)
    feedback: Any = serializers.PrimaryKeyRelatedField(many=True, read_only=True)
    is_readable = serializers.SerializerMethodField()

    class Meta:
        model = Issue
        fields = (
            *("id", "is_readable", "title", "description", "generic_statement"),
            *("state", "severity", "tags", "assignee", "author"),
            *("sources", "comments", "feedback", "resolution_labels", "resolution_note"),
            *("merged_into", "source_id", "created_at", "updated_at"),
        )
        read_only_fields = ("state", "resolution_note", "merged_into")

    def get_is_readable(self, issue: Any) -> bool:
        if hasattr(issue, "is_readable"):
            return bool(issue.is_readable)
        readers = Issue.objects.readable_by(self.context["request"].user)
        return bool(readers.filter(pk=issue.pk).exists())

    def to_representation(self, instance: Issue) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if shown["is_readable"] else shown | WITHHELD

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        hidden = sorted(attrs.keys() & WITHHELD.keys())
        if hidden and self.instance is not None and not self.get_is_readable(self.instance):
            problem = "Some of its tests are sealed: you can neither read nor replace this text."
            raise serializers.ValidationError(dict.fromkeys(hidden, problem))
        return super().validate(attrs)

    @transaction.atomic
    def save(self, **kwargs: Any) -> Issue:
        sources = self.validated_data.pop("sources", None)
        issue: Issue = super().save(**kwargs)
        if sources is not None:
            issue.sources.all().delete()
            Source.objects.bulk_create(Source(issue=issue, **source) for source in sources)
        return issue


class TestSerializer(RowSerializer):
    """The state changes by `move` only; editing an approved test sends it back to review.

    `tags` by name, besides those of the issue. `criteria` replaces the whole rubric: a known key
    changes that criterion, others are new, and criteria left out are deleted.
    """

    __test__ = False

    messages: Any = Messages(validators=[check_messages])
    tools = serializers.ListField(child=JSONObject(), required=False, max_length=500)
    tags = serializers.SlugRelatedField(
        slug_field="name", queryset=Tag.objects.all(), many=True, required=False
    )
    template = serializers.PrimaryKeyRelatedField(
        queryset=JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED),
        allow_null=True,
        required=False,
    )
    author = Name()
    criteria = CriterionSerializer(many=True, required=False)
    comments = CommentSerializer(many=True, read_only=True)

    class Meta:
        model = Test
        fields = (
            *("id", "issue", *CONTENT, "state", "origin", "author", "sealed", *REMARKS),
            *("comments", "source_id", "created_at", "updated_at"),
        )
        read_only_fields = ("state", "origin")

    def validate_sealed(self, sealed: bool) -> bool:
        if self.instance is not None and sealed != self.instance.sealed:
            raise serializers.ValidationError(
                "A reason is required: POST it to the test's `seal/` or `unseal/`."
            )
        if sealed and not self.context["request"].user.has_perm(READ_SEALED):
            raise serializers.ValidationError(
                "Only users who may read sealed tests can seal a test."
            )
        return sealed

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse what a raw prompt is not sent with."""
        default = self.instance or Test()
        asked = (
            attrs.get(name, getattr(default, name)) for name in ("messages", "tools", "context")
        )
        if problems := raw_prompt_problems(*asked):
            raise serializers.ValidationError(problems)
        return super().validate(attrs)

    @transaction.atomic
    def create(self, validated_data: dict[str, Any]) -> Test:
        criteria = validated_data.pop("criteria", [])
        test: Test = super().create(validated_data)
        replace(test, criteria, by=self.context["request"].user)
        return test

    @transaction.atomic
    def update(self, instance: Test, validated_data: dict[str, Any]) -> Test:
        criteria = validated_data.pop("criteria", None)
        given = {name: validated_data[name] for name in REVIEWED if name in validated_data}
        rewritten = any(getattr(instance, name) != value for name, value in given.items())
        if criteria is not None:
            rewritten |= replace(instance, criteria, by=self.context["request"].user)
        if rewritten:
            review_again(instance, self.context["request"].user)
        test: Test = super().update(instance, validated_data)
        return test


class ModelRequestSerializer(PlainSerializer):
    """Messages and tools as a run without a system prompt sends them.

    Content is null for a turn that the model generates. A raw_prompt is the only message: its text
    is sent as it is to the text-completion endpoint.
    """

    messages = BoundedJSON(list[Message])
    tools = serializers.ListField(child=JSONObject())


class SealingReasonSerializer(PlainSerializer):
    """Reason, at least 10 characters, kept on record."""

    reason = serializers.CharField(max_length=2000)


class EndRevealSerializer(PlainSerializer):
    """User whose access ends."""

    user = serializers.SlugRelatedField(slug_field="username", queryset=User.objects.all())


class RevealSerializer(SealingReasonSerializer, EndRevealSerializer):
    """User to reveal a test to, and the reason."""


class RevisionSerializer(RowSerializer):
    """Equal `asked_digest`: same input. Equal `digest`: also judged by the same rubric."""

    content = JSONObject(RevisionContent, read_only=True)
    criteria = FrozenCriterionSerializer(many=True, read_only=True)

    class Meta:
        model = Revision
        fields = (
            *("id", "test", "number", "content", "criteria"),
            *("template", "pass_threshold", "pass_rule"),
            *("asked_digest", "digest", "created_at"),
        )


class TestMoveSerializer(PlainSerializer):
    """A change of state."""

    move = serializers.ChoiceField([move.name for move in TEST_MOVES])


class IssueMoveSerializer(PlainSerializer):
    """A change of state. Resolving requires a label or a note."""

    move = serializers.ChoiceField([move.name for move in ISSUE_MOVES])
    labels = serializers.SlugRelatedField(
        slug_field="name", queryset=ResolutionLabel.objects.all(), many=True, required=False
    )
    note = LongText(required=False, allow_blank=True)


class MergeSerializer(PlainSerializer):
    """Issue to keep, and fields to take from the issue merged into it."""

    into: Any = serializers.PrimaryKeyRelatedField(queryset=Issue.objects.all())
    take = serializers.MultipleChoiceField(choices=MERGED_FIELDS, required=False)


class ReadinessSerializer(PlainSerializer):
    """Problems that block review, and the moves that you may make."""

    problems = serializers.ListField(child=serializers.CharField())
    moves = serializers.ListField(child=serializers.CharField())
