"""Who changed a row, and why, for its history."""

from typing import Any

from evalhub.access.models import User


def sign(row: Any, by: User | None, reason: str) -> None:
    """Put down who makes the next changes of this row, and why. None is the system."""
    row._history_user = by
    row._change_reason = reason
