"""Exit codes of the gate, for continuous integration."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `manage.py gate`, and `exit` in the API."""

    HOLDS = 0
    DOES_NOT_HOLD = 1
    CANNOT_TELL = 2
