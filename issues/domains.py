"""The tree of domains: tags of that kind, each with the domain that it lies in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from issues.models import Tag, TagKind


@dataclass(frozen=True)
class Domains:
    """`parents`: each domain by name, with the name of the one it lies in, "" at the top."""

    parents: Mapping[str, str]

    def above(self, name: str) -> tuple[str, ...]:
        """The domains that this one lies in, the nearest first; a ring is gone through once."""
        found: list[str] = []
        parent = self.parents.get(name, "")
        while parent and parent != name and parent not in found:
            found.append(parent)
            parent = self.parents.get(parent, "")
        return tuple(found)

    def of(self, tags: Iterable[str]) -> frozenset[str]:
        """The domains among these tags, and all that they lie in."""
        own = [name for name in tags if name in self.parents]
        return frozenset(own).union(*map(self.above, own))


def current_domains() -> Domains:
    """The domains as they are arranged now; one query."""
    rows = Tag.objects.filter(kind=TagKind.DOMAIN).order_by()
    named = dict(rows.values_list("name", "parent__name"))
    return Domains({name: parent if parent in named else "" for name, parent in named.items()})
