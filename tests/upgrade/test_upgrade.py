"""An older site's database, brought up to date: every figure of its reports stays the same.

`before_first_release.sql.xz` is a site of November 2026 on SQLite with the demo's sample history,
in the tables of the first migrations; `figures.json` is what its reports showed.
"""

import json
import lzma
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def old_site(tmp_path_factory):
    """The environment of a process that works on the old site, before `migrate`."""
    folder = tmp_path_factory.mktemp("old_site")
    with closing(sqlite3.connect(folder / "evalhub.sqlite3")) as database:
        database.executescript(
            lzma.decompress((HERE / "before_first_release.sql.xz").read_bytes()).decode()
        )
    return os.environ | {
        "DATABASE_URL": f"sqlite:///{folder / 'evalhub.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "evalhub.settings",
        "EVALHUB_DATA_DIR": str(folder),
        "EVALHUB_LOG_LEVEL": "ERROR",
        "EVALHUB_SECRET_KEY": "a secret of the test, which is long enough to be one",
    }


def output_of(environment, *arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=HERE.parents[1], env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def test_a_migrated_site_reports_the_same_figures(old_site):
    output_of(old_site, "manage.py", "migrate", "--verbosity=0")
    output_of(old_site, "manage.py", "migrate", "--check")

    found = output_of(old_site, "-m", "tests.upgrade.figures")

    expected = (HERE / "figures.json").read_text()
    assert figures_in(found) == figures_in(expected)


def figures_in(text):
    """Read figures to twelve digits: the last ones depend on the order of adding up."""
    return json.loads(text, parse_float=lambda number: f"{float(number):.12g}")
