from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.api.fields import LongText, Name, RowSerializer
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import Run
from runs.review.blindness import is_hidden
from runs.review.models import Assignment, Queue, ReviewItem
from runs.review.requirements import requirements_for
from runs.review.submission import MOST_TEXT, ReviewSubmission, Verdict

LONGEST_S = 24 * 3600


class QueueSerializer(RowSerializer):
    """Results that deserve a person, and how they are reviewed.

    Runs of the suite `follows` are added by themselves. `random_share` of what is added is drawn at
    random. Close a queue with the state "closed": what was said in it is kept.
    """

    created_by = Name()

    class Meta:
        model = Queue
        fields = (
            "id",
            "name",
            "instructions",
            "follows",
            "reviewers",
            "random_share",
            "blind",
            "scope",
            "reasoning",
            "reserved_minutes",
            "state",
            "created_by",
            "created_at",
        )


class AddRunSerializer(serializers.Serializer):
    run = serializers.PrimaryKeyRelatedField(queryset=Run.objects.all())


class AddedSerializer(serializers.Serializer):
    """How many items were added, how many of these at random, and how many were there already."""

    added = serializers.IntegerField()
    random = serializers.IntegerField()
    already = serializers.IntegerField()


class QueueProgressSerializer(serializers.Serializer):
    """`open` are places that somebody can take now."""

    items = serializers.IntegerField()
    assignments = serializers.IntegerField()
    submitted = serializers.IntegerField()
    reserved = serializers.IntegerField()
    open = serializers.IntegerField()
    skipped = serializers.IntegerField()
    sent_back = serializers.IntegerField()


class ReasonSerializer(serializers.Serializer):
    key = serializers.CharField()
    description = serializers.CharField()


class ItemSerializer(RowSerializer):
    """`reasons` say why it is there, the gravest first; null where you review it blind."""

    reasons = serializers.SerializerMethodField()
    states = serializers.SerializerMethodField()

    class Meta:
        model = ReviewItem
        fields = (
            "id",
            "queue",
            "result",
            "reasons",
            "is_random",
            "states",
            "created_at",
        )

    @extend_schema_field(ReasonSerializer(many=True, allow_null=True))
    def get_reasons(self, item: ReviewItem) -> Any:
        return None if getattr(item, "is_hidden", True) else item.reasons

    def get_states(self, item: ReviewItem) -> list[str]:
        """The state of each of its places."""
        return [assignment.state for assignment in item.assignments.all()]


class AssignmentSerializer(RowSerializer):
    """Room for one reviewer of an item. What was typed and noted is told to whose it is."""

    annotator = Name()
    result = serializers.IntegerField(source="item.result_id", read_only=True)
    draft = serializers.SerializerMethodField()
    note = serializers.SerializerMethodField()
    sent_back_note = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields: tuple[str, ...] = (
            "id",
            "queue",
            "item",
            "result",
            "number",
            "state",
            "annotator",
            "reserved_until",
            "submitted_at",
            "seconds",
            "draft",
            "note",
            "sent_back_note",
        )

    def _is_mine(self, assignment: Assignment) -> bool:
        return (
            assignment.annotator_id is not None
            and assignment.annotator_id == self.context["reader"]
        )

    def get_draft(self, assignment: Assignment) -> dict[str, Any]:
        return assignment.draft if self._is_mine(assignment) else {}

    def get_note(self, assignment: Assignment) -> str:
        return assignment.note if self._is_mine(assignment) else ""

    def get_sent_back_note(self, assignment: Assignment) -> str:
        return assignment.sent_back_note if self._is_mine(assignment) else ""


class QuestionSerializer(serializers.Serializer):
    """What may be decided, and with which options; `key` "" is the answer as a whole."""

    key = serializers.CharField(source="criterion.key")
    text = serializers.CharField(source="criterion.text")
    options = serializers.SerializerMethodField()

    def get_options(self, question: Any) -> list[str]:
        return [option.label for option in question.scale.options]


class TakenSerializer(AssignmentSerializer):
    """A place that is yours to review. `is_hidden`: judges' verdicts are not to be looked at yet.

    `scope` is whole, criteria or either; `needed` are keys of criteria that need a verdict where
    criteria are reviewed.
    """

    questions = serializers.SerializerMethodField()
    scope = serializers.SerializerMethodField()
    needed = serializers.SerializerMethodField()
    is_hidden = serializers.SerializerMethodField()

    class Meta(AssignmentSerializer.Meta):
        fields = (*AssignmentSerializer.Meta.fields, "questions", "scope", "needed", "is_hidden")

    def to_representation(self, assignment: Assignment) -> Any:
        self._demands = requirements_for(assignment)
        return super().to_representation(assignment)

    @extend_schema_field(QuestionSerializer(many=True))
    def get_questions(self, assignment: Assignment) -> Any:
        return QuestionSerializer(list(self._demands.questions.values()), many=True).data

    def get_scope(self, assignment: Assignment) -> str:
        return self._demands.scope

    def get_needed(self, assignment: Assignment) -> list[str]:
        return sorted(self._demands.needed)

    def get_is_hidden(self, assignment: Assignment) -> bool:
        return is_hidden(assignment)


class GivenVerdictSerializer(serializers.Serializer):
    criterion = serializers.CharField(max_length=40, allow_blank=True, default=WHOLE_TEST)
    option = serializers.CharField(max_length=60)
    justification = LongText(allow_blank=True, default="", max_length=MOST_TEXT)


class SubmissionSerializer(serializers.Serializer):
    """The verdicts of a review: one on the whole, or one on each criterion."""

    verdicts = GivenVerdictSerializer(many=True)
    note = LongText(allow_blank=True, default="", max_length=MOST_TEXT)
    correction = LongText(allow_blank=True, default="", max_length=MOST_TEXT)
    seconds = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=LONGEST_S
    )

    def submission(self) -> ReviewSubmission:
        """What was sent, of a body that is valid."""
        given = self.validated_data
        verdicts = tuple(Verdict(**verdict) for verdict in given["verdicts"])
        return ReviewSubmission(verdicts, given["note"], given["correction"], given.get("seconds"))


class SubmittedSerializer(serializers.Serializer):
    """`agrees` with the judges; null: they gave no verdict. `is_new` false: it was there before."""

    assignment = AssignmentSerializer()
    agrees = serializers.BooleanField(allow_null=True)
    is_new = serializers.BooleanField()


class SkipSerializer(serializers.Serializer):
    reason = LongText(max_length=MOST_TEXT)


class SendBackSerializer(serializers.Serializer):
    note = LongText(max_length=MOST_TEXT)
