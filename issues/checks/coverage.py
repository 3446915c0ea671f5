"""Findings about the share of required items present."""

from collections.abc import Sequence

from issues.checks.check import Finding
from issues.checks.quoting import quoted_all


def all_of(found: Sequence[str], wanted: Sequence[str], verb: str) -> Finding:
    """Return the share of the required items; 1 if none are required.

    Args:
        verb: Start of the explanation, such as "Contains" or "Found".
    """
    return Finding(len(found) / len(wanted) if wanted else 1.0, _how_many(found, wanted, verb))


def enough_of(found: Sequence[str], wanted: Sequence[str], verb: str, *, least: int) -> Finding:
    """Return the share of the required minimum, up to 1; 1 if the minimum is 0 or less."""
    value = min(1.0, len(found) / least) if least > 0 else 1.0
    return Finding(value, f"{_how_many(found, wanted, verb)} At least {least} required.")


def _how_many(found: Sequence[str], wanted: Sequence[str], verb: str) -> str:
    missing = [text for text in wanted if text not in found]
    lacks = f"; missing: {quoted_all(missing)}" if missing else ""
    return f"{verb} {len(found)} of {len(wanted)}{lacks}."
