"""Estimates before a start that costs money, and the consent to them."""

from rest_framework import serializers

from evalhub.api.errors import Conflict
from evalhub.api.fields import PlainSerializer

CONSENT = "accepted_calls"


def _cost(source: str) -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=14, decimal_places=8, source=source, default=None, allow_null=True
    )


class EstimateSerializer(PlainSerializer):
    """Calls and cost of a start, from low to high; the costs are null if a model has no prices."""

    calls_low = serializers.IntegerField(source="calls.low")
    calls_high = serializers.IntegerField(source="calls.high")
    cost_low_usd = _cost("cost.low")
    cost_high_usd = _cost("cost.high")


class ConsentSerializer(PlainSerializer):
    """Of a start that costs money."""

    accepted_calls = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=0,
        help_text=(
            "The estimate's calls_low. Without it nothing starts, and the answer is the estimate."
        ),
    )


def is_accepted(accepted: int | None, calls_low: int) -> bool:
    """Return False if there is no consent yet.

    Raises:
        Conflict: It is to another number of calls.
    """
    if accepted not in (None, calls_low):
        raise Conflict(
            f"{CONSENT} is {accepted}, but the start now needs at least {calls_low} calls: leave "
            f"{CONSENT} out to read the estimate again."
        )
    return accepted is not None
