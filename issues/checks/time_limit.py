"""A limit to the time that one check may take."""

from time import monotonic

from issues.checks.check import CheckError

SECONDS = 1.0


class Deadline:
    """Starts when it is made. What takes long asks it, often, whether it may go on."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._end = monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left, above 0.

        Raises:
            CheckError: None are.
        """
        left = self._end - monotonic()
        if left <= 0:
            raise self.passed()
        return left

    def passed(self) -> CheckError:
        return CheckError(f"The check took longer than {self.seconds:g} s on this text.")
