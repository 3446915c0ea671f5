"""Import of GRAFITE data: all of it or nothing, and each row once."""

from itertools import chain
from pathlib import Path
from typing import TypeVar

from django.db import transaction

from evalhub.values.strict_json import Problem
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import (
    Feedback,
    FeedbackState,
    Issue,
    JudgeTemplate,
    Origin,
    ResolutionLabel,
    Source,
    Tag,
    TemplateState,
    Test,
)
from runs.importers.accounts import Accounts
from runs.importers.grafite.format import read_grafite_data
from runs.importers.grafite.records import (
    Comment,
    FeedbackRecord,
    GrafiteData,
    IssueRecord,
    Tally,
    TestRecord,
)
from runs.importers.grafite.run_importer import load_runs, new_among

REASON = "Imported from GRAFITE"


class ImportRefused(ValueError):
    """Files that cannot be imported; `problems` lists all, with file and position."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


def read_folder(folder: Path) -> GrafiteData:
    """Return the data in a folder of JSON files.

    Raises:
        ImportRefused: Something in them is missing or wrong.
    """
    files, problems = {}, []
    for path in sorted(folder.glob("*.json")):
        try:
            files[path.name] = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            files[path.name] = "[]"
            problems.append(Problem(path.name, f"cannot be read: {error}."))
    grafite_data = read_grafite_data(files)
    if problems := [*problems, *grafite_data.problems]:
        raise ImportRefused(problems)
    return grafite_data


def import_grafite_data(grafite_data: GrafiteData, *, dry_run: bool = False) -> list[Tally]:
    """Add new rows. Existing rows keep the changes of users.

    Args:
        dry_run: Do everything, and then undo it.
    """
    with transaction.atomic():
        accounts = Accounts()
        load_builtin_templates()
        tallies = [
            *_load_labels(grafite_data),
            *_load_issues(grafite_data, accounts),
            _load_tests(grafite_data.tests, accounts),
            *load_runs(grafite_data.runs, accounts, templates()),
        ]
        transaction.set_rollback(dry_run)
    return tallies


def templates() -> dict[str, JudgeTemplate]:
    """Return the newest published template of each family."""
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED).order_by("version")
    return {template.family: template for template in published}


# Labels ------------------------------------------------------------------------------------------


def _load_labels(grafite_data: GrafiteData) -> list[Tally]:
    tags = dict.fromkeys(
        chain(
            grafite_data.tags,
            *(issue.tags for issue in grafite_data.issues),
            *(test.tags for test in grafite_data.tests),
        )
    )
    named = (issue.resolution_labels for issue in grafite_data.issues)
    labels = dict.fromkeys(chain(grafite_data.resolution_labels, *named))
    new_tags = [Tag.objects.get_or_create(name=name)[1] for name in tags]
    new_labels = [ResolutionLabel.objects.get_or_create(name=name)[1] for name in labels]
    return [
        Tally("tags", len(tags), sum(new_tags)),
        Tally("resolution labels", len(labels), sum(new_labels)),
    ]


# Feedback and issues -----------------------------------------------------------------------------


def _load_issues(grafite_data: GrafiteData, accounts: Accounts) -> list[Tally]:
    feedback = _load_feedback(grafite_data.feedback)
    new = new_among(grafite_data.issues, Issue)
    for record in new:
        _load_issue(record, accounts, feedback)
    return [
        Tally("feedback", len(grafite_data.feedback), len(feedback)),
        Tally("issues", len(grafite_data.issues), len(new)),
    ]


def _load_feedback(records: list[FeedbackRecord]) -> dict[str, Feedback]:
    """Return the new rows by their ids in the source."""
    new = new_among(records, Feedback)
    return {key: _save(Feedback(source_id=key, **fields)) for key, fields in new}


def _load_issue(record: IssueRecord, accounts: Accounts, feedback: dict[str, Feedback]) -> None:
    author = accounts.author(record.author)
    issue = _save(Issue(source_id=record.source_id, author=author, **record.fields))
    issue.tags.set(Tag.objects.filter(name__in=record.tags))
    labels = ResolutionLabel.objects.filter(name__in=record.resolution_labels)
    issue.resolution_labels.set(labels)
    elsewhere = [key for key in record.feedback_ids if not _link(feedback.get(key), issue)]
    sources = [*record.sources, *(("general", f"GRAFITE feedback {key}") for key in elsewhere)]
    Source.objects.bulk_create(Source(issue=issue, kind=k, value=v) for k, v in sources)
    _comment_on(issue, record.comments, accounts)


def _comment_on(row: Issue | Test, comments: list[Comment], accounts: Accounts) -> None:
    for comment in comments:
        author = accounts.known(comment.author)
        name = "" if author else comment.author
        made = row.comments.create(author=author, author_name=name, text=comment.text)
        if comment.created_at:
            row.comments.filter(pk=made.pk).update(created_at=comment.created_at)


def _link(feedback: Feedback | None, issue: Issue) -> bool:
    """Link feedback to the first issue that names it."""
    if feedback is None or feedback.issue is not None:
        return False
    feedback.issue, feedback.state = issue, FeedbackState.ACCEPTED
    _save(feedback)
    return True


# Tests -------------------------------------------------------------------------------------------


def _load_tests(records: list[TestRecord], accounts: Accounts) -> Tally:
    new = new_among(records, Test)
    owners = Issue.objects.filter(source_id__in={record.issue_id for record in new})
    issues = {issue.source_id: issue for issue in owners}
    by_family = templates()
    for record in new:
        _load_test(record, issues[record.issue_id], by_family, accounts)
    return Tally("tests", len(records), len(new))


def _load_test(
    record: TestRecord, issue: Issue, by_family: dict[str, JudgeTemplate], accounts: Accounts
) -> None:
    test = _save(
        Test(
            issue=issue,
            source_id=record.source_id,
            author=accounts.author(record.author),
            template=by_family[record.template] if record.template else None,
            origin=Origin.IMPORTED,
            **record.fields,
        )
    )
    test.tags.set(Tag.objects.filter(name__in=record.tags))
    _comment_on(test, record.comments, accounts)


Saved = TypeVar("Saved", Feedback, Issue, Test)


def _save(row: Saved) -> Saved:
    row._change_reason = REASON  # type: ignore[attr-defined]
    row.save()
    return row
