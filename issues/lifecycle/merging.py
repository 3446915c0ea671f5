"""Merge issues about the same fault without losing anything, and undo it.

Tests, feedback, sources, comments and tags of the others move to the issue that is kept; the others
are deprecated and point to it. Results keep the issue they were frozen with at launch. Texts that
are not taken over are kept as comments.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from simple_history.utils import bulk_update_with_history

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from evalhub.refusals import Refused
from issues.lifecycle.states import APPROVE_ISSUE, CHANGE_ISSUE, MAX_REASON, Actor
from issues.models import Comment, Feedback, Issue, IssueState, Merge, Source, Tag, Test

LABELS = {
    "title": "title",
    "description": "description",
    "generic_statement": "public summary",
    "severity": "severity",
    "assignee": "assignee",
}
FIELDS = tuple(LABELS)
"""Fields that are chosen one by one; everything else moves or stays."""
OPENED = (
    "Its sealed tests would leave {}, and comments and history since the merge would "
    "be open to all. Seal one of its own tests first."
)
SIMPLE = {IssueState.DRAFT, IssueState.IN_REVIEW}
"""States of an issue that can be merged away without the right to approve."""


class UndoResult(NamedTuple):
    """Outcome of an undone merge: rows moved back, and messages about the others."""

    moved: int
    left: list[str]


def may_merge(issue: Issue, user: Actor) -> bool:
    """Return True if the user may merge the issue away; an approved one requires more rights."""
    return user.has_perm(CHANGE_ISSUE if issue.state in SIMPLE else APPROVE_ISSUE)


def problems_of(merged_away: Sequence[Issue], kept: Issue) -> list[str]:
    """List the reasons why these cannot be merged; [] if they can."""
    problems = [] if merged_away else ["Choose at least two issues."]
    if kept in merged_away:
        problems.append(f"{_named(kept)} cannot be merged into itself.")
    for issue in (*merged_away, kept):
        if issue.merged_into is not None:
            problems.append(
                f"{_named(issue)} has already been merged into {_named(issue.merged_into)}."
            )
    if kept.state == IssueState.DEPRECATED and kept.merged_into is None:
        problems.append(
            f"{_named(kept)} is deprecated. Put it back to draft, or keep another issue."
        )
    return problems


@transaction.atomic
def merge(
    merged_away: Sequence[Issue],
    kept: Issue,
    *,
    take: Mapping[str, Issue] | None = None,
    by: User | None,
) -> list[Merge]:
    """Merge issues into one that is kept; return a row for each merged issue.

    Args:
        take: The issue that a field is taken from, if not the kept one.

    Raises:
        Refused: One of them is merged already, or the kept one is deprecated.
        ValueError: A field is not in `FIELDS`, or comes from an issue that is not merged.
    """
    rows = _locked([*merged_away, kept])
    kept, merged_away = rows[kept.pk], [rows[issue.pk] for issue in merged_away]
    if problems := problems_of(merged_away, kept):
        raise Refused(problems)
    taken = {field: rows[issue.pk] for field, issue in (take or {}).items() if issue != kept}
    if unknown := set(taken) - set(FIELDS):
        raise ValueError(f"expected fields of {FIELDS}, got {sorted(unknown)}")
    before = {field: getattr(kept, field) for field in FIELDS}
    winners = {field: taken.get(field, kept) for field in FIELDS}
    lost = {issue.pk: _lost(issue, winners, issue == kept) for issue in (kept, *merged_away)}
    merges = [_merge_one(issue, kept, by) for issue in merged_away]
    _apply_fields(kept, taken, before, merges, by)
    comments = {
        pk: [Comment.objects.create(issue=kept, author=by, text=text).pk] if text else []
        for pk, text in lost.items()
    }
    for made in merges:
        made.moved["said"] = comments[made.merged_away_id]
        made.moved["said_of_kept"] = comments[kept.pk]
        made.save(update_fields=["moved"])
    return merges


def _locked(issues: Sequence[Issue]) -> dict[int, Issue]:
    """Return the rows locked, in one order so that two merges never deadlock."""
    keys = {issue.pk for issue in issues}
    rows = Issue.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    found = {issue.pk: issue for issue in rows}
    if lost := keys - found.keys():
        raise Refused([f"Issue {pk} no longer exists." for pk in sorted(lost)])
    return found


def _merge_one(merged_away: Issue, kept: Issue, by: User | None) -> Merge:
    moved = {name: move(merged_away, kept, by) for name, move in MOVERS.items()}
    made = Merge.objects.create(
        merged_away=merged_away, kept=kept, moved=moved, state_before=merged_away.state, by=by
    )
    merged_away.state, merged_away.merged_into = IssueState.DEPRECATED, kept
    save_signed(merged_away, by, f"Merged into issue {kept.pk}")
    _point(merged_away.merged.all(), kept, by)
    return made


def _point(issues: Iterable[Issue], holder: Issue, by: User | None) -> None:
    """Point issues merged earlier to the one that now holds their rows."""
    for issue in issues:
        issue.merged_into = holder
        save_signed(issue, by, f"Now merged into issue {holder.pk}")


def _apply_fields(
    kept: Issue,
    taken: Mapping[str, Issue],
    before: Mapping[str, Any],
    merges: Sequence[Merge],
    by: User | None,
) -> None:
    """Give the kept issue the chosen values; each merge records its own."""
    for field, issue in taken.items():
        setattr(kept, field, getattr(issue, field))
    for merge_ in merges:
        merge_.changed = {
            field: [_plain(before[field]), _plain(getattr(kept, field))]
            for field, issue in taken.items()
            if issue == merge_.merged_away and before[field] != getattr(kept, field)
        }
        merge_.save(update_fields=["changed"])
    others = ", ".join(str(merge_.merged_away_id) for merge_ in merges)
    save_signed(kept, by, f"Merged with issue {others}"[:MAX_REASON])


def _plain(value: Any) -> Any:
    return value.pk if isinstance(value, User) else value


def _lost(issue: Issue, winners: Mapping[str, Issue], stays: bool) -> str:
    """Return an issue's texts that lose to another's; "" for none."""
    lost = [
        f"{LABELS[field]}: {shown(issue, field)}"
        for field, winner in winners.items()
        if shown(issue, field) and shown(issue, field) != shown(winner, field)
    ]
    whose = (
        "Texts of this issue before a merge"
        if stays
        else f"Texts of issue {issue.pk}, merged into this one"
    )
    return "\n\n".join([f"{whose}:", *lost]) if lost else ""


def shown(issue: Issue, field: str) -> str:
    """Return a field's value as text; "" for none."""
    if field == "severity":
        return issue.get_severity_display()
    return str(getattr(issue, field) or "").strip()


