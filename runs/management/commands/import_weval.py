"""`manage.py import_weval PATH…`: blueprints, each entirely or not at all."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runs.importers.weval.batch_import import Outcome, import_all
from runs.importers.weval.blueprint.files import find
from runs.importers.weval.importer import Loaded


class Command(BaseCommand):
    help = "Import blueprints of Weval: an issue with its tests, and a suite, for each file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", metavar="PATH", nargs="+", type=Path)
        parser.add_argument(
            "--approve",
            action="store_true",
            help="Approve issues and tests instead of leaving them in review.",
        )
        parser.add_argument(
            "--check", action="store_true", help="Preview the import; save nothing."
        )

    def handle(
        self, *args: Any, paths: list[Path], approve: bool, check: bool, **options: Any
    ) -> None:
        found = find(paths)
        outcomes = []
        for number, outcome in enumerate(import_all(found, approve=approve, dry_run=check), 1):
            self._write(outcome, f"{number}/{len(found.sources)}")
            outcomes.append(outcome)
        for problem in found.problems:
            self.stderr.write(str(problem))
        problems = [*found.problems, *(p for outcome in outcomes for p in outcome.problems)]
        self.stdout.write(_in_all(outcomes, check))
        if problems:
            files = len({problem.file for problem in problems})
            raise CommandError(
                f"{_number(len(problems), 'problem')} in {_number(files, 'file')}: "
                "nothing of these files was imported."
            )

    def _write(self, outcome: Outcome, count: str) -> None:
        loaded, problems = outcome.loaded, _number(len(outcome.problems), "problem")
        self.stdout.write(f"{count} {outcome.file}: {in_words(loaded) if loaded else problems}")
        for note in outcome.notes:
            self.stdout.write(f"  note: {note}")
        for warning in outcome.warnings:
            self.stderr.write(f"warning: {warning}")
        for problem in outcome.problems:
            self.stderr.write(str(problem))


def in_words(loaded: Loaded) -> str:
    """Describe the changes to a blueprint's tests."""
    counts = loaded.counts
    parts = {"new": counts.new, "changed": counts.changed}
    parts |= {"as before": counts.same, "gone": counts.gone}
    tests = ", ".join(f"{number} {word}" for word, number in parts.items() if number)
    return f"“{loaded.suite}”: tests {tests}" if loaded.is_changed else "unchanged"


def _in_all(outcomes: list[Outcome], check: bool) -> str:
    loaded = [outcome.loaded for outcome in outcomes if outcome.loaded]
    changed = [one for one in loaded if one.is_changed]
    warnings = sum(len(outcome.warnings) for outcome in outcomes if outcome.loaded)
    tests = sum(one.counts.new + one.counts.changed + one.counts.gone for one in changed)
    if not changed:
        return f"Nothing changed: {_number(len(loaded), 'blueprint')} up to date."
    verb = "Would import" if check else "Imported"
    return (
        f"{verb}: {len(changed)} of {_number(len(outcomes), 'blueprint')}, "
        f"{_number(tests, 'test')} new or changed"
        + (f", {_number(warnings, 'warning')}." if warnings else ".")
        + (" Nothing was saved." if check else "")
    )


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
