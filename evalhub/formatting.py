"""How figures and codes read, on pages and in a terminal. None is not measured: never a nought."""

from collections.abc import Sequence
from decimal import Decimal
from math import floor, log10

from evalhub.statistics.interval import Interval

DASH = "—"
"""What stands where nothing was measured."""

LEAST_USD = 1e-6
NARROW = 0.03


def percent(share: float | None) -> str:
    """A share in [0, 1] as 62.5%, without digits that say nothing."""
    return DASH if share is None else f"{100 * share:.1f}".removesuffix(".0") + "%"


def between(interval: Interval | None) -> str:
    """An interval of shares as 47–76%; narrow ones with a digit more, as 99.6–99.9%."""
    if interval is None:
        return DASH
    digits = 0 if interval.high - interval.low >= NARROW else 1
    return f"{100 * interval.low:.{digits}f}–{100 * interval.high:.{digits}f}%"


def score(value: float | None) -> str:
    """A score in [0, 1] with up to two digits."""
    return DASH if value is None else f"{value:z.2f}".rstrip("0").rstrip(".")


def count(n: int | None) -> str:
    return DASH if n is None else f"{n:,}"


def span(bounds: tuple[int, int]) -> str:
    """A range of whole numbers; one number where both ends are the same."""
    low, high = bounds
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def usd(amount: Decimal | float | None) -> str:
    """US dollars; below ten cents two significant digits, so that the price of one call shows."""
    if amount is None:
        return DASH
    dollars = float(amount)
    if dollars == 0 or dollars >= 0.1:
        return f"${dollars:,.2f}"
    if dollars < LEAST_USD:
        return f"<${LEAST_USD:.6f}"
    return f"${dollars:.{1 - floor(log10(dollars))}f}"


def seconds(ms: int | None) -> str:
    """Milliseconds as a person says them: 840 ms, 1.2 s, 1 min 5 s."""
    if ms is None:
        return DASH
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms // 60_000} min {ms % 60_000 // 1000} s"


def words(code: str) -> str:
    """A kind such as rate_limited, in words."""
    return code.replace("_", " ")


def few(names: Sequence[str], *, most: int = 6, of: int | None = None) -> str:
    """The first names, and how many more there are.

    Args:
        of: How many there are in all, where `names` are not all of them.
    """
    shown = names[:most]
    more = (len(names) if of is None else of) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
