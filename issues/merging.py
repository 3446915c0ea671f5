"""Merging issues that show the same fault, so that nothing of either is lost, and taking it back.

One stays; tests, feedback, sources, comments and tags of the others move to it, and the others are
deprecated and point to it. Results keep the issue that they were frozen with at launch. What loses
to the other's wording is kept as a comment.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from simple_history.utils import bulk_update_with_history

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Comment, Feedback, Issue, IssueState, Merge, Source, Tag, Test
from issues.states import APPROVE_ISSUE, CHANGE_ISSUE, Actor, Refused

FIELDS = ("title", "description", "generic_statement", "severity", "assignee")
"""What is chosen field by field; everything else moves or stays."""

LABELS = {
    "title": "title",
    "description": "description",
    "generic_statement": "statement for outside",
    "severity": "severity",
    "assignee": "assignee",
}
OPENED = (
    "Its sealed tests would leave {}, whose comments and history since the merge would then be open"
    " to all: seal one of its own tests first."
)
SIMPLE = {IssueState.DRAFT, IssueState.IN_REVIEW}
"""States of an issue that goes without the right to approve."""


class UndoResult(NamedTuple):
    """What was taken back of a merge, and in words what was not."""

    moved: int
    left: list[str]


def may_merge(issue: Issue, user: Actor) -> bool:
    """Whether this person may merge the issue away: one that was approved takes that right."""
    return user.has_perm(CHANGE_ISSUE if issue.state in SIMPLE else APPROVE_ISSUE)


def problems_of(merged_away: Sequence[Issue], kept: Issue) -> list[str]:
    """Why these cannot be merged; [] where they can."""
    problems = [] if merged_away else ["Choose at least two issues."]
    if kept in merged_away:
        problems.append(f"{_named(kept)} cannot be merged into itself.")
    for issue in (*merged_away, kept):
        if issue.merged_into is not None:
            problems.append(f"{_named(issue)} was merged into {_named(issue.merged_into)} already.")
    if kept.state == IssueState.DEPRECATED and kept.merged_into is None:
        problems.append(f"{_named(kept)} is deprecated: put it back to draft, or keep another.")
    return problems


@transaction.atomic
def merge(
    merged_away: Sequence[Issue],
    kept: Issue,
    *,
    take: Mapping[str, Issue] | None = None,
    by: User | None,
) -> list[Merge]:
    """Merge issues into one that stays; one row for each that went.

    Args:
        take: From which issue a field's value is taken, where that is not the one that stays.

    Raises:
        Refused: One of them is merged already, or the one that stays is deprecated.
        ValueError: A field is not of `FIELDS`, or is taken from an issue that does not go.
    """
    rows = _locked([*merged_away, kept])
    kept, merged_away = rows[kept.pk], [rows[issue.pk] for issue in merged_away]
    if problems := problems_of(merged_away, kept):
        raise Refused(problems)
    taken = {field: rows[issue.pk] for field, issue in (take or {}).items() if issue != kept}
    if unknown := set(taken) - set(FIELDS):
        raise ValueError(f"expected fields of {FIELDS}, got {sorted(unknown)}")
    before = {field: getattr(kept, field) for field in FIELDS}
    said = _earlier_comments(kept, taken, merged_away)
    merges = [_merge_one(issue, kept, by) for issue in merged_away]
    _apply_fields(kept, taken, before, merges, by)
    written = {
        issue.pk: Comment.objects.create(issue=kept, author=by, text=text).pk
        for issue, text in said.items()
    }
    for made in merges:
        made.moved["said"] = (
            [written[made.merged_away_id]] if made.merged_away_id in written else []
        )
        made.moved["said_of_kept"] = [written[kept.pk]] if kept.pk in written else []
        made.save(update_fields=["moved"])
    return merges


def _locked(issues: Sequence[Issue]) -> dict[int, Issue]:
    """The rows as the database has them, held in one order so that two merges never block."""
    keys = {issue.pk for issue in issues}
    rows = Issue.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    found = {issue.pk: issue for issue in rows}
    if lost := keys - found.keys():
        raise Refused([f"There is no issue {pk} any more." for pk in sorted(lost)])
    return found


def _merge_one(merged_away: Issue, kept: Issue, by: User | None) -> Merge:
    moved = {name: move(merged_away, kept, by) for name, move in MOVERS.items()}
    made = Merge.objects.create(
        merged_away=merged_away, kept=kept, moved=moved, state_before=merged_away.state, by=by
    )
    merged_away.state, merged_away.merged_into = IssueState.DEPRECATED, kept
    sign(merged_away, by, f"Merged into issue {kept.pk}")
    merged_away.save()
    _point(merged_away.merged.all(), kept, by)
    return made


def _point(issues: Iterable[Issue], holder: Issue, by: User | None) -> None:
    """Let issues that were merged before point to the one that holds now what they had."""
    for issue in issues:
        issue.merged_into = holder
        sign(issue, by, f"What it had is at issue {holder.pk} now")
        issue.save()


def _apply_fields(
    kept: Issue,
    taken: Mapping[str, Issue],
    before: Mapping[str, Any],
    merges: Sequence[Merge],
    by: User | None,
) -> None:
    """Give the one that stays the values chosen of others; each merge records its own."""
    for field, issue in taken.items():
        setattr(kept, field, getattr(issue, field))
    for merge_ in merges:
        merge_.changed = {
            field: [_plain(before[field]), _plain(getattr(kept, field))]
            for field, issue in taken.items()
            if issue == merge_.merged_away and before[field] != getattr(kept, field)
        }
        merge_.save(update_fields=["changed"])
    sign(
        kept,
        by,
        f"Took in issue {', '.join(str(merge_.merged_away_id) for merge_ in merges)}"[:100],
    )
    kept.save()


def _plain(value: Any) -> Any:
    return value.pk if isinstance(value, User) else value


def _unplain(field: str, value: Any) -> Any:
    return User.objects.filter(pk=value).first() if field == "assignee" else value


# What would be lost ------------------------------------------------------------------------------


def _earlier_comments(
    kept: Issue, taken: Mapping[str, Issue], merged_away: Sequence[Issue]
) -> dict[Issue, str]:
    """A comment for each issue of which something is not taken over."""
    winners = {field: taken.get(field, kept) for field in FIELDS}
    lost = {issue: _lost(issue, winners, issue == kept) for issue in (kept, *merged_away)}
    return {issue: text for issue, text in lost.items() if text}


def _lost(issue: Issue, winners: Mapping[str, Issue], stays: bool) -> str:
    """What an issue said where another's wording won; "" where nothing is lost."""
    lost = [
        f"{LABELS[field]}: {shown(issue, field)}"
        for field, winner in winners.items()
        if shown(issue, field) and shown(issue, field) != shown(winner, field)
    ]
    whose = "This issue said before a merge" if stays else f"Issue {issue.pk}, merged here, said"
    return "\n\n".join([f"{whose}:", *lost]) if lost else ""


