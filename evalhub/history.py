from typing import Any

from evalhub.access.models import User


def sign(row: Any, by: User | None, reason: str) -> None:
    """Set author and reason of the row's next change. None is the system."""
    row._history_user = by
    row._change_reason = reason
