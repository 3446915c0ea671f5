"""The machine below: its disk, and the versions of what is installed."""

import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import django
from django.conf import settings
from django.db import connection
from django.template.defaultfilters import filesizeformat
from packaging.requirements import Requirement

from evalhub import __version__
from evalhub.display.formatting import counted, few
from evalhub.operations.findings import Finding, error, ok, warning
from evalhub.work import unsaved_replies

GB = 1024**3
LOW, FULL = GB, GB // 10
"""Free bytes below which there is a warning, and an error."""

LOCK = Path("locks") / "runtime.txt"


def disk() -> Iterator[Finding]:
    folders = {Path(settings.DATA_DIR)}
    if connection.vendor == "sqlite":
        file = Path(connection.settings_dict["NAME"])
        folders.add(file.parent)
        if file.exists():
            yield ok("disk", f"{file} has {size(file.stat().st_size)}.")
    for folder in sorted(folders):
        free = shutil.disk_usage(folder).free
        message = f"{size(free)} free in {folder}."
        hint = "Make room: without it nothing can be saved."
        found = error if free < FULL else warning
        yield ok("disk", message) if free >= LOW else found("disk", message, hint)
    yield from replies()


def replies() -> Iterator[Finding]:
    folder = unsaved_replies.folder()
    if waiting := len(list(folder.glob("*.jsonl"))):
        message = f"{counted(waiting, 'file')} of unsaved replies in {folder}."
        yield warning("disk", message, "The next worker that starts here takes them in.")
    if refused := len(list(folder.glob(f"*{unsaved_replies.REFUSED}"))):
        message = f"{counted(refused, 'file')} of replies in {folder} could not be taken in."
        yield error("disk", message, "The worker's log says why; then rename or remove them.")


def versions() -> Iterator[Finding]:
    names = f"EvalHub {__version__}, Python {platform.python_version()}"
    yield ok("versions", f"{names}, Django {django.get_version()}.")
    lock = settings.BASE_DIR / LOCK
    if not lock.exists():
        yield ok("versions", f"Not compared with {LOCK}, which only the source has.")
    elif others := differences(lock.read_text().splitlines()):
        message = f"Not as in {LOCK}: {few(others, most=5)}."
        hint = f"Run pip install --require-hashes -r {LOCK}."
        yield warning("versions", message, hint)
    else:
        yield ok("versions", f"All packages are as in {LOCK}.")


def differences(lines: list[str]) -> list[str]:
    """Return the packages of a lock that are missing here, or have another version."""
    found = []
    for line in lines:
        if "==" not in line or not line[0].isalnum():
            continue
        wanted = Requirement(line.rstrip("\\ "))
        if wanted.marker and not wanted.marker.evaluate():
            continue
        try:
            installed = version(wanted.name)
        except PackageNotFoundError:
            found.append(f"{wanted.name} is missing")
            continue
        if not wanted.specifier.contains(installed, prereleases=True):
            found.append(f"{wanted.name} {installed}")
    return found


def size(number: int) -> str:
    return filesizeformat(number).replace("\xa0", " ")
