"""Import of several blueprints, each in its own transaction."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import IntegrityError

from evalhub.models import User
from runs.importers.weval.blueprint.files import Found
from runs.importers.weval.blueprint.format import read_blueprint
from runs.importers.weval.blueprint.records import Finding, Reading
from runs.importers.weval.importer import Loaded, import_blueprint


@dataclass(frozen=True)
class Outcome(Reading):
    """Outcome of one file. `loaded` is None if problems prevented the import."""

    loaded: Loaded | None = None


def import_all(
    found: Found, *, by: User | None = None, approve: bool = False, dry_run: bool = False
) -> Iterator[Outcome]:
    """Read and import files one by one. See `import_blueprint` for the switches."""
    for source, collections in found.sources:
        reading = read_blueprint(source)
        blueprint, loaded = reading.blueprint, None
        messages: list[str] = []
        try:
            if blueprint is not None:
                options = {"approve": approve, "dry_run": dry_run}
                loaded = import_blueprint(blueprint, collections, by=by, **options)
        except ValidationError as error:
            messages = error.messages
        except IntegrityError:
            messages = ["was being imported by someone else at the same time: try again."]
        problems = [*reading.problems, *(Finding(source.file, text) for text in messages)]
        notes = [
            *reading.notes,
            *(Finding(source.file, t) for t in (loaded.notes if loaded else ())),
        ]
        yield Outcome(source.file, blueprint, problems, reading.warnings, notes, loaded)
