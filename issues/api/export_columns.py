"""Columns of the exports of issues, tests and feedback. Those of `bulk/` are the same."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Model

from evalhub.api.exports import IS_READABLE, Column, among
from issues.content.feedback_content import SENT, TRIAGE
from issues.content.test_content import CONTENT, REMARKS
from issues.models import Criterion, Issue, Source, Test


def plain_columns(*names: str, withheld: Any = ...) -> tuple[Column, ...]:
    return tuple(Column(name, withheld=withheld) for name in names)


def _tags(model: type[Model]) -> Any:
    """Return the function that gathers the names of tags by the ids of their rows."""

    def gather(ids: Sequence[int]) -> Mapping[int, list[str]]:
        found = defaultdict(list)
        tagged = model._default_manager.filter(among("pk", ids), tags__isnull=False)
        for pk, name in tagged.order_by("pk", "tags__name").values_list("pk", "tags__name"):
            found[pk].append(name)
        return found

    return gather


def _criteria(ids: Sequence[int]) -> Mapping[int, list[dict[str, Any]]]:
    found = defaultdict(list)
    rows = Criterion.objects.filter(among("test", ids)).order_by("test", "order", "pk")
    for row in rows:
        found[row.test_id].append(row.as_content())
    return found


def _sources(ids: Sequence[int]) -> Mapping[int, list[dict[str, str]]]:
    found = defaultdict(list)
    rows = Source.objects.filter(among("issue", ids)).order_by("issue", "pk")
    for issue, kind, value in rows.values_list("issue_id", "kind", "value"):
        found[issue].append({"kind": kind, "value": value})
    return found


ISSUES = (
    *plain_columns("id", "source_id", IS_READABLE, "title"),
    *plain_columns("description", withheld=""),
    *plain_columns("generic_statement", "state", "severity"),
    Column("tags", gathered=_tags(Issue)),
    Column("assignee", "assignee__username"),
    Column("author", "author__username"),
    Column("sources", gathered=_sources, withheld="[]"),
    *plain_columns("resolution_note", withheld=""),
    *plain_columns("merged_into", "created_at", "updated_at"),
)

RELATED = {
    "criteria": Column("criteria", gathered=_criteria),
    "tags": Column("tags", gathered=_tags(Test)),
}
TESTS = (
    *plain_columns("id", "source_id", "issue"),
    Column("issue_source_id", "issue__source_id"),
    *(RELATED.get(name) or Column(name) for name in CONTENT),
    *plain_columns("state", "origin"),
    Column("author", "author__username"),
    *plain_columns("sealed", *REMARKS, "created_at", "updated_at"),
)

SENDER = ("source", "source_id")
FEEDBACK = plain_columns(
    "id", *SENDER, *(name for name in SENT if name not in SENDER), *TRIAGE, "created_at"
)
