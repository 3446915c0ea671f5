"""The commands of docs/continuous_integration.md, from installation to a gate, as a user runs them.

Only the addresses are others; pip finds the dependencies where this Python has them.
"""

import os
import re
import shutil
import signal
import site
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

import dev
from evalhub.work.processes.programs import next_free
from tests.environment import OURS
from tests.provider import Provider, prompt

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "continuous_integration.md"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PARTS = ("evalhub", "evalhub_client", "issues", "runs", "reports", "templates")


def blocks() -> list[str]:
    """The setting up, `setup.py`, and the commands of a release."""
    found = [block for _, block in BLOCK.findall(DOCUMENT.read_text())]
    assert len(found) == 3
    return found


@pytest.fixture
def folder(tmp_path, transactional_db):
    """An empty folder with the source in `evalhub`, and a virtual environment's commands."""
    source = tmp_path / "evalhub"
    for name in PARTS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    (packages,) = environment.glob("lib/*/site-packages")
    (packages / "ours.pth").write_text("\n".join(site.getsitepackages()))
    pip = environment / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec {" ".join(dev.pip(environment))} "$@"\n')
    pip.chmod(0o755)
    if connection.vendor == "sqlite":  # migrated, which takes half a minute
        (tmp_path / "data").mkdir()
        with (
            closing(sqlite3.connect(connection.settings_dict["NAME"])) as ours,
            closing(sqlite3.connect(tmp_path / "data" / "evalhub.sqlite3")) as copy,
        ):
            ours.backup(copy)
    return tmp_path


def test_it_is_short():
    lines = [line for block in blocks() for line in block.splitlines()]

    assert len(list(filter(str.strip, lines))) <= 30


@pytest.mark.django_db(transaction=True)
def test_a_newcomer_gets_from_installation_to_a_gate(folder):
    setting_up, python, release = blocks()
    (folder / "setup.py").write_text(python)
    asked = []

    def script(request):
        """Add up until two releases have been asked, then always say the same."""
        asked.append(request)
        number = int(re.search(r"\d+", prompt(request))[0])
        return str(2 * number) if len(asked) <= 40 else "I do not know."

    with Provider(script) as provider:
        port = next_free("127.0.0.1", 8600)
        worse = release.replace("v2", "v3")
        parts = (
            "trap 'kill $!; wait' EXIT",
            setting_up,
            release,
            f"{worse.rstrip()} || echo EXIT $?",
        )
        commands = "\n".join(parts)
        commands = commands.replace("127.0.0.1:11434", f"127.0.0.1:{provider.port}")
        commands = commands.replace("--port 8000", f"--port {port}").replace(":8000", f":{port}")
        printed = output_of(commands, folder)

    assert "Exit 0: " in printed
    assert "Exit 1: " in printed
    assert "\nEXIT 1\n" in printed
    assert "<failure" in (folder / "gate.xml").read_text()


def output_of(commands, folder):
    """What bash prints, which ends at the first error; all that it started ends with it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    quick = {"PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "1", "PIP_QUIET": "1"}
    bash = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env={**own, **quick, "PATH": f"{folder}/venv/bin:{os.environ['PATH']}"},
        stdout=(folder / "out").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        code = bash.wait(timeout=850)
    except subprocess.TimeoutExpired:
        os.killpg(bash.pid, signal.SIGKILL)
        raise
    printed = (folder / "out").read_text()
    assert code == 0, printed
    return printed
