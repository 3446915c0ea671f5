"""Blueprints in files and folders, and the collections of models beside them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from evalhub.values.storable import unstorable
from evalhub.values.strict_json import excerpt
from runs.importers.weval.blueprint.model_names import Collections
from runs.importers.weval.blueprint.records import Finding, Json, Source
from runs.limits import MAX_YAML_CHARACTERS

ENDINGS = (
    *(".weval.yml", ".weval.yaml", ".civic.yml", ".civic.yaml"),
    *(".yml", ".yaml", ".json"),
)
"""Endings of blueprints' names, the longest first; none is part of the id."""
BLUEPRINTS, MODELS = "blueprints", "models"
MAX_BYTES = 4 * MAX_YAML_CHARACTERS


@dataclass
class Found:
    """Blueprints to read, each with the collections that it may name."""

    sources: list[tuple[Source, Collections]] = field(default_factory=list)
    problems: list[Finding] = field(default_factory=list)

    def add_problem(self, file: Path | str, message: str) -> None:
        self.problems.append(Finding(str(file), message))


def find(paths: Iterable[Path]) -> Found:
    """Return the blueprints in these files and folders, sorted by name."""
    found = Found()
    taken: dict[str, str] = {}
    known: dict[Path, Collections] = {}
    for file, root in _files(paths, found):
        name = id_of(file, root)
        if name in taken:
            found.add_problem(file, f"{excerpt(name)} is already the id of {taken[name]}.")
            continue
        taken[name] = str(file)
        text = _text(file, found)
        if text is None:
            continue
        folders = (parent / MODELS for parent in file.resolve().parents)
        folder = next((folder for folder in folders if any(folder.glob("*.json"))), None)
        if folder and folder not in known:
            known[folder] = _collections(folder, found)
        found.sources.append((Source(str(file), name, text), known[folder] if folder else {}))
    return found


def id_of(file: PurePath, root: PurePath | None = None) -> str:
    """Return its path below `blueprints`, or below the given folder, without suffix."""
    parts = file.parts
    if BLUEPRINTS in parts[:-1]:
        last = len(parts) - 1 - parts[-2::-1].index(BLUEPRINTS)
        parts = parts[last:]
    else:
        parts = file.relative_to(root).parts if root else parts[-1:]
    ending = next((end for end in ENDINGS if parts[-1].lower().endswith(end)), "")
    return "__".join([*parts[:-1], parts[-1][: len(parts[-1]) - len(ending)]])


def collection(text: str) -> list[str | Json] | None:
    """Return the models of a collection; None if a JSON file is something else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str | dict) for item in value):
        return None
    return [item for item in value if isinstance(item, str) or "id" in item]


def _files(paths: Iterable[Path], found: Found) -> Iterator[tuple[Path, Path | None]]:
    for path in paths:
        if path.is_dir():
            root = path / BLUEPRINTS if (path / BLUEPRINTS).is_dir() else path
            for file in sorted(root.rglob("*")):
                is_one = file.name.lower().endswith(ENDINGS) and not file.name.startswith(".")
                if is_one and file.parent.name != MODELS:
                    yield file, root
        elif path.is_file():
            yield path, None
        else:
            found.add_problem(path, "there is no such file or folder.")


def _text(file: Path, found: Found) -> str | None:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise OSError(f"it exceeds the limit of {MAX_BYTES:,} bytes")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        found.add_problem(file, f"cannot be read: {error}.")
        return None


def _collections(folder: Path, found: Found) -> Collections:
    collections = {}
    for file in sorted(folder.glob("*.json")):
        text = _text(file, found)
        models = None if text is None else collection(text)
        if models is not None:
            collections[file.stem] = models
        elif text is not None:
            found.add_problem(file, "is no collection: expected a list of models.")
    return collections


def uploaded(files: Iterable[tuple[str, str]]) -> Found:
    """Return the blueprints among uploaded files (name, text); lists of models are collections."""
    found, collections = Found(), {}
    blueprints: list[Source] = []
    for name, text in files:
        if not PurePath(name).name or unstorable(name):
            found.add_problem(name, f"{excerpt(name)} cannot be a file's name.")
            continue
        models = collection(text) if name.lower().endswith(".json") else None
        if models is not None:
            collections[PurePath(name).stem] = models
        else:
            blueprints.append(Source(name, id_of(PurePath(name)), text))
    for source in blueprints:
        if source.id in [other.id for other, _ in found.sources]:
            message = f"{excerpt(source.id)} is already the id of another file."
            found.add_problem(source.file, message)
        else:
            found.sources.append((source, collections))
    return found
