"""Sample data: the project's own issues, tests and feedback."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed
from issues.content.feedback_content import FACTS, TEXTS
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import (
    Feedback,
    FeedbackState,
    Issue,
    IssueState,
    JudgeTemplate,
    Source,
    Tag,
    TemplateState,
    Test,
    TestState,
)

SAMPLE_FILE = Path(__file__).parent / "sample" / "workspace.json"


class SampleCounts(NamedTuple):
    """Numbers of rows added; existing ones are not counted."""

    issues: int
    tests: int
    feedback: int


def load_sample(by: User | None = None) -> SampleCounts:
    """Add missing sample data, approved. Existing rows stay as edited.

    `by` is named in the history.
    """
    return load_rows(json.loads(SAMPLE_FILE.read_text(encoding="utf-8")), by)


@transaction.atomic
def load_rows(sample: dict[str, list[dict[str, Any]]], by: User | None) -> SampleCounts:
    """Add the missing rows of a sample in the form of `SAMPLE_FILE`."""
    load_builtin_templates()
    tags: dict[str, Tag] = {}
    for row in sorted(sample["tags"], key=lambda row: row["parent"] is not None):
        defaults = {"kind": row["kind"], "parent": tags.get(row["parent"])}
        tags[row["name"]], _ = Tag.objects.get_or_create(name=row["name"], defaults=defaults)
    issues = {row["key"]: _issue(row, tags, by) for row in sample["issues"]}
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED).order_by("version")
    newest = {template.family: template for template in published}
    tests = [
        _test(row, issues[issue["key"]][0], newest, by)
        for issue in sample["issues"]
        for row in issue["tests"]
    ]
    feedback = [_feedback(row, issues, by) for row in sample["feedback"]]
    counts = ([made for _, made in rows] for rows in (issues.values(), tests, feedback))
    return SampleCounts(*map(sum, counts))


def _issue(row: dict[str, Any], tags: dict[str, Tag], by: User | None) -> tuple[Issue, bool]:
    names = ("title", "description", "generic_statement", "severity")
    issue, is_new = _added(Issue, row, names, by, state=IssueState.APPROVED)
    if is_new:
        issue.tags.set([tags[name] for name in row["tags"]])
        Source.objects.bulk_create(Source(issue=issue, **source) for source in row["sources"])
    return issue, is_new


def _test(
    row: dict[str, Any], issue: Issue, templates: dict[str, JudgeTemplate], by: User | None
) -> tuple[Test, bool]:
    fields = {
        "issue": issue,
        "template": templates[row["template"]],
        "reference": row["reference"] or "",
        "flagged_answer": row["flagged_answer"] or "",
        "state": TestState.APPROVED,
    }
    names = ("messages", "reference_by", "guidelines", "weight", "note")
    return _added(Test, row, names, by, **fields)


def _feedback(
    row: dict[str, Any], issues: dict[str, tuple[Issue, bool]], by: User | None
) -> tuple[Feedback, bool]:
    issue = issues[row["issue"]][0] if row["issue"] else None
    state = FeedbackState.ACCEPTED if issue else FeedbackState.NEW
    return _added(Feedback, row, (*TEXTS, *FACTS), by, issue=issue, state=state)


def _added(
    model: Any, row: dict[str, Any], names: Iterable[str], by: User | None, **fields: Any
) -> tuple[Any, bool]:
    """Return the row's object with True if it is new; copy the named fields of a new one."""
    source_id = f"sample:{row['key']}"
    if found := model.objects.filter(source_id=source_id).first():
        return found, False
    given = {name: row[name] for name in names if name in row}
    new = model(source_id=source_id, **given, **fields)
    save_signed(new, by, "Sample data")
    return new, True
