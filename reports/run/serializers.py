"""The form of a run's progress, for the API schema."""

from rest_framework import serializers

from evalhub.api.fields import PlainSerializer
from evalhub.models import BatchState
from runs.models import Outcome

Counts = type(
    "OutcomeCountsSerializer",
    (serializers.Serializer,),
    {
        "__doc__": "Results by outcome.",
        **{name: serializers.IntegerField() for name in Outcome.values},
    },
)


class RunProgressSerializer(PlainSerializer):
    """Progress of a run and its judge runs, in numbers of results."""

    state = serializers.ChoiceField(BatchState.choices)
    reason = serializers.CharField()
    is_live = serializers.BooleanField()
    total = serializers.IntegerField()
    answered = serializers.IntegerField()
    judged = serializers.IntegerField()
    to_judge = serializers.IntegerField()
    awaiting = serializers.IntegerField()
    retryable = serializers.IntegerField()
    counts = Counts()