def shown(issue: Issue, field: str) -> str:
    """A field's value in words; "" where it has none."""
    if field == "severity":
        return issue.get_severity_display()
    return str(getattr(issue, field) or "").strip()


# What moves --------------------------------------------------------------------------------------


def _move_recorded(model: Any, more: Mapping[str, Any]) -> Callable[..., list[int]]:
    """A mover of rows with a history, which tells of it."""

    def move(
        merged_away: Issue, kept: Issue, by: User | None, keys: Sequence[int] | None = None
    ) -> Any:
        rows = model.objects.select_for_update().filter(issue=merged_away)
        found = list(rows if keys is None else rows.filter(pk__in=keys))
        for row in found:
            row.issue = kept
            for name, value in more.items():
                setattr(row, name, value())
        reason = "merged" if keys is None else "merge taken back"
        bulk_update_with_history(
            found,
            model,
            ["issue", *more],
            batch_size=500,
            default_user=by,
            default_change_reason=f"Moved from issue {merged_away.pk} to {kept.pk}: {reason}",
        )
        return [row.pk for row in found]

    return move


def _move_plain(model: Any) -> Callable[..., list[int]]:
    def move(
        merged_away: Issue, kept: Issue, by: User | None, keys: Sequence[int] | None = None
    ) -> Any:
        rows = model.objects.filter(issue=merged_away)
        found = list(
            (rows if keys is None else rows.filter(pk__in=keys)).values_list("pk", flat=True)
        )
        model.objects.filter(pk__in=found).update(issue=kept)
        return found

    return move


