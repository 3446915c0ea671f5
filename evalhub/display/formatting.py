"""Formatting of figures and codes. None means not measured, never zero. Pure."""

from collections.abc import Sequence
from decimal import Decimal
from math import floor, log10

from evalhub.statistics.interval import Interval

DASH = "—"
"""Placeholder for values that were not measured."""

MIN_USD = 1e-6
MIN_P = 0.0001
NARROW = 0.03
NOISE = 1e-13
"""Sums of differences that cancel out may be this far from 0."""
ROUNDING = 1e-9
"""Shares computed from weights may be this far from 0 or 1 where they are exactly that."""


def percent(share: float | None, digits: int = 1) -> str:
    """Format a share in [0, 1], such as 62.5%, without trailing zeros."""
    if share is None:
        return DASH
    text = in_hundredths(share, digits)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def in_hundredths(share: float, digits: int = 1) -> str:
    """Format a share in [0, 1] as percent without the sign, such as 62.5.

    0 and 100 stand for none and all only: 2,039 of 2,040 is >99.9, and 1 of 2,040 is <0.1.
    """
    text, step = f"{100 * share:z.{digits}f}", Decimal(1).scaleb(-digits)
    if not ROUNDING < share < 1 - ROUNDING or 0 < float(text) < 100:
        return text
    return f">{100 - step}" if share > 0.5 else f"<{step}"


def between(interval: Interval | None) -> str:
    """Format an interval of shares, such as 47–76%; narrow ones as 99.6–99.9%."""
    if interval is None:
        return DASH
    for digits in (0, 1) if interval.high - interval.low >= NARROW else (1,):
        text = "–".join(in_hundredths(bound, digits) for bound in interval)
        if "<" not in text and ">" not in text:
            break
    return f"{text}%"


def score(value: float | None) -> str:
    """Format a score in [0, 1] with up to two digits; 0 and 1 stand for exactly these."""
    if value is None:
        return DASH
    if ROUNDING < value < 0.005 or 0.995 <= value < 1 - ROUNDING:
        return "<0.01" if value < 0.5 else ">0.99"
    return f"{value:z.2f}".rstrip("0").rstrip(".")


def count(n: int | None) -> str:
    return DASH if n is None else f"{n:,}"


def counted(n: int, one: str, many: str = "") -> str:
    """Format a count with its noun, such as 1 test or 1,200 tests."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def span(bounds: tuple[int, int]) -> str:
    """Format a range of whole numbers; a single one if both ends are equal."""
    low, high = bounds
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def usd(amount: Decimal | float | None) -> str:
    """Format US dollars; below ten cents with two significant digits."""
    if amount is None:
        return DASH
    dollars = float(amount)
    if dollars == 0 or dollars >= 0.1:
        return f"${dollars:,.2f}"
    if dollars < MIN_USD:
        return f"<${MIN_USD:.6f}"
    return f"${dollars:.{1 - floor(log10(dollars))}f}"


def seconds(ms: int | None) -> str:
    """Format milliseconds, such as 840 ms, 1.2 s or 1 min 5 s."""
    if ms is None:
        return DASH
    if ms < 1000:
        return f"{ms} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms // 60_000} min {ms % 60_000 // 1000} s"


def words(code: str) -> str:
    """Format a code such as rate_limited with spaces."""
    return code.replace("_", " ")


def clip(text: str, length: int) -> str:
    """Cut a text to this many characters."""
    return text if len(text) <= length else text[: length - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """List at least one name, such as "a, b and c"."""
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def few(names: Sequence[str], *, most: int = 6, of: int | None = None) -> str:
    """List the first names and count the rest; `of` is the total if `names` is not complete."""
    shown = names[:most]
    more = (len(names) if of is None else of) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


def points(difference: float) -> str:
    """Return a difference of two shares in percentage points, with its sign.

    0 stands for none only: what rounds to it is "just below 0" or "just above 0".
    """
    text = f"{100 * difference:+z.1f}".removesuffix(".0").replace("-", "−")
    return f"{text} pts" if text != "+0" else beside_zero(difference) or "0 pts"


def beside_zero(difference: float) -> str:
    """Return on which side of 0 a number is that rounds to it; "" for 0 itself."""
    if abs(difference) < NOISE:
        return ""
    return "just below 0" if difference < 0 else "just above 0"


def p_value(p: float) -> str:
    return f"<{MIN_P}" if p < MIN_P else f"{p:.2g}" if p < 0.1 else f"{p:.2f}"
