"""Findings of `manage.py doctor`, and how they are shown."""

from dataclasses import asdict, dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class Finding:
    """A finding in an area such as `database`. `hint` says what to do about it."""

    area: str
    level: Level
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = " ".join(f"{self.message} {self.hint}".split())
        return f"{self.level:8} {self.area:9} {text}"

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def ok(area: str, message: str) -> Finding:
    return Finding(area, Level.OK, message)


def warning(area: str, message: str, hint: str = "") -> Finding:
    return Finding(area, Level.WARNING, message, hint)


def error(area: str, message: str, hint: str = "") -> Finding:
    return Finding(area, Level.ERROR, message, hint)
