"""The site of a bench: settings of its own, in a folder, with migrated tables."""

import os
from pathlib import Path

import django


def prepare(folder: Path) -> None:
    os.environ.update(
        DJANGO_SETTINGS_MODULE="evalhub.settings",
        EVALHUB_DATA_DIR=str(folder),
        EVALHUB_SECRET_KEY="a secret of the bench, which is long enough",
        EVALHUB_LOG_LEVEL="WARNING",
    )
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
