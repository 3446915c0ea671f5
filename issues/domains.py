"""Tree of domains: tags of that kind, each with its parent domain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from issues.models import Tag, TagKind


@dataclass(frozen=True)
class Domains:
    """`parents` maps each domain to its parent, "" at the top."""

    parents: Mapping[str, str]

    @classmethod
    def arranged(cls, rows: Iterable[tuple[str, str | None]]) -> Self:
        """Build from (name, parent's name). An unknown parent is dropped; a cycle is cut once."""
        given = dict(rows)
        parents = {name: parent if parent in given else "" for name, parent in given.items()}
        for name in sorted(parents):
            if _leads_back(name, parents):
                parents[name] = ""
        return cls({name: parent or "" for name, parent in parents.items()})

    def above(self, name: str) -> tuple[str, ...]:
        """Return the ancestors of a domain, nearest first."""
        parent = self.parents[name]
        return (parent, *self.above(parent)) if parent else ()

    def of(self, tags: Iterable[str]) -> frozenset[str]:
        """Return the domains among these tags, with their ancestors."""
        own = [name for name in tags if name in self.parents]
        return frozenset(own).union(*map(self.above, own))


def current_domains() -> Domains:
    """Return the current tree; one query."""
    rows = Tag.objects.filter(kind=TagKind.DOMAIN).order_by()
    return Domains.arranged(rows.values_list("name", "parent__name"))


def _leads_back(name: str, parents: Mapping[str, str | None]) -> bool:
    """Return True if a domain is its own ancestor."""
    seen, at = {name}, parents[name]
    while at and at not in seen:
        seen.add(at)
        at = parents[at]
    return at == name
