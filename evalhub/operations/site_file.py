"""A site as one file: brings the database to what it says, and leaves all other rows alone."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from rest_framework import serializers

from evalhub.access.models import Token
from evalhub.operations.site_sections import Section
from evalhub.settings.environment import as_variable, env


class FileRefused(ValueError):
    """The file is not applied; `problems` lists all reasons, each with its place."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass
class Outcome:
    """A line for each difference, the number of equal rows, and the texts of new tokens by name."""

    lines: list[str] = field(default_factory=list)
    unchanged: int = 0
    tokens: dict[str, str] = field(default_factory=dict)


class Undo(Exception):
    """Rolls a transaction back."""


class UniqueKeys(yaml.SafeLoader):
    """Refuses a repeated key, of which YAML keeps the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := {str(name) for name in names if names.count(name) > 1}:
            place = f"line {node.start_mark.line + 1}"
            raise yaml.YAMLError(f"{', '.join(sorted(twice))} appears twice from {place} on")
        return super().construct_mapping(node, deep)


def sections() -> dict[str, Section]:
    found = [import_string(path) for path in settings.EVALHUB_SITE_SECTIONS]
    return {section.name: section for section in found}


def read(path: Path) -> dict[str, Any]:
    """Return the file's content by section; raise FileRefused."""
    try:
        content = yaml.load(path.read_text(), UniqueKeys)
    except (OSError, yaml.YAMLError) as error:
        raise FileRefused([f"{path} cannot be read: {error}"]) from error
    if not isinstance(content, dict):
        raise FileRefused([f"{path} has no sections such as {', '.join(sections())}."])
    known = ["settings", *sections()]
    problems = [
        f"{name}: unknown section. Available: {', '.join(known)}."
        for name in content
        if name not in known
    ]
    for name, entries in content.items():
        if name in sections() and not _are_entries(entries):
            problems.append(f"{name}: give a list of entries with their fields.")
    if problems:
        raise FileRefused(problems)
    return content


def _are_entries(entries: Any) -> bool:
    return isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries)


def apply(content: dict[str, Any], *, dry_run: bool) -> Outcome:
    """Create and change rows in one transaction, or with `dry_run` only tell which.

    Raises:
        FileRefused: Nothing is changed.
    """
    outcome, problems = Outcome(), []
    try:
        with transaction.atomic():
            for name, section in sections().items():
                for number, entry in enumerate(content.get(name, ()), 1):
                    place = f"{name}, entry {number}"
                    problems += _apply_entry(section, entry, place, outcome)
            if problems or dry_run:
                raise Undo
    except Undo:
        outcome.tokens.clear()
    if problems:
        raise FileRefused(problems)
    outcome.lines += other_settings(content.get("settings") or {})
    return outcome


def _apply_entry(
    section: Section, entry: dict[str, Any], place: str, outcome: Outcome
) -> list[str]:
    """Save one entry if it changes anything; return its problems."""
    if lacking := [name for name in section.key if not isinstance(entry.get(name), str)]:
        return [f"{place}: {name} is missing, which names it." for name in lacking]
    label = f"{section.row_name} {' / '.join(entry[name] for name in section.key)}"
    row = section.found(entry)
    before = copy(row)
    shown = {} if row is None else _shown(section, row)
    body = section.serializer(row, data=entry, partial=row is not None, context={"shows_all": True})
    if problems := _problems(body, entry):
        return [f"{place} ({label}): {problem}" for problem in problems]
    try:
        with transaction.atomic():
            saved = body.save()
            changes = list(_changes(entry, shown, _shown(section, section.rows().get(pk=saved.pk))))
            if row is not None and not changes:
                raise Undo
            if row is not None and section.is_fixed:
                raise Undo
            if row is not None and section.changed:
                section.changed(before, saved)
    except Undo:
        if changes:
            return [f"{place} ({label}): {'; '.join(changes)}. Revoke it first: it cannot change."]
        outcome.unchanged += 1
        return []
    outcome.lines.append(f"+ {label}" if row is None else f"~ {label}: {'; '.join(changes)}")
    if isinstance(saved, Token):
        outcome.tokens[label] = saved.text  # type: ignore[attr-defined]
    return []


def _shown(section: Section, row: Any) -> dict[str, Any]:
    return dict(section.serializer(row, context={"shows_all": True}).data)


def _problems(body: serializers.BaseSerializer[Any], entry: dict[str, Any]) -> list[str]:
    fields: Any = getattr(body, "fields", {})
    fixed = [
        f"{name}: it cannot be set." for name in entry if name in fields and fields[name].read_only
    ]
    if body.is_valid():
        return fixed
    found: Any = body.errors
    return fixed + [f"{name}: {_text(errors)}" for name, errors in found.items()]


def _text(errors: Any) -> str:
    if isinstance(errors, dict):
        return "; ".join(f"{name}: {_text(inner)}" for name, inner in errors.items())
    if isinstance(errors, list):
        return " ".join(_text(one) for one in errors if one)
    return str(errors)


def _changes(entry: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name in entry:
        if (before := old.get(name)) != (after := new.get(name)):
            yield f"{name}: {before!r} → {after!r}"


def other_settings(wanted: dict[str, Any]) -> list[str]:
    """Return a line for each setting with which this process was not started."""
    return [
        f"! setting {name} is {env.given(name)!r} here: start all processes with the file as "
        "EVALHUB_SITE_FILE"
        for name, value in wanted.items()
        if env.given(name) != as_variable(value)
    ]
