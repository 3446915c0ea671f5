"""The short form of `dev.py chaos`: processes and databases end in the middle of a run."""

import subprocess
import sys

import pytest
from django.db import connection


@pytest.mark.kill
@pytest.mark.both_engines
def test_nothing_is_lost_and_only_what_was_in_flight_is_repeated():
    engine = "sqlite" if connection.vendor == "sqlite" else "postgres"
    command = [sys.executable, "-m", "tests.chaos", "--short", "--engine", engine]

    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 0, done.stdout
