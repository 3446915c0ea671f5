"""Calls of a person who waits: today's budget, their records and cost."""

from collections.abc import Sequence
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from evalhub.access.sealed_exposure import Role
from evalhub.display.formatting import counted, usd
from evalhub.llm.errors import CallErrorKind
from evalhub.models import Call, User
from evalhub.work.direct_caller import DirectCaller
from evalhub.work.limits.budget import Budget, Gate
from evalhub.work.limits.shared_rate import cut, read_shared

NO_WORKER = 0


def over_limit() -> str:
    return (
        "The next call could exceed your limit for trying tests, "
        f"{settings.EVALHUB_TRY_LIMIT_USD} USD per day. Choose a cheaper model, or ask an "
        "administrator to raise EVALHUB_TRY_LIMIT_USD."
    )


def caller_of(user: User, roles: Sequence[Role], *, item_id: int | None) -> DirectCaller:
    """Return a caller within what this user may still spend today."""
    models = [endpoint.language_model_id for _, endpoint in roles]
    return DirectCaller(
        work_key=_work_key(user),
        item_id=item_id,
        gate=_gate(user),
        shared=read_shared(dict.fromkeys(models), NO_WORKER),
    )


def _work_key(user: User) -> str:
    return f"try {user.pk}"


def _gate(user: User) -> Gate:
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    calls = Call.objects.filter(batch=_work_key(user), started_at__gte=midnight)
    spent = calls.aggregate(total=Sum("cost_usd"))["total"] or 0
    return Gate(Budget(allowance_usd=float(settings.EVALHUB_TRY_LIMIT_USD) - float(spent)))


def save_calls(caller: DirectCaller) -> None:
    """Save the calls that are not saved yet, and the rates that providers cut."""
    Call.objects.bulk_create([call for call in caller.calls if call.pk is None])
    for model, retry_after_s in caller.rate_limited.items():
        cut(model, retry_after_s)


def cost_of(calls: Sequence[Call]) -> Decimal | None:
    """Return the cost of calls in US dollars; None if one of them is unknown."""
    costs = [c.cost_usd for c in calls if c.error_kind != CallErrorKind.RATE_LIMITED]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def cost_words(calls: Sequence[Call]) -> str:
    """Return calls and their cost, such as “2 calls, 0.0013 USD”."""
    cost = cost_of(calls)
    return f"{counted(len(calls), 'call')}, {'cost not known' if cost is None else usd(cost)}"
