"""Rename, merge and suggest tags; the tree of domains, which are tags with a parent.

Every issue with a changed tag records it in its history.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from evalhub.refusals import Refused
from issues.limits import MAX_TAGS
from issues.models import Issue, Tag, TagKind, Test
from issues.similarity.ranking import words_of


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


MIN_VOTE = 0.3
"""Minimum sum of similarities for a tag to be suggested."""
NAMED = 0.5
"""Weight of a tag whose full name occurs in the text."""


class Suggestion(NamedTuple):
    """A suggested tag, and the reason."""

    tag: Tag
    why: str


def tagged(tags: Iterable[Tag | int] | QuerySet[Tag]) -> Q:
    """Select tests with one of these tags: their own, or their issue's.

    A test with several of them is found several times; make the result distinct by key.
    """
    return Q(tags__in=tags) | Q(issue__tags__in=tags)


def names_on(test: Test) -> list[str]:
    """Return the names of a test's tags: its own and its issue's. Prefetch both."""
    return sorted({tag.name for tag in (*test.tags.all(), *test.issue.tags.all())})


@transaction.atomic
def rename(tag: Tag, name: str, *, by: User | None) -> None:
    """Rename a tag.

    Raises:
        ValidationError: The name is empty, too long, or another tag's: merge the two instead.
    """
    check_name(name, tag.pk)
    before, tag.name = tag.name, name.strip()
    tag.full_clean()
    save_signed(tag, by, f"Renamed from {before}")


def check_name(name: str, tag_id: int = 0) -> None:
    """Refuse the name of another tag, ignoring case. A new tag has the id 0.

    Raises:
        ValidationError: For the field `name`.
    """
    other = Tag.objects.exclude(pk=tag_id).filter(name__iexact=name.strip()).first()
    if other is not None:
        raise ValidationError({"name": f"The tag “{other}” already exists. Merge the two instead."})


@transaction.atomic
def merge(tags: Sequence[Tag], target: Tag, *, by: User | None) -> int:
    """Replace tags by a target and delete them; return the number of changed rows.

    Rows with a tag are changed through their models, so that histories record it. Children become
    the target's.

    Raises:
        Refused: Only the target itself was chosen.
    """
    gone = [tag for tag in tags if tag.pk != target.pk]
    if not gone:
        raise Refused([f"Choose at least one tag besides {target}."])
    _free_of_ring(target, gone)
    changed = sum(_replace(tag, target, by) for tag in gone)
    for tag in gone:
        sign(tag, by, f"Merged into {target}")
        tag.delete()
    return changed


def _free_of_ring(target: Tag, gone: Sequence[Tag]) -> None:
    """Move a target up from below a deleted tag, so that it never becomes its own parent."""
    parent, ids = target.parent, {tag.pk for tag in gone} | {target.pk}
    while parent is not None and parent.pk in ids:
        parent = parent.parent
    if parent != target.parent:
        target.parent = parent
        target.save()


def _replace(tag: Tag, target: Tag, by: User | None) -> int:
    """Replace the tag on all rows, on whichever floor."""
    changed = 0
    for relation in Tag._meta.related_objects:
        carried = getattr(tag, relation.get_accessor_name() or "")
        for row in carried.all():
            sign(row, by, f"Tag {tag} merged into {target}")
            if relation.many_to_many:
                tags = getattr(row, relation.field.name)
                tags.add(target)
                tags.remove(tag)
            elif row.pk != target.pk:
                setattr(row, relation.field.name, target)
                row.save()
            changed += 1
    return changed


def suggested(text: str, matches: Mapping[int, float], *, limit: int = 5) -> list[Suggestion]:
    """Suggest tags for a text, likeliest first.

    Args:
        matches: Similar issues with their similarity in [0, 1]: their tags get that as votes.
    """
    votes: defaultdict[int, float] = defaultdict(float)
    carriers: Counter[int] = Counter()
    links = Issue.tags.through.objects.filter(issue__in=matches)
    for issue, tag in links.values_list("issue_id", "tag_id"):
        votes[tag] += matches[issue]
        carriers[tag] += 1
    named = _named_in(text)
    for pk in named:
        votes[pk] += NAMED
    likely = sorted(votes, key=lambda tag: (-votes[tag], tag))
    kept = [tag for tag in likely if votes[tag] >= MIN_VOTE][:limit]
    tags = Tag.objects.in_bulk(kept)
    suggestions = []
    for pk in kept:
        n = carriers[pk]
        reasons = [f"on {n} similar issues" if n > 1 else "on a similar issue"] if n else []
        reasons += ["named in the text"] if pk in named else []
        suggestions.append(Suggestion(tags[pk], "; ".join(reasons)))
    return suggestions


def _named_in(text: str) -> set[int]:
    """Return the tags whose full names occur in the text."""
    said = words_of(text).keys()
    names = Tag.objects.order_by("-pk").values_list("pk", "name")[:MAX_TAGS]
    return {pk for pk, name in names if (words := words_of(name).keys()) and words <= said}
