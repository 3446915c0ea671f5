from django.db.models import Exists, OuterRef
from django_filters import rest_framework as filters

from evalhub.api.filters import Id, OneOf, YesNo
from runs.review.models import Assignment, AssignmentState, QueueState, ReviewItemQuerySet
from runs.review.reasons import RANDOM, REASONS


class QueueFilters(filters.FilterSet):
    name = filters.CharFilter()
    state = OneOf(QueueState)
    follows = Id(field_name="follows_id")


class ItemFilters(filters.FilterSet):
    queue = Id(field_name="queue_id")
    result = Id(field_name="result_id")
    run = Id(field_name="result__run_id")
    is_random = YesNo()
    reason = filters.ChoiceFilter(choices=list(REASONS.items()), method="for_reason")
    state = filters.ChoiceFilter(choices=AssignmentState.choices, method="with_assignment")

    def for_reason(self, items: ReviewItemQuerySet, name: str, key: str) -> ReviewItemQuerySet:
        """Filter by reason, leaving out items whose reasons are hidden from the reader."""
        found = items.for_reason(key)
        return found if key == RANDOM else found.filter(is_hidden=False)

    def with_assignment(
        self, items: ReviewItemQuerySet, name: str, state: str
    ) -> ReviewItemQuerySet:
        return items.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), state=state)))


class AssignmentFilters(filters.FilterSet):
    queue = Id(field_name="queue_id")
    item = Id(field_name="item_id")
    result = Id(field_name="item__result_id")
    state = OneOf(AssignmentState)
    annotator = filters.CharFilter(field_name="annotator__username")
