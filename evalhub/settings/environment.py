"""Settings from environment variables or a file; errors name a bad value and the expected one.

Each reader records name, default and meaning, from which `manage.py settings_table` makes the
table of settings.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


SITE_FILE = "EVALHUB_SITE_FILE"


class Setting(NamedTuple):
    name: str
    default: str
    meaning: str


class Environment:
    """Typed access to settings, with a record of those read.

    A setting is an environment variable, or else an entry under `settings` of the YAML file that
    the variable `EVALHUB_SITE_FILE` names.
    """

    def __init__(self) -> None:
        self.settings: list[Setting] = []
        self.in_file = settings_of(os.environ.get(SITE_FILE, ""))
        self.unknown = set(self.in_file)

    def given(self, name: str) -> str | None:
        """Return the text of a setting; None: it is not set."""
        self.unknown.discard(name)
        return os.environ.get(name, self.in_file.get(name))

    def text(self, name: str, default: str, meaning: str) -> str:
        self.settings.append(Setting(name, default, meaning))
        value = self.given(name)
        return default if value is None else value

    def secret(self, name: str, default: str, meaning: str) -> str:
        """Read a text from the variable or from the file named by `NAME_FILE`."""
        if name in self.in_file:
            raise ImproperlyConfigured(
                f"{name} is a secret, and is in {os.environ[SITE_FILE]}: move it to a file of "
                f"its own, and name that as {name}_FILE"
            )
        value = self.text(name, default, f"{meaning} Or read from the file in `{name}_FILE`.")
        path = self.given(f"{name}_FILE")
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

    def choice(self, name: str, choices: tuple[str, ...], meaning: str) -> str:
        """Read one of these words; the first is the default."""
        value = self.text(name, choices[0], meaning)
        if value not in choices:
            raise ImproperlyConfigured(f"{name}={value} is none of {', '.join(choices)}")
        return value

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

    def refuse_unknown(self) -> None:
        """Raise ImproperlyConfigured for entries of the file that no setting has read."""
        if self.unknown:
            names = ", ".join(sorted(self.unknown))
            raise ImproperlyConfigured(
                f"{os.environ[SITE_FILE]} sets {names}: no such setting. See docs/settings.md"
            )


def settings_of(path: str) -> dict[str, str]:
    """Return the entries under `settings` of a YAML file as the texts of variables; "": none."""
    if not path:
        return {}
    try:
        content = yaml.safe_load(Path(path).read_text())
    except (OSError, yaml.YAMLError) as error:
        raise ImproperlyConfigured(f"{SITE_FILE}={path} cannot be read: {error}") from error
    entries = content.get("settings") if isinstance(content, dict) else None
    if not isinstance(entries, dict | None):
        raise ImproperlyConfigured(f"{path}: settings is {entries!r}, not names with their values")
    return {str(name): as_variable(value) for name, value in (entries or {}).items()}


def as_variable(value: Any) -> str:
    """Return a YAML value as the text of a variable: a list by commas, a switch in lower case."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


env = Environment()
