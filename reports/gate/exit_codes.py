"""Exit codes of the gate, for continuous integration."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `manage.py gate`."""

    PASSES = 0
    REGRESSED = 1
    CANNOT_TELL = 2
