"""Settings from environment variables, with errors that name a bad value and the expected one.

Each reader records name, default and meaning, from which `manage.py settings_table` makes the
table of settings.
"""

import os
from pathlib import Path
from typing import NamedTuple

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


class Setting(NamedTuple):
    name: str
    default: str
    meaning: str


class Environment:
    """Typed access to environment variables, with a record of those read."""

    def __init__(self) -> None:
        self.settings: list[Setting] = []

    def text(self, name: str, default: str, meaning: str) -> str:
        self.settings.append(Setting(name, default, meaning))
        return os.environ.get(name, default)

    def secret(self, name: str, default: str, meaning: str) -> str:
        """Read a text from the variable or from the file named by `NAME_FILE`."""
        value = self.text(name, default, f"{meaning} Or read from the file in `{name}_FILE`.")
        path = os.environ.get(f"{name}_FILE")
        if not path:
            return value
        try:
            return Path(path).read_text().strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE={path} cannot be read: {error}") from error

    def flag(self, name: str, default: bool, meaning: str) -> bool:
        value = self.text(name, str(default).lower(), meaning).strip().lower()
        if value in TRUE | FALSE:
            return value in TRUE
        raise ImproperlyConfigured(f"{name}={value} is not a switch: use 'true' or 'false'")

    def number(self, name: str, default: int, meaning: str, *, least: int = 0) -> int:
        value = self.text(name, str(default), meaning)
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least:
            raise ImproperlyConfigured(f"{name}={value} is not a whole number of at least {least}")
        return number

    def listing(self, name: str, default: str, meaning: str) -> list[str]:
        """Read comma-separated values; empty ones are dropped."""
        return [
            part.strip() for part in self.text(name, default, meaning).split(",") if part.strip()
        ]


env = Environment()
