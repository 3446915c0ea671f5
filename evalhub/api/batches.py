"""Batches of background work: the same verbs for each kind, an estimate and consent before it."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.errors import Conflict
from evalhub.api.fields import Name, PlainSerializer, RowSerializer
from evalhub.api.views import ReadOnly
from evalhub.work import control
from evalhub.work.models import Batch
from evalhub.work.progress import counts

VERBS = ("pause", "cancel", "resume", "retry_errors")


class LimitSerializer(PlainSerializer):
    """A new cost limit; without one the current stays."""

    cost_limit_usd = serializers.DecimalField(
        max_digits=12, decimal_places=4, min_value=0, required=False, allow_null=True
    )


class StartSerializer(LimitSerializer):
    """Cost limit of a start, and whether sealed tests may leave the trusted network."""

    allow_sealed_exposure = serializers.BooleanField(default=False)


def consent_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a start from the valid body of a `StartSerializer`."""
    return {
        "cost_limit_usd": given.get("cost_limit_usd"),
        "allow_sealed_exposure": given["allow_sealed_exposure"],
    }


class SpentField(serializers.DecimalField):
    """Cost of a batch's calls in US dollars; null: none is known.

    `unpriced_calls` beside it may be billed too, at a cost that is not known.
    """

    def __init__(self) -> None:
        super().__init__(max_digits=14, decimal_places=8, read_only=True, allow_null=True)

    def get_attribute(self, instance: Batch) -> Decimal | None:
        return instance.spent.usd


class BatchSerializer(RowSerializer):
    """Progress of background work; `get_items` counts its items by state."""

    spent_usd = SpentField()
    requested_by = Name()
    page = serializers.CharField(source="get_absolute_url", read_only=True)

    def get_items(self, row: Any) -> dict[str, int]:
        return counts(control.items_of(row))


class BatchRows(ReadOnly):
    """Batches; a viewset names the right to control them for each of `VERBS`."""

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Start no more calls. Those in flight are saved."""
        return self._controlled(control.pause)

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Stop at once. What is saved stays, and it can be resumed."""
        return self._controlled(control.cancel)

    @extend_schema(request=LimitSerializer)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Continue with what is missing."""
        return self._controlled(control.resume, **self.sent(request, LimitSerializer))

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def retry_errors(self, request: Request, pk: str) -> Response:
        """Retry exactly what failed."""
        return self._controlled(control.retry_errors)

    def _controlled(self, act: Callable[..., Any], **given: Any) -> Response:
        row = self.get_object()
        act(row, **given)
        return self.shown(row)


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