def _move_recorded(model: Any, more: Mapping[str, Any]) -> Callable[..., list[int]]:
    """Return a function that moves rows and records it in their histories."""

    def move(
        merged_away: Issue, kept: Issue, by: User | None, keys: Sequence[int] | None = None
    ) -> Any:
        rows = model.objects.select_for_update().filter(issue=merged_away)
        found = list(rows if keys is None else rows.filter(pk__in=keys))
        for row in found:
            row.issue = kept
            for name, value in more.items():
                setattr(row, name, value())
        reason = "merged" if keys is None else "merge undone"
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
        rows = rows if keys is None else rows.filter(pk__in=keys)
        found = list(rows.values_list("pk", flat=True))
        model.objects.filter(pk__in=found).update(issue=kept)
        return found

    return move


def _add_tags(merged_away: Issue, kept: Issue, by: User | None) -> list[int]:
    """Add the merged issue's tags; it keeps its own."""
    new = sorted({tag.pk for tag in merged_away.tags.all()} - {tag.pk for tag in kept.tags.all()})
    sign(kept, by, f"Tags of issue {merged_away.pk}")
    kept.tags.add(*new)
    return new


ROWS: dict[str, Callable[..., list[int]]] = {
    "tests": _move_recorded(Test, {"updated_at": timezone.now}),
    "feedback": _move_recorded(Feedback, {}),
    "comments": _move_plain(Comment),
    "sources": _move_plain(Source),
}
MOVERS: dict[str, Callable[..., list[int]]] = {**ROWS, "tags": _add_tags}


