"""What the gate's command tells continuous integration."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `manage.py gate`."""

    PASSES = 0
    REGRESSED = 1
    CANNOT_TELL = 2
