"""Issues and tests made from answers, by somebody who saw a new fault in them, and their undo."""

from collections.abc import Collection, Sequence

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.lifecycle.undoable_drafts import delete_untouched
from issues.models import Issue, Test
from issues.triage.actions import taking_issue
from runs.models import Result


@transaction.atomic
def issue_of(results: Sequence[Result], title: str, *, by: User) -> list[Test]:
    """Create a draft issue of this title, with draft tests as by `tests_of`; return the tests.

    Raises:
        Refused: There is no title, or as `tests_of`.
        ValidationError: The title is too long.
    """
    if not title.strip():
        raise Refused(["Enter a title for the new issue."])
    issue = Issue(title=title.strip(), author=by)
    issue.full_clean()
    save_signed(issue, by, f"Made from result {results[0].pk}")
    return tests_of(results, issue, by=by)


@transaction.atomic
def tests_of(results: Sequence[Result], issue: Issue | None, *, by: User) -> list[Test]:
    """Create draft tests of an issue: what the model was asked, and its answer as flagged.

    Each has the template and reference of the test behind its result, and is sealed if that is.
    What judges look for is left to its author.

    Args:
        issue: None takes the issue of each result.

    Raises:
        Refused: There is no answer, or the issue is deprecated.
    """
    return [_test_of(result, issue or result.issue, by) for result in results]


def _test_of(result: Result, issue: Issue, by: User) -> Test:
    if not hasattr(result, "answer"):
        raise Refused([f"Result {result.pk} has no answer to make a test from."])
    if result.answer.removed_at:
        raise Refused([f"Result {result.pk}: {result.answer.text}"])
    asked, source = result.revision.content, result.test
    test = Test(
        issue=taking_issue(issue),
        messages=asked["messages"],
        tools=asked["tools"],
        context=asked["context"],
        reference=asked["reference"],
        reference_by=source.reference_by,
        flagged_answer=result.answer.text,
        template=result.revision.template,
        sealed=source.sealed,
        note=f"From result {result.pk} of {result.run}.",
        author=by,
    )
    return save_signed(test, by, f"Made from result {result.pk}")


@transaction.atomic
def undo_filing(tests: Collection[int], issue: int | None, *, by: User) -> None:
    """Delete the drafts that filing made, and nothing else.

    Args:
        issue: The issue made for the tests; None if they were made of other issues.

    Raises:
        Refused: One of them was changed or used since; then all stay.
    """
    drafts = list(Test.objects.filter(pk__in=tests).select_for_update())
    issues = list(Issue.objects.filter(pk__in=[issue or 0]).select_for_update())
    if len(drafts) < len(tests) or len(issues) < bool(issue):
        raise Refused(["Some of what was made is deleted already, so nothing was undone."])
    for row in (*drafts, *issues):
        if not delete_untouched(row, "Filing undone", by=by):
            name = row._meta.verbose_name
            raise Refused([f"The {name} “{row}” was changed or used since, so nothing was undone."])
