"""Contracts of import-linter on modules that a rule knows, and no list (see pyproject.toml)."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from importlinter.contracts.forbidden import ForbiddenContract

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("evalhub_client", "evalhub", "issues", "runs", "reports")
PURE_NAME = re.compile(r"(.+_)?(rules?|figure)")


def files() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named(patterns: list[str]) -> list[str]:
    """Return the modules that fit a pattern, in which `*` stands for any characters."""
    names = map(name_of, files())
    return [name for name in names if any(fnmatchcase(name, one) for one in patterns)]


def says_pure(file: Path) -> bool:
    """Return whether the docstring says "Pure." in its first paragraph, for all of a package."""
    docstring = ast.get_docstring(ast.parse(file.read_text())) or ""
    return bool(re.search(r"\bPure\.", docstring.partition("\n\n")[0]))


@cache
def pure_modules() -> list[str]:
    """Return the modules that are named `rule`, `*_rule` or `figure`, or say that they are pure."""
    return [name_of(file) for file in files() if PURE_NAME.fullmatch(file.stem) or says_pure(file)]


class ForbiddenByName(ForbiddenContract):
    """No module of one pattern imports one of another; `*` stands for any characters, also dots."""

    def __init__(self, *, contract_options: dict[str, Any], **more: Any) -> None:
        chosen = {
            key: named(contract_options[key]) for key in ("source_modules", "forbidden_modules")
        }
        super().__init__(contract_options=contract_options | chosen, **more)


class PureModules(ForbiddenContract):
    """No pure module imports what is forbidden, not even by way of others."""

    def __init__(self, *, contract_options: dict[str, Any], **more: Any) -> None:
        options = contract_options | {"source_modules": pure_modules()}
        super().__init__(contract_options=options, **more)
