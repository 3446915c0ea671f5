"""The commands of dev.py, as a newcomer types them."""

import subprocess
import sys
from pathlib import Path

import dev

ROOT = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-S", "dev.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_alone_it_prints_one_line_per_command():
    lines = run().stdout.splitlines()

    assert [line.split()[0] for line in lines[2:]] == list(dev.COMMANDS)


def test_an_unknown_command_is_an_error_that_lists_the_known_ones():
    done = run("launch")

    assert done.returncode == 2
    assert "demo" in done.stdout
