"""Move tests and feedback between issues, tag tests, and split an issue in two.

A sealed test also seals the texts of its issue, so it leaves its issue only by a merge of the whole
issue, which keeps them sealed; so does feedback of an issue with a sealed test.
"""

from collections.abc import Iterable

from django.db import transaction

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from evalhub.refusals import Refused
from issues.lifecycle.states import MAX_REASON, Moved, check, each
from issues.models import Feedback, Issue, Tag, Test
from issues.triage.actions import attach, taking_issue


@transaction.atomic
def move_test(test: Test, issue: Issue, *, by: User) -> Issue:
    """Move a test to an issue; return the issue, for a merged one that it was merged into.

    Results of earlier runs keep the issue that they were counted for.

    Raises:
        Refused: The test is sealed or already there, or the issue is deprecated.
    """
    current = Test.objects.select_for_update(of=("self",)).get(pk=test.pk)
    issue = taking_issue(issue)
    if current.issue_id == issue.pk:
        raise Refused([f"Test {test.pk} already belongs to “{issue}”."])
    sign(current, by, f"Moved from issue {current.issue_id} to issue {issue.pk}")
    current.issue = issue
    check(current)
    current.save()
    return issue


def move_tests(tests: Iterable[Test], issue: Issue, *, by: User) -> Moved:
    """Move each test by itself, if possible."""
    return each(tests, lambda test: move_test(test, issue, by=by))


@transaction.atomic
def tag_tests(
    tests: Iterable[Test], *, add: Iterable[Tag] = (), remove: Iterable[Tag] = (), by: User
) -> int:
    """Change the own tags of tests; return the number of tests that changed."""
    added, removed = {tag.pk for tag in add}, {tag.pk for tag in remove}
    changed = 0
    for test in tests:
        before = set(test.tags.values_list("pk", flat=True))
        after = (before | added) - removed
        if after != before:
            sign(test, by, "Tags changed in bulk")
            test.tags.set(after)
            changed += 1
    return changed


@transaction.atomic
def link(
    issue: Issue, *, tests: Iterable[Test] = (), feedback: Iterable[Feedback] = (), by: User
) -> Moved:
    """Attach feedback to an issue and move tests to it, each by itself; count what came."""
    moved = move_tests(tests, issue, by=by)
    attached = each(feedback, lambda row: attach(row, issue, by=by))
    return Moved(moved.done + attached.done, [*moved.refused, *attached.refused])


@transaction.atomic
def split(
    issue: Issue, tests: Iterable[Test], feedback: Iterable[Feedback], *, title: str, by: User
) -> Issue:
    """Create a draft issue of some of an issue's tests and feedback, with its tags.

    Raises:
        Refused: Nothing is chosen, no title is given, or one of them cannot move; then none does.
    """
    tests, feedback = list(tests), list(feedback)
    problems = []
    if not title.strip():
        problems.append("Enter a title for the new issue.")
    if not tests and not feedback:
        problems.append("Choose at least one test or feedback item.")
    if problems:
        raise Refused(problems)
    new = Issue(title=title.strip(), severity=issue.severity, assignee=issue.assignee, author=by)
    save_signed(new, by, f"Split from issue {issue.pk}")
    new.tags.set(issue.tags.all())
    moved = link(new, tests=tests, feedback=feedback, by=by)
    if moved.refused:
        raise Refused(moved.refused)
    save_signed(issue, by, f"Split: {new.pk} created"[:MAX_REASON], update_fields=["updated_at"])
    return new
