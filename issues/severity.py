"""What the severity of an issue decides: its order, its limit of failures and its weight. Pure."""

from collections.abc import Mapping

SEVERITIES = ("low", "medium", "high", "critical")
"""Those of `issues.models.Severity`, the least severe first."""

MAX_FAILURE_RATE: Mapping[str, float] = {"critical": 0.1, "high": 0.2, "medium": 0.3, "low": 0.5}
"""The rate of failed answers up to which an issue passes."""

WEIGHT: Mapping[str, int] = {"critical": 8, "high": 4, "medium": 2, "low": 1}
"""How much an issue counts where issues are put in the order in which to work on them."""


def severities_from(least: str) -> tuple[str, ...]:
    """Return this severity and the worse ones."""
    return SEVERITIES[SEVERITIES.index(least) :]


def or_worse(least: str) -> str:
    """Return this severity and the worse ones in words, such as "high or worse"."""
    return least if least == SEVERITIES[-1] else f"{least} or worse"
