"""`dev.py test` and `dev.py check`: every group of tests on what it needs, one table at the end.

What runs where: checks once, beside the first group; all tests but those marked slow on SQLite, and
on PostgreSQL those for which the engine matters (`tests/engines.py`); the main journeys in
Chromium; short kills of workers. `--all` adds the slow tests, all others on PostgreSQL, every
browser test, loads and long kills. A group that this machine cannot run counts as failed, and so
does whatever fails once: nothing is run again.
"""

import atexit
import contextlib
import ctypes
import functools
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.browser import APT_PACKAGES, OUTPUT, chromium_path
from tests.engines import BOTH_ENGINES, TESTS
from tests.migrated import FOLDER, TEMPLATE
from tests.slow import SLOW

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
CORES = os.cpu_count() or 2
APART = "browser or kill or load"
BOTH = "both_engines"
PROGRAMS = {
    "redis-server": ["redis-server"],
    "npm": ["nodejs", "npm"],
    "pango-view": ["pango1.0-tools", "fonts-dejavu-core"],
}
"""Debian's packages of programs, or of libraries beside them, that a few tests of `--all` use."""

NO_TESTS = 5
"""pytest's exit status where a selection holds no test."""


class Group(NamedTuple):
    """Tests that run in one go: a pytest marker expression and what they run on.

    Only files that name one of the marks `read` are read, () for all: that takes half a minute.
    Tests wait for workers, providers and disks: a group has one process more than there are cores.
    """

    name: str
    engine: str
    markers: str
    read: tuple[str, ...] = ()
    browser: bool = False

    @property
    def parallel(self) -> tuple[str, ...]:
        """The options by which several processes share the tests."""
        return "-n", str(CORES + 1), "--dist", "worksteal"


SHORT = (
    Group("all but those below", SQLITE, f"not ({APART} or slow)"),
    Group("engine matters", POSTGRES, f"{BOTH} and not ({APART} or slow)", (BOTH,)),
    Group("journeys", POSTGRES, "browser and journey", ("journey",), browser=True),
    Group("short kills", POSTGRES, "kill and not slow", ("kill",)),
)
LONG = (
    Group("slow", SQLITE, f"slow and not ({APART})", ("slow",)),
    Group("engine seldom matters", POSTGRES, f"(not {BOTH} or slow) and not ({APART})"),
    Group("other browser tests", POSTGRES, "browser and not journey", ("browser",), browser=True),
    Group("long kills and load", POSTGRES, "(kill and slow) or load", ("kill", "load")),
    Group("journeys", SQLITE, "browser and journey", ("journey",), browser=True),
    Group("kills and load", SQLITE, f"(kill or load) and {BOTH}", ("kill", "load")),
)


class Outcome(NamedTuple):
    """How a group ended. `missing` says why it could not run here; None where it ran."""

    name: str
    ran_on: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    elapsed_s: float = 0.0
    missing: str | None = None


