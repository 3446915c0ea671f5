from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Cast
from django_filters import rest_framework as filters

from evalhub.api.filters import Id, OneOf, YesNo
from runs.review.models import Assignment, AssignmentState, QueueState, ReviewItem
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
    reason = filters.ChoiceFilter(choices=list(REASONS.items()), method="there_for")
    state = filters.ChoiceFilter(choices=AssignmentState.choices, method="with_assignment")

    def there_for(self, items: QuerySet[ReviewItem], name: str, key: str) -> QuerySet[ReviewItem]:
        """Filter by reason, leaving out items whose reasons are hidden from the reader.

        Search the key in the text of the JSON: SQLite cannot query lists of objects.
        """
        if key == RANDOM:
            return items.filter(is_random=True)
        description = items.alias(description=Cast("reasons", CharField()))
        return description.filter(Q(is_hidden=False), description__contains=f'"key": "{key}"')

    def with_assignment(
        self, items: QuerySet[ReviewItem], name: str, state: str
    ) -> QuerySet[ReviewItem]:
        return items.filter(Exists(Assignment.objects.filter(item=OuterRef("pk"), state=state)))


class AssignmentFilters(filters.FilterSet):
    queue = Id(field_name="queue_id")
    item = Id(field_name="item_id")
    result = Id(field_name="item__result_id")
    state = OneOf(AssignmentState)
    annotator = filters.CharFilter(field_name="annotator__username")
