"""The order of releases, and the predecessor of each. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

from packaging.version import InvalidVersion, Version


class Named(NamedTuple):
    """A release; `before` is the predecessor that a person set, "" for the default."""

    name: str
    before: str
    created_at: datetime


def version_of(name: str) -> Version | None:
    """Return the version that a release is named for; None where its name is none."""
    try:
        return Version(name)
    except InvalidVersion:
        return None


def are_versions(names: Iterable[str]) -> bool:
    return all(version_of(name) for name in names)


def arranged(names: Sequence[str]) -> list[str]:
    """Return the names by version where all of them are versions, else as they are."""
    return sorted(names, key=Version) if are_versions(names) else list(names)


@dataclass(frozen=True)
class ReleaseOrder:
    """All releases, lowest first. A name that is none of them comes last."""

    releases: tuple[Named, ...] = ()

    @cached_property
    def places(self) -> Mapping[str, int]:
        return {one.name: place for place, one in enumerate(self.releases)}

    def place(self, name: str) -> int:
        return self.places.get(name, len(self.releases))

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return the different names, lowest first; "" is none."""
        found = {*names} - {""}
        known = found & self.places.keys()
        return [*sorted(known, key=self.place), *arranged(sorted(found - known))]

    def predecessor(self, name: str) -> str:
        """Return the release that this one came from, "" for none.

        By default the next lower one. A hotfix of a lower version that was made after this release
        is passed over: 1.3 did not come from the later 1.2.1.
        """
        if name not in self.places:
            return self.releases[-1].name if self.releases else ""
        place = self.places[name]
        one = self.releases[place]
        lower = reversed(self.releases[:place])
        others = (other.name for other in lower if not _is_later_hotfix(other, one))
        return one.before or next(others, "")

    def predecessors(self, name: str) -> Iterator[str]:
        """Yield the predecessor, its predecessor, and so on."""
        seen = {name, ""}
        while (name := self.predecessor(name)) not in seen:
            seen.add(name)
            yield name


def _is_later_hotfix(other: Named, one: Named) -> bool:
    if other.created_at <= one.created_at:
        return False
    version, own = version_of(other.name), version_of(one.name)
    if version is None or own is None:
        return False
    return version.micro > 0 and version.release[:2] != own.release[:2]


class Placed(Protocol):
    """A run as the order of releases needs it; `release` is "" without one."""

    @property
    def run(self) -> int: ...
    @property
    def release(self) -> str: ...
    @property
    def at(self) -> datetime: ...


R = TypeVar("R", bound=Placed)


def in_release_order(runs: Iterable[R], order: ReleaseOrder) -> list[R]:
    """Sort runs by release, and by time within one and where they have none.

    A run comes before the first run of each higher release, however late it was made.
    """
    runs = list(runs)
    first: dict[str, datetime] = {}
    for one in runs:
        first[one.release] = min(one.at, first.get(one.release, one.at))
    limits: dict[str, datetime] = {}
    limit = datetime.max.replace(tzinfo=UTC)
    for name in reversed(order.ordered(first)):
        limits[name] = limit
        limit = min(limit, first[name])

    def key(one: R) -> tuple[datetime, int, datetime, int]:
        at = min(one.at, limits.get(one.release, one.at))
        return at, order.place(one.release) if one.release else -1, one.at, one.run

    return sorted(runs, key=key)
