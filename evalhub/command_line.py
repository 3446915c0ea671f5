"""`evalhub` and `manage.py`: commands of this installation, and of a remote site."""

import os
import sys
from collections.abc import Sequence

CANNOT_RUN = 2
"""Exit code of wrong settings; 1 is a command's own, such as the gate's “does not hold”."""

HERE_TOO = {"gate"}
"""Remote commands that ask this installation where no site is named."""


def main() -> None:
    """Run `evalhub`: commands for a remote site start without Django."""
    from evalhub_client.command_options import COMMANDS

    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in COMMANDS and (name not in HERE_TOO or names_site(sys.argv)):
        from evalhub_client.command import main as remote

        sys.exit(remote(sys.argv[1:]))
    if name in ("", "help", "-h", "--help") and len(sys.argv) < 3:
        listed = "\n    ".join(COMMANDS)
        sys.stdout.write(f"Commands for a remote site (EVALHUB_URL):\n\n    {listed}\n\n")
        sys.stdout.flush()
    manage()


def names_site(arguments: Sequence[str]) -> bool:
    is_flagged = any(one == "--url" or one.startswith("--url=") for one in arguments)
    return is_flagged or bool(os.environ.get("EVALHUB_URL"))


def manage() -> None:
    """Run a command of this installation."""
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"The settings are wrong: {error}\n")
        sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    main()