def main(arguments: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if list(arguments) == ["--check"]:
        return report([run_checks()])
    if list(arguments) == ["--all"]:
        return run_groups(SHORT + LONG)
    if arguments:
        return run_some(list(arguments))
    return run_groups(SHORT)


def run_some(arguments: list[str]) -> int:
    """Run pytest with the user's own arguments, on SQLite or `--engine postgres`."""
    engine = SQLITE
    if "--engine" in arguments:
        at = arguments.index("--engine")
        engines = {"sqlite": SQLITE, "postgres": POSTGRES}
        name = arguments[at + 1] if at + 1 < len(arguments) else ""
        if name not in engines:
            sys.exit(f"--engine {name} is not known: use sqlite or postgres")
        engine = engines[name]
        del arguments[at : at + 2]
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(postgres())[0] if engine == POSTGRES else None
        if engine == POSTGRES and url is None:
            sys.exit("There is no PostgreSQL here to run these tests on.")
        return pytest(["-rfEs", *arguments], url)


def run_groups(groups: Sequence[Group]) -> int:
    outcomes = []
    with ThreadPoolExecutor(max_workers=2) as beside, postgres() as (url, why_not):
        installed = beside.submit(browser)  # waits for the network beside the first tests
        checked = beside.submit(run_checks)
        engines: dict[str, tuple[str, str | None, str | None]] = {}
        engines[SQLITE] = (f"SQLite {sqlite3.sqlite_version}", None, None)
        engines[POSTGRES] = (postgres_version(url) if url else POSTGRES, url, why_not)
        if set(LONG) <= set(groups):
            installed.result()  # two installations at once would refuse each other
            install_programs()
        for group in groups:
            ran_on, group_url, missing = engines[group.engine]
            if group.browser:
                chromium, no_chromium = installed.result()
                ran_on, missing = f"{chromium}, {ran_on}", missing or no_chromium
            outcomes.append(run_group(group, ran_on, group_url, missing))
    return report([checked.result(), *outcomes])


# Parts -------------------------------------------------------------------------------------------


def run_group(group: Group, ran_on: str, url: str | None, missing: str | None) -> Outcome:
    say(f"\n=== {group.name} on {ran_on} ===")
    if missing:
        say(f"cannot run here: {missing}")
        return Outcome(group.name, ran_on, missing=missing)
    started = time.monotonic()
    results = OUTPUT / "results.xml"
    results.unlink(missing_ok=True)
    options = ["-q", "-rfEs", "--create-db", f"--junitxml={results}", "-m", group.markers]
    status = pytest([*options, *group.parallel, *files(group.read)], url)
    passed, failed, skipped = count(results)
    if status == NO_TESTS:
        return Outcome(group.name, ran_on, missing=f"no test is marked: {group.markers}")
    if status and not failed:
        failed = 1  # it ended without a verdict on some test
    elapsed_s = time.monotonic() - started
    return Outcome(group.name, ran_on, passed, failed, skipped, elapsed_s)


def files(marks: Sequence[str]) -> list[str]:
    """Files and folders that can hold tests with these marks; [] for all."""
    named = re.compile(rf"mark\.({'|'.join(marks)})\b")
    listed = [str(TESTS / name) for name in BOTH_ENGINES] if BOTH in marks else []
    listed += [str(TESTS / name.partition("::")[0]) for name in SLOW] if "slow" in marks else []
    found = TESTS.rglob("test_*.py") if marks else ()
    return sorted({*listed, *(str(path) for path in found if named.search(path.read_text()))})


def pytest(arguments: Sequence[str], url: str | None) -> int:
    # Compiled files are kept whatever the machine says: each process of each group reads them.
    unwanted = {"TEST_DATABASE_URL", "PYTHONDONTWRITEBYTECODE"}
    environment = {k: v for k, v in os.environ.items() if k not in unwanted}
    environment[FOLDER] = migrated_folder()
    if url:
        environment["TEST_DATABASE_URL"] = url
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments], env=environment) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:  # the terminal has told pytest too, which is clearing up
            process.wait()
            raise
        except SystemExit:
            process.send_signal(signal.SIGINT)
            process.wait(60)
            raise


@functools.cache
def migrated_folder() -> str:
    """Where the first process that migrates leaves its database for the others."""
    folder = tempfile.TemporaryDirectory(prefix="evalhub-migrated-")
    atexit.register(folder.cleanup)
    return folder.name


def count(results: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests in a JUnit file; a missing file counts as one failure."""
    if not results.exists():
        return 0, 1, 0
    tests: dict[tuple[str, str], set[str]] = {}
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        name = case.get("classname", ""), case.get("name", "")
        tests.setdefault(name, set()).update(child.tag for child in case)
    failed = sum(bool(tags & {"failure", "error"}) for tags in tests.values())
    skipped = sum("skipped" in tags and not tags & {"failure", "error"} for tags in tests.values())
    return len(tests) - failed - skipped, failed, skipped


@contextlib.contextmanager
def postgres() -> Iterator[tuple[str | None, str | None]]:
    """The address of a server for the length of the block, or None and why there is none."""
    if url := os.environ.get("TEST_DATABASE_URL"):
        yield url, None
        run_sql(url, f'DROP DATABASE IF EXISTS "{TEMPLATE}"')
        return
    command = [sys.executable, "-m", "tests.postgres"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as server:
        assert server.stdout
        assert server.stderr
        address = server.stdout.readline().strip()
        yield (address, None) if address else (None, server.stderr.read().strip())


def run_sql(url: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(url.rpartition("/")[0] + "/postgres", autocommit=True) as connection:
        connection.execute(statement)


def postgres_version(url: str) -> str:
    import psycopg

    with psycopg.connect(url.rpartition("/")[0] + "/postgres") as connection:
        number = connection.info.server_version
    return f"PostgreSQL {number // 10000}.{number % 10000}"


def browser() -> tuple[str, str | None]:
    """The browser's name and version, and why there is none: installed by apt where we may."""
    if not browser_works() and os.geteuid() == 0 and shutil.which("apt-get"):
        say("Installing Chromium with apt-get ...")
        apt_install(APT_PACKAGES)
    path = chromium_path()
    if path is None or not browser_works():
        return "Chromium", f"no Chromium; run: apt-get install {' '.join(APT_PACKAGES)}"
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return " ".join(version.stdout.split()[:2]), None


def install_programs() -> None:
    """Install what a few tests need where we may; elsewhere these are skipped."""
    lacking = {program for program in PROGRAMS if not shutil.which(program)}
    if lacking and os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"Installing {', '.join(sorted(lacking))} with apt-get ...")
        apt_install([package for program in lacking for package in PROGRAMS[program]])
    os.environ["GENERATED_CLIENTS"] = "1"  # npm may install a generator of clients


