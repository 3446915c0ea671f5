"""Findings about how many of the things asked for are there."""

from collections.abc import Sequence

from issues.checks.check import Finding
from issues.checks.quoting import quoted_all, share


def all_of(found: Sequence[str], asked: Sequence[str], verb: str) -> Finding:
    """The share of what is asked for; of nothing, everything.

    Args:
        verb: How the finding begins, as "Holds" or "Found".
    """
    return Finding(len(found) / len(asked) if asked else 1.0, _how_many(found, asked, verb))


def enough_of(found: Sequence[str], asked: Sequence[str], verb: str, *, least: int) -> Finding:
    """The share of the least that is asked for, at most 1; of none or fewer, everything."""
    value = min(1.0, len(found) / least) if least > 0 else 1.0
    return Finding(value, f"{_how_many(found, asked, verb)} At least {least} asked.")


def _how_many(found: Sequence[str], asked: Sequence[str], verb: str) -> str:
    missing = [text for text in asked if text not in found]
    lacks = f"; not {quoted_all(missing)}" if missing else ""
    return f"{verb} {share(len(found), len(asked))}{lacks}."