def _add_tags(merged_away: Issue, kept: Issue, by: User | None) -> list[int]:
    """Tags are shared: the one that goes keeps its own."""
    new = sorted({tag.pk for tag in merged_away.tags.all()} - {tag.pk for tag in kept.tags.all()})
    sign(kept, by, f"Tags of issue {merged_away.pk}")
    if new:
        kept.tags.add(*new)
    return new


ROWS: dict[str, Callable[..., list[int]]] = {
    "tests": _move_recorded(Test, {"updated_at": timezone.now}),
    "feedback": _move_recorded(Feedback, {}),
    "comments": _move_plain(Comment),
    "sources": _move_plain(Source),
}
MOVERS: dict[str, Callable[..., list[int]]] = {**ROWS, "tags": _add_tags}


# Taking it back ----------------------------------------------------------------------------------


def active_merge(issue: Issue) -> Merge | None:
    """The merge by which this issue went and that was not taken back; None where there is none."""
    return Merge.objects.filter(merged_away=issue, undone_at=None).select_related("kept").first()


@transaction.atomic
def undo_merge(issue: Issue, *, by: User | None) -> UndoResult:
    """Part an issue from the one that it was merged into: what moved, moves back.

    What was since moved elsewhere stays there, and a field that was since rewritten stays as it
    is; both are told. What the merge wrote of the issue goes along as a comment.

    Raises:
        Refused: It was not merged, the one that it went into has itself been merged, or what was
            written there under the seal of its tests would be open to all.
    """
    found = active_merge(issue)
    if found is None:
        raise Refused([f"{_named(issue)} is not merged into another."])
    rows = _locked([issue, found.kept])
    merged_away, kept = rows[issue.pk], rows[found.kept_id]
    if kept.merged_into is not None:
        raise Refused(
            [f"{_named(kept)} was itself merged into {_named(kept.merged_into)}: part these first."]
        )
    if _would_open(merged_away, kept, found):
        raise Refused([OPENED.format(_named(kept))])
    ROWS["comments"](kept, merged_away, by, found.moved.get("said", []))
    moved, left = 0, []
    for name, move in ROWS.items():
        wanted = found.moved.get(name, [])
        back = move(kept, merged_away, by, wanted)
        moved += len(back)
        if missing := len(wanted) - len(back):
            left.append(f"{missing} of {len(wanted)} {name} were moved on since and stay there.")
    left += _restore(kept, found, by)
    merged_away.state, merged_away.merged_into = found.state_before, None
    sign(merged_away, by, f"Merge into issue {kept.pk} taken back")
    merged_away.save()
    _point(_below(merged_away), merged_away, by)
    found.undone_at, found.undone_by = timezone.now(), by
    found.save()
    return UndoResult(moved, left)


def _below(issue: Issue) -> list[Issue]:
    """The issues that were merged into this one, or into one of those, and stand so."""
    active = Merge.objects.filter(undone_at=None).select_related("merged_away")
    direct = [found.merged_away for found in active.filter(kept=issue)]
    return [*direct, *(deeper for other in direct for deeper in _below(other))]


def _would_open(merged_away: Issue, kept: Issue, found: Merge) -> bool:
    """Whether the one that stays would show to all what was sealed with the tests that leave."""
    sealed = Test.objects.filter(issue=kept, sealed=True)
    if not sealed.exists() or sealed.exclude(pk__in=found.moved["tests"]).exists():
        return False
    own = [*found.moved.get("said", []), *found.moved.get("said_of_kept", [])]
    written = kept.comments.filter(created_at__gt=found.created_at).exclude(pk__in=own)
    return "description" in found.changed or written.exists()


def _restore(kept: Issue, found: Merge, by: User | None) -> list[str]:
    """Give the one that stays its own fields and tags again; tells what was changed since."""
    left = []
    for field, (before, after) in found.changed.items():
        if _plain(getattr(kept, field)) == after:
            setattr(kept, field, _unplain(field, before))
        else:
            left.append(f"Its {LABELS[field]} was changed since and stays as it is.")
    sign(kept, by, f"Issue {found.merged_away_id} parted from it again")
    kept.save()
    kept.tags.remove(*Tag.objects.filter(pk__in=found.moved.get("tags", [])))
    return left


def _named(issue: Issue) -> str:
    return f"issue {issue.pk} “{issue}”"
