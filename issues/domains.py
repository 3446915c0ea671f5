"""The tree of domains: tags of that kind, each with the domain that it lies in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from issues.models import Tag, TagKind


@dataclass(frozen=True)
class Domains:
    """`parents`: each domain by name, with the name of the one it lies in, "" at the top."""

    parents: Mapping[str, str]

    @classmethod
    def arranged(cls, rows: Iterable[tuple[str, str | None]]) -> Self:
        """Of (name, parent's name). A parent that is no domain is none; a ring is cut once."""
        given = dict(rows)
        parents = {name: parent if parent in given else "" for name, parent in given.items()}
        for name in sorted(parents):
            if _leads_back(name, parents):
                parents[name] = ""
        return cls({name: parent or "" for name, parent in parents.items()})

    def above(self, name: str) -> tuple[str, ...]:
        """The domains that this one lies in, the nearest first."""
        parent = self.parents[name]
        return (parent, *self.above(parent)) if parent else ()

    def of(self, tags: Iterable[str]) -> frozenset[str]:
        """The domains among these tags, and all that they lie in."""
        own = [name for name in tags if name in self.parents]
        return frozenset(own).union(*map(self.above, own))


def current_domains() -> Domains:
    """The domains as they are arranged now; one query."""
    rows = Tag.objects.filter(kind=TagKind.DOMAIN).order_by()
    return Domains.arranged(rows.values_list("name", "parent__name"))


def _leads_back(name: str, parents: Mapping[str, str | None]) -> bool:
    """Whether one comes to a domain again by going up from it."""
    seen, at = {name}, parents[name]
    while at and at not in seen:
        seen.add(at)
        at = parents[at]
    return at == name
