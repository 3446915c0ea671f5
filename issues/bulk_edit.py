"""Edit several issues at once: assignee, severity, tags."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.lifecycle.states import is_merged
from issues.models import Issue, Severity, Tag


@dataclass(frozen=True)
class Change:
    """Edit to make on each issue. If `assigns`, `assignee` is set, possibly to None."""

    assigns: bool = False
    assignee: User | None = None
    severity: str = ""
    add: Sequence[Tag] = ()
    remove: Sequence[Tag] = ()

    def parts(self) -> list[str]:
        """Describe each part of the edit."""
        severity = Severity(self.severity).label.lower() if self.severity else ""
        parts = (
            (self.assigns, f"assigned to {self.assignee or 'nobody'}"),
            (self.severity, f"severity {severity}"),
            (self.add, f"with the tags {', '.join(map(str, self.add))}"),
            (self.remove, f"without the tags {', '.join(map(str, self.remove))}"),
        )
        return [words for is_wanted, words in parts if is_wanted]


class BulkResult(NamedTuple):
    """Counts of changed and unchanged issues, and the reasons for refusals."""

    changed: int
    same: int
    refused: list[str]


def preview_changes(issues: Iterable[Issue], change: Change) -> BulkResult:
    """Return the outcome of `edit_all` without saving. Prefetch the issues' tags."""
    return _counted((issue, bool(_changed(issue, change))) for issue in issues)


def edit_all(keys: Iterable[int], change: Change, *, by: User) -> BulkResult:
    """Edit each issue by itself; its history records the fields and the user."""
    rows = Issue.objects.filter(pk__in=list(keys)).order_by("pk")
    return _counted((issue, _edit(issue.pk, change, by)) for issue in rows)


def _counted(outcomes: Iterable[tuple[Issue, bool]]) -> BulkResult:
    changed, same, refused = 0, 0, []
    for issue, does_change in outcomes:
        if is_merged(issue):
            refused.append(f"{issue} was merged into another issue. Edit that one.")
        elif does_change:
            changed += 1
        else:
            same += 1
    return BulkResult(changed, same, refused)


@transaction.atomic
def _edit(key: int, change: Change, by: User) -> bool:
    issue = Issue.objects.select_for_update().get(pk=key)
    changed = [] if is_merged(issue) else _changed(issue, change)
    if not changed:
        return False
    sign(issue, by, f"Bulk edit: {', '.join(changed)}")
    if change.assigns:
        issue.assignee = change.assignee
    issue.severity = change.severity or issue.severity
    issue.save()
    issue.tags.add(*change.add)
    issue.tags.remove(*change.remove)
    return True


def _changed(issue: Issue, change: Change) -> list[str]:
    """Return the fields of the issue that would change."""
    tags = {tag.pk for tag in issue.tags.all()}
    wanted = (tags | {tag.pk for tag in change.add}) - {tag.pk for tag in change.remove}
    assignee_id = change.assignee.pk if change.assignee else None
    fields = (
        ("assignee", change.assigns and issue.assignee_id != assignee_id),
        ("severity", bool(change.severity) and issue.severity != change.severity),
        ("tags", tags != wanted),
    )
    return [name for name, differs in fields if differs]
