"""`evalhub` and `manage.py`: the management commands."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

CANNOT_RUN = 2
"""Exit code of wrong settings; 1 is a command's own, such as the gate's “does not hold”."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"The settings are wrong: {error}\n")
        sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    main()