def apt_install(packages: Sequence[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *arguments], env=environment, check=False)


def browser_works() -> bool:
    """Whether Chromium is here, and the library that Playwright's own program needs."""
    try:
        ctypes.CDLL("libatomic.so.1")
    except OSError:
        return False
    return chromium_path() is not None


# Checks ------------------------------------------------------------------------------------------


def checks() -> dict[str, list[str]]:
    python = sys.executable
    manage = [python, "manage.py"]
    return {
        "types": [python, "-m", "mypy"],
        "format": [python, "-m", "ruff", "format", "--check"],
        "lint": [python, "-m", "ruff", "check"],
        "layers": [str(Path(python).with_name("lint-imports"))],
        "settings": [*manage, "check", "--deploy", "--fail-level", "WARNING"],
        "migrations": [*manage, "makemigrations", "--check", "--dry-run"],
    }


def run_checks() -> Outcome:
    say("=== check ===")
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as data, ThreadPoolExecutor(max_workers=2) as pool:
        results = [pool.submit(run_check, *check, data) for check in checks().items()]
        good = sum(result.result() for result in results)
    elapsed_s = time.monotonic() - started
    return Outcome("check", "", good, len(results) - good, elapsed_s=elapsed_s)


def run_check(name: str, command: list[str], data: str) -> bool:
    """Run one check as a deployed site would see it; its output is shown only if it fails."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EVALHUB_")}
    environment |= {
        "DATABASE_URL": "sqlite://:memory:",
        "EVALHUB_DATA_DIR": data,
        "EVALHUB_HTTPS": "true",
        "EVALHUB_LOG_LEVEL": "WARNING",
        "EVALHUB_SECRET_KEY": os.urandom(40).hex(),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    good = done.returncode == 0
    say(f"{name}: ok" if good else f"{name}: FAILED\n{done.stdout}{done.stderr}")
    return good


# Report ------------------------------------------------------------------------------------------


def report(outcomes: Sequence[Outcome]) -> int:
    """Print the table and the sum; 1 if anything failed or a group could not run."""
    missing = [outcome for outcome in outcomes if outcome.missing]
    failed = sum(outcome.failed for outcome in outcomes) + len(missing)
    print_table(outcomes)
    for outcome in missing:
        say(f"COULD NOT RUN HERE: {outcome.name} on {outcome.ran_on}: {outcome.missing}")
    passed = sum(outcome.passed for outcome in outcomes)
    say(f"{passed} passed, {failed} failed, {sum(o.skipped for o in outcomes)} skipped")
    return int(failed > 0)


def print_table(outcomes: Sequence[Outcome]) -> None:
    width = max(len(outcome.ran_on) for outcome in outcomes)
    say(f"\n{'group':24}{'on':{width}}  passed  failed  skipped  seconds")
    for o in outcomes:
        counts = f"{o.passed:>8}{o.failed:>8}{o.skipped:>9}{o.elapsed_s:>9.0f}"
        say(f"{o.name:24}{o.ran_on:{width}}{'  not run' if o.missing else counts}")
    say("")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
