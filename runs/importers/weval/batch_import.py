"""Import of several blueprints, each in its own transaction."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import IntegrityError

from evalhub.models import User
from runs.importers.weval.files import Found
from runs.importers.weval.format import read_blueprint
from runs.importers.weval.importer import Loaded, import_blueprint
from runs.importers.weval.model_names import Collections
from runs.importers.weval.records import Blueprint, Finding, Reading, Source


@dataclass(frozen=True)
class Outcome:
    """Outcome of one file. `loaded` is None if problems prevented the import."""

    file: str
    blueprint: Blueprint | None
    loaded: Loaded | None
    problems: list[Finding]
    notes: list[Finding]


def import_all(
    found: Found, *, by: User | None = None, approve: bool = False, dry_run: bool = False
) -> Iterator[Outcome]:
    """Read and import files one by one. See `import_blueprint` for the switches."""
    for source, collections in found.sources:
        yield _import(source, collections, by, approve, dry_run)


def _import(
    source: Source, collections: Collections, by: User | None, approve: bool, dry_run: bool
) -> Outcome:
    reading = read_blueprint(source)
    if reading.blueprint is None:
        return _refused(reading, reading.problems)
    try:
        loaded = import_blueprint(
            reading.blueprint, collections, by=by, approve=approve, dry_run=dry_run
        )
    except ValidationError as error:
        return _refused(reading, [Finding(source.file, None, "", text) for text in error.messages])
    except IntegrityError:
        message = "was being imported by someone else at the same time: try again."
        return _refused(reading, [Finding(source.file, None, "", message)])
    more = [Finding(source.file, None, "", text) for text in loaded.notes]
    return Outcome(source.file, reading.blueprint, loaded, [], [*reading.notes, *more])


def _refused(reading: Reading, problems: list[Finding]) -> Outcome:
    return Outcome(reading.file, reading.blueprint, None, problems, reading.notes)
