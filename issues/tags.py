"""Renaming, merging and suggesting tags.

Every issue that carried a tag records a change of it in its history.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Issue, Tag
from issues.similarity.text_index import words_of
from issues.states import Refused

LEAST_VOTE = 0.3
"""What the nearest issues must add up to for a tag of theirs to be suggested."""
NAMED = 0.5
"""What it counts that the text has all words of a tag's name."""
MOST_TAGS = 2000


class Suggestion(NamedTuple):
    """A tag that may fit, and why in words."""

    tag: Tag
    why: str


@transaction.atomic
def rename(tag: Tag, name: str, *, by: User | None) -> None:
    """Give a tag another name.

    Raises:
        ValidationError: The name is empty, too long, or another tag's: merge the two instead.
    """
    check_name(name, tag.pk)
    before, tag.name = tag.name, name.strip()
    tag.full_clean()
    sign(tag, by, f"Renamed from {before}")
    tag.save()


def check_name(name: str, tag_id: int = 0) -> None:
    """Refuse the name of another tag, in whichever case it is written. A new tag has the id 0.

    Raises:
        ValidationError: For the field `name`.
    """
    other = Tag.objects.exclude(pk=tag_id).filter(name__iexact=name.strip()).first()
    if other is not None:
        raise ValidationError({"name": f"There is a tag “{other}” already: merge the two."})


@transaction.atomic
def merge(tags: Sequence[Tag], target: Tag, *, by: User | None) -> int:
    """Put the target in the place of the tags, which then go; gives how many rows changed.

    Whatever carries a tag is changed through its model, so that histories record it. Children
    become the target's.

    Raises:
        Refused: Nothing but the target itself was chosen.
    """
    gone = [tag for tag in tags if tag.pk != target.pk]
    if not gone:
        raise Refused([f"Choose at least one tag besides {target} that is to go."])
    _free_of_ring(target, gone)
    changed = sum(_replace(tag, target, by) for tag in gone)
    for tag in gone:
        sign(tag, by, f"Merged into {target}")
        tag.delete()
    return changed


def _free_of_ring(target: Tag, gone: Sequence[Tag]) -> None:
    """A target below a tag that goes moves up, so that it never becomes its own parent."""
    parent, ids = target.parent, {tag.pk for tag in gone} | {target.pk}
    while parent is not None and parent.pk in ids:
        parent = parent.parent
    if parent != target.parent:
        target.parent = parent
        target.save()


def _replace(tag: Tag, target: Tag, by: User | None) -> int:
    """Let all that carries a tag carry the target, on whichever floor it is."""
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
    """Tags that may fit a text, the likeliest first. Nothing is given any tag by this.

    Args:
        near: The nearest issues, with how near each is in [0, 1]: their tags have a vote each.
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
    kept = [tag for tag in likely if votes[tag] >= LEAST_VOTE][:limit]
    tags = Tag.objects.in_bulk(kept)
    return [Suggestion(tags[pk], _why(carriers[pk], pk in named)) for pk in kept]


def _named_in(text: str) -> set[int]:
    """The tags of whose names the text has every word."""
    said = words_of(text).keys()
    names = Tag.objects.order_by("-pk").values_list("pk", "name")[:MOST_TAGS]
    return {pk for pk, name in names if (words := words_of(name).keys()) and words <= said}


def _why(carriers: int, is_named: bool) -> str:
    matches = {0: "", 1: "on a similar issue"}.get(carriers, f"on {carriers} similar issues")
    return "; ".join(
        part for part in (matches, "its name is in the text" if is_named else "") if part
    )