def active_merge(issue: Issue) -> Merge | None:
    """Return the merge that is in force for this issue; None for none."""
    return Merge.objects.filter(merged_away=issue, undone_at=None).select_related("kept").first()


@transaction.atomic
def undo_merge(issue: Issue, *, by: User | None) -> UndoResult:
    """Undo the merge of an issue: rows that moved, move back.

    Rows moved elsewhere since stay there, and fields edited since stay as they are; both are
    reported. Comments that the merge wrote about the issue move along.

    Raises:
        Refused: It is not merged, the issue that it was merged into has itself been merged, or
            texts written there under the seal of its tests would be open to all.
    """
    found = active_merge(issue)
    if found is None:
        raise Refused([f"{_named(issue)} is not merged into another."])
    rows = _locked([issue, found.kept])
    merged_away, kept = rows[issue.pk], rows[found.kept_id]
    if kept.merged_into is not None:
        raise Refused(
            [f"{_named(kept)} was itself merged into {_named(kept.merged_into)}. Undo that first."]
        )
    if _would_open(merged_away, kept, found):
        raise Refused([OPENED.format(_named(kept))])
    ROWS["comments"](kept, merged_away, by, found.moved.get("said", []))
    moved, left = 0, []
    for name, move in ROWS.items():
        wanted = found.moved.get(name, [])
        count = len(move(kept, merged_away, by, wanted))
        moved += count
        if missing := len(wanted) - count:
            left.append(
                f"{missing} of {len(wanted)} {name} were moved elsewhere since then and stay there."
            )
    left += _restore(kept, found, by)
    merged_away.state, merged_away.merged_into = found.state_before, None
    save_signed(merged_away, by, f"Merge into issue {kept.pk} undone")
    _point(_below(merged_away), merged_away, by)
    found.undone_at, found.undone_by = timezone.now(), by
    found.save()
    return UndoResult(moved, left)


def _below(issue: Issue) -> list[Issue]:
    """Return the issues merged into this one, directly or not, with merges in force."""
    active = Merge.objects.filter(undone_at=None).select_related("merged_away")
    direct = [found.merged_away for found in active.filter(kept=issue)]
    return [*direct, *(deeper for other in direct for deeper in _below(other))]


def _would_open(merged_away: Issue, kept: Issue, found: Merge) -> bool:
    """Return True if the kept issue would show texts sealed with the tests that leave."""
    sealed = Test.objects.filter(issue=kept, sealed=True)
    if not sealed.exists() or sealed.exclude(pk__in=found.moved["tests"]).exists():
        return False
    own = [*found.moved.get("said", []), *found.moved.get("said_of_kept", [])]
    written = kept.comments.filter(created_at__gt=found.created_at).exclude(pk__in=own)
    return "description" in found.changed or written.exists()


def _restore(kept: Issue, found: Merge, by: User | None) -> list[str]:
    """Restore fields and tags of the kept issue; return messages about later edits."""
    left = []
    for field, (before, after) in found.changed.items():
        if _plain(getattr(kept, field)) == after:
            is_user = field == "assignee"
            value = User.objects.filter(pk=before).first() if is_user else before
            setattr(kept, field, value)
        else:
            left.append(f"Its {LABELS[field]} was edited since then and stays as it is.")
    save_signed(kept, by, f"Merge of issue {found.merged_away_id} undone")
    kept.tags.remove(*Tag.objects.filter(pk__in=found.moved.get("tags", [])))
    return left


def _named(issue: Issue) -> str:
    return f"issue {issue.pk} “{issue}”"
