from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.api.fields import LongText, Name, PlainSerializer, RowSerializer
from issues.rubrics.scoring import WHOLE_TEST
from runs.models import Run
from runs.review.models import Assignment, Queue, ReviewItem
from runs.review.pair_items import pair_shown
from runs.review.requirements import requirements_for
from runs.review.review_draft import MAX_SECONDS, MAX_TEXT, ReviewSubmission, Verdict


class QueueSerializer(RowSerializer):
    """A queue of results for human review, with its settings.

    Completed runs of the suite `follows` are added automatically. `random_share` is the share of
    items drawn at random. Set `state` to "closed" to close the queue; its reviews are kept.
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
            "ties",
            "reasoning",
            "reserved_minutes",
            "state",
            "created_by",
            "created_at",
        )


class AddRunSerializer(PlainSerializer):
    run = serializers.PrimaryKeyRelatedField(queryset=Run.objects.all())


class AddedToQueueSerializer(PlainSerializer):
    """Numbers of items added, of random ones among them, and of items already in the queue."""

    added = serializers.IntegerField()
    random = serializers.IntegerField()
    already = serializers.IntegerField()


class QueueProgressSerializer(PlainSerializer):
    """Progress of a queue. `open`: assignments that can be taken now."""

    items = serializers.IntegerField()
    assignments = serializers.IntegerField()
    submitted = serializers.IntegerField()
    reserved = serializers.IntegerField()
    open = serializers.IntegerField()
    skipped = serializers.IntegerField()
    sent_back = serializers.IntegerField()


class ReviewReasonSerializer(PlainSerializer):
    key = serializers.CharField()
    description = serializers.CharField()


class ReviewItemSerializer(RowSerializer):
    """An item of a queue. `reasons`: most severe first; null in a blind review of yours."""

    reasons = serializers.SerializerMethodField()
    states = serializers.SerializerMethodField()

    class Meta:
        model = ReviewItem
        fields = (
            "id",
            "queue",
            "result",
            "other",
            "reasons",
            "is_random",
            "states",
            "created_at",
        )

    @extend_schema_field(ReviewReasonSerializer(many=True, allow_null=True))
    def get_reasons(self, item: ReviewItem) -> Any:
        return None if getattr(item, "is_hidden", True) else item.reasons

    def get_states(self, item: ReviewItem) -> list[str]:
        """The states of its assignments."""
        return [assignment.state for assignment in item.assignments.all()]


class AssignmentSerializer(RowSerializer):
    """An item's place for one reviewer. Draft and notes are shown to the reviewer only."""

    annotator = Name()
    result = serializers.IntegerField(source="item.result_id", read_only=True)
    other = serializers.IntegerField(source="item.other_id", read_only=True, allow_null=True)
    draft = serializers.DictField(read_only=True)

    class Meta:
        model = Assignment
        fields: tuple[str, ...] = (
            "id",
            "queue",
            "item",
            "result",
            "other",
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
        read_only_fields = ("note", "sent_back_note")

    def to_representation(self, assignment: Assignment) -> Any:
        shown = super().to_representation(assignment)
        reader = self.context["request"].user
        is_own = assignment.annotator_id is not None and assignment.annotator_id == reader.pk
        return shown if is_own else {**shown, "draft": {}, "note": "", "sent_back_note": ""}


class EvaluationPointSerializer(PlainSerializer):
    """A point to evaluate, with its options; `key` "" is the answer as a whole."""

    key = serializers.CharField(source="criterion.key")
    text = serializers.CharField(source="criterion.text")
    options = serializers.SerializerMethodField()

    def get_options(self, point: Any) -> list[str]:
        return [option.label for option in point.scale.options]


class TakenAssignmentSerializer(AssignmentSerializer):
    """An assignment of yours. `is_hidden`: a blind review.

    `scope` is whole, criteria, either or pairs; `needed` has the keys of the criteria to evaluate
    in a review by criteria. A pair has its `answers` as you see them: submit one verdict with the
    option a, b, or e (equal).
    """

    points = serializers.SerializerMethodField()
    answers = serializers.SerializerMethodField()
    scope = serializers.CharField(source="requirements.scope", read_only=True)
    needed = serializers.ListField(
        source="requirements.needed", child=serializers.CharField(), read_only=True
    )
    is_hidden = serializers.BooleanField(source="requirements.is_hidden", read_only=True)

    class Meta(AssignmentSerializer.Meta):
        own = ("points", "scope", "needed", "is_hidden", "answers")
        fields = (*AssignmentSerializer.Meta.fields, *own)

    def to_representation(self, assignment: Assignment) -> Any:
        assignment.requirements = requirements_for(assignment)  # type: ignore[attr-defined]
        return super().to_representation(assignment)

    @extend_schema_field(serializers.ListField(child=serializers.CharField(), allow_null=True))
    def get_answers(self, assignment: Any) -> list[str] | None:
        """Return the texts of A and B; null for a single answer."""
        if not assignment.item.other_id:
            return None
        case = pair_shown(assignment, self.context["request"].user).case
        return [case.first, case.second]

    @extend_schema_field(EvaluationPointSerializer(many=True))
    def get_points(self, assignment: Any) -> Any:
        points = assignment.requirements.points.values()
        return EvaluationPointSerializer(points, many=True).data


class GivenVerdictSerializer(PlainSerializer):
    criterion = serializers.CharField(max_length=40, allow_blank=True, default=WHOLE_TEST)
    option = serializers.CharField(max_length=60)
    justification = LongText(allow_blank=True, default="", max_length=MAX_TEXT)


class ReviewSubmissionSerializer(PlainSerializer):
    """The verdicts of a review: one on the whole, or one on each criterion."""

    verdicts = GivenVerdictSerializer(many=True)
    note = LongText(allow_blank=True, default="", max_length=MAX_TEXT)
    correction = LongText(allow_blank=True, default="", max_length=MAX_TEXT)
    seconds = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MAX_SECONDS
    )


def submission_of(given: dict[str, Any]) -> ReviewSubmission:
    """Return the submission of a valid body."""
    verdicts = tuple(Verdict(**verdict) for verdict in given["verdicts"])
    return ReviewSubmission(verdicts, given["note"], given["correction"], given.get("seconds"))


class SubmittedReviewSerializer(PlainSerializer):
    """A submission. `agrees` with the judges; null: no verdict. `is_new` false: a repetition."""

    assignment = AssignmentSerializer()
    agrees = serializers.BooleanField(allow_null=True)
    is_new = serializers.BooleanField()


class SkipSerializer(PlainSerializer):
    reason = LongText(max_length=MAX_TEXT)


class SendBackSerializer(PlainSerializer):
    note = LongText(max_length=MAX_TEXT)
