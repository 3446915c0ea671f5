"""Issues and tests made from an answer, by somebody who saw a new fault in it."""

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import sign
from issues.models import Issue, Test
from issues.states import Refused
from issues.triage.actions import taking_issue
from runs.models import Result


@transaction.atomic
def issue_of(result: Result, title: str, *, by: User) -> Test:
    """Create a draft issue of this title, with a draft test as by `test_of`; return the test.

    Raises:
        Refused: There is no title, or as `test_of`.
        ValidationError: The title is too long.
    """
    if not title.strip():
        raise Refused(["Enter a title for the new issue."])
    issue = Issue(title=title.strip(), author=by)
    issue.full_clean()
    sign(issue, by, f"Made from result {result.pk}")
    issue.save()
    return test_of(result, issue, by=by)


@transaction.atomic
def test_of(result: Result, issue: Issue, *, by: User) -> Test:
    """Create a draft test of an issue: what the model was asked, and its answer as flagged.

    It has the template and reference of the test behind the result, and is sealed if that is. What
    judges look for is left to its author.

    Raises:
        Refused: There is no answer, or the issue is deprecated.
    """
    if not hasattr(result, "answer"):
        raise Refused([f"Result {result.pk} has no answer to make a test from."])
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
    sign(test, by, f"Made from result {result.pk}")
    test.save()
    return test
