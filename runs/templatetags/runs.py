"""How figures of runs are written on pages. None is not measured, and shown as such."""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma

register = template.Library()

NOT_MEASURED = "—"


@register.filter
def span(value: Any) -> str:
    """A range of whole numbers; one number where both ends are the same."""
    low, high = value
    return intcomma(low) if low == high else f"{intcomma(low)} to {intcomma(high)}"


@register.filter
def usd(value: Decimal | float | None) -> str:
    """US dollars, with as many digits as it takes to see them."""
    if value is None:
        return NOT_MEASURED
    amount = Decimal(str(value))
    if amount == 0:
        return "$0"
    digits = 2 if abs(amount) >= 1 else 4 if abs(amount) >= Decimal("0.001") else 6
    rounded = amount.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
    if not rounded:
        return f"< ${Decimal(1).scaleb(-digits)}"
    cents = rounded.quantize(Decimal("0.01"))
    return f"${cents if cents == rounded else rounded:,}"


@register.filter
def score(value: float | None) -> str:
    """A score in [0, 1] with two digits."""
    return NOT_MEASURED if value is None else f"{value:.2f}"


@register.filter
def percent(value: float | None) -> str:
    """A share in [0, 1] as whole per cent."""
    return NOT_MEASURED if value is None else f"{value:.0%}"


@register.filter
def seconds(value_ms: int | None) -> str:
    """Milliseconds, in seconds or minutes as people read them."""
    if value_ms is None:
        return NOT_MEASURED
    if value_ms < 1000:
        return f"{value_ms} ms"
    if value_ms < 120_000:
        return f"{value_ms / 1000:.1f} s"
    return f"{value_ms // 60_000} min {value_ms % 60_000 // 1000} s"


@register.filter
def count(value: int | None) -> str:
    """A count; not measured is not 0."""
    return NOT_MEASURED if value is None else intcomma(value)


@register.filter
def kind_words(kind: str) -> str:
    """The kind of an error or failure, in words."""
    return kind.replace("_", " ") or "error"
