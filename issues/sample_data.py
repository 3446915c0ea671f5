"""Sample data: the project's own issues, tests and feedback."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
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


@transaction.atomic
def load_sample(by: User | None = None) -> SampleCounts:
    """Add missing sample data, approved. Existing rows stay as edited.

    `by` is named in the history.
    """
    load_builtin_templates()
    sample: dict[str, list[dict[str, Any]]] = json.loads(SAMPLE_FILE.read_text(encoding="utf-8"))
    tags = _tags(sample["tags"])
    issues = {row["key"]: _issue(row, tags, by) for row in sample["issues"]}
    templates = _templates()
    tests = [
        _test(row, issues[issue["key"]][0], templates, by)
        for issue in sample["issues"]
        for row in issue["tests"]
    ]
    feedback = [_feedback(row, issues, by) for row in sample["feedback"]]
    return SampleCounts(sum(made for _, made in issues.values()), sum(tests), sum(feedback))


def _tags(rows: list[dict[str, Any]]) -> dict[str, Tag]:
    tags: dict[str, Tag] = {}
    for row in sorted(rows, key=lambda row: row["parent"] is not None):
        parent = tags.get(row["parent"])
        defaults = {"kind": row["kind"], "parent": parent}
        tags[row["name"]], _ = Tag.objects.get_or_create(name=row["name"], defaults=defaults)
    return tags


def _templates() -> dict[str, JudgeTemplate]:
    """Return the newest published template of each family."""
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED).order_by("version")
    return {template.family: template for template in published}


def _issue(row: dict[str, Any], tags: dict[str, Tag], by: User | None) -> tuple[Issue, bool]:
    """Return the issue, and True if it was created."""
    found = Issue.objects.filter(source_id=_source_id(row)).first()
    if found:
        return found, False
    fields = ("title", "description", "generic_statement", "severity")
    issue = Issue(
        state=IssueState.APPROVED, source_id=_source_id(row), **{f: row[f] for f in fields}
    )
    _save(issue, by)
    issue.tags.set([tags[name] for name in row["tags"]])
    Source.objects.bulk_create(Source(issue=issue, **source) for source in row["sources"])
    return issue, True


def _test(
    row: dict[str, Any],
    issue: Issue,
    templates: dict[str, JudgeTemplate],
    by: User | None,
) -> bool:
    if Test.objects.filter(source_id=_source_id(row)).exists():
        return False
    fields = ("messages", "reference_by", "guidelines", "weight", "note")
    test = Test(
        issue=issue,
        template=templates[row["template"]],
        reference=row["reference"] or "",
        flagged_answer=row["flagged_answer"] or "",
        state=TestState.APPROVED,
        source_id=_source_id(row),
        **{f: row[f] for f in fields},
    )
    _save(test, by)
    return True


def _feedback(row: dict[str, Any], issues: dict[str, tuple[Issue, bool]], by: User | None) -> bool:
    if Feedback.objects.filter(source_id=_source_id(row)).exists():
        return False
    fields = ("prompt", "answer", "rating", "comment", "model", "source")
    issue = issues[row["issue"]][0] if row["issue"] else None
    feedback = Feedback(
        issue=issue,
        state=FeedbackState.ACCEPTED if issue else FeedbackState.NEW,
        source_id=_source_id(row),
        **{f: row[f] for f in fields},
    )
    _save(feedback, by)
    return True


def _source_id(row: dict[str, Any]) -> str:
    return f"sample:{row['key']}"


def _save(row: Issue | Test | Feedback, by: User | None) -> None:
    sign(row, by, "Sample data")
    row.save()
