"""Time limit of a check."""

from time import monotonic

from issues.checks.check import CheckError
from issues.limits import CHECK_TIMEOUT_S


class Deadline:
    """Time limit that starts on creation; long work asks it often."""

    def __init__(self, seconds: float = CHECK_TIMEOUT_S) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds left, above 0.

        Raises:
            CheckError: The time is up.
        """
        left = self._end - monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> CheckError:
        return CheckError(f"The check took longer than {self.seconds:g} s on this text.")
