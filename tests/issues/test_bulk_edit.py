"""Several issues are changed at once: asked, counted, and told by each one's history."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

from issues.bulk_edit import Change, edit_all, preview_changes
from issues.lifecycle.merging import merge
from issues.models import Issue, Tag
from tests.factories import make_issue, make_user
from tests.issues.pages import flashed_text, log_in, url

pytestmark = pytest.mark.django_db


def keys(*issues):
    return [issue.pk for issue in issues]


def tags(issue):
    return {tag.name for tag in issue.tags.all()}


def test_each_issue_changes_and_tells_who_changed_what():
    first, second = make_issue(tags=("old",)), make_issue(severity="high", tags=("old", "new"))
    user, new, old = make_user(), Tag.objects.get(name="new"), Tag.objects.get(name="old")
    change = Change(True, user, "high", (new,), (old,))

    assert preview_changes([first, second], change) == (2, 0, [])
    assert edit_all(keys(first, second), change, by=user) == (2, 0, [])

    first.refresh_from_db()
    assert (first.assignee, first.severity, tags(first)) == (user, "high", {"new"})
    record = second.history.latest()
    assert record.history_user == user
    assert record.history_change_reason == "Bulk edit: assignee, tags"


def test_what_is_so_already_gets_no_new_version():
    issue = make_issue(severity="high")
    versions = issue.history.count()

    assert edit_all(keys(issue), Change(severity="high"), by=make_user()) == (0, 1, [])
    assert issue.history.count() == versions


def test_what_is_not_chosen_stays():
    user = make_user()
    issue = make_issue(assignee=user, severity="low", tags=("a",))

    edit_all(keys(issue), Change(severity="high"), by=user)

    issue.refresh_from_db()
    assert (issue.assignee, tags(issue)) == (user, {"a"})


def test_nobody_can_be_assigned():
    issue = make_issue(assignee=make_user())

    edit_all(keys(issue), Change(assigns=True), by=make_user())

    issue.refresh_from_db()
    assert issue.assignee is None


def test_a_merged_issue_is_refused_by_name():
    gone, kept = make_issue(title="Gone"), make_issue()
    merge([gone], kept, by=None)

    edited = edit_all(keys(gone, kept), Change(severity="low"), by=make_user())

    assert edited == (1, 0, ["Gone was merged into another issue. Edit that one."])
    assert Issue.objects.get(pk=gone.pk).severity == "medium"


# The list ----------------------------------------------------------------------------------------


def select(client, *issues, **fields):
    sent = {"action": "change_selected", ACTION_CHECKBOX_NAME: keys(*issues), **fields}
    return client.post(url("issue_changelist"), sent)


def test_the_list_asks_what_then_whether_then_does_it(client):
    issues = [make_issue(), make_issue(severity="high")]
    user = log_in(client, "annotator")

    assert "Preview changes" in select(client, *issues).content.decode()
    assert not Issue.objects.exclude(assignee=None).exists()
    asked = select(client, *issues, step="what", severity="high").content.decode()
    assert "1 of 2 issues change; 1 need no change." in asked
    assert Issue.objects.filter(severity="high").count() == 1
    done = select(client, *issues, step="sure", severity="high", assignee="me")

    assert flashed_text(done) == ["2 issues changed; 0 needed no change."]
    assert Issue.objects.filter(severity="high", assignee=user).count() == 2


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({}, "Choose at least one change."),
        ({"severity": "huge"}, "huge is not one of the available choices"),
        ({"assignee": "0"}, "Issues cannot be assigned to user 0."),
        ({"add": "same", "remove": "same"}, "Cannot add and remove the same tags: same."),
    ],
)
def test_what_cannot_be_changed_is_asked_again(client, fields, problem):
    issue, tag = make_issue(), Tag.objects.create(name="same")
    log_in(client, "annotator")
    sent = {name: tag.pk if value == "same" else value for name, value in fields.items()}

    page = select(client, issue, step="sure", **sent).content.decode()

    assert problem in page


def test_a_viewer_changes_nothing(client):
    issue = make_issue()
    log_in(client, "viewer")

    select(client, issue, step="sure", severity="high")

    issue.refresh_from_db()
    assert issue.severity == "medium"


def test_only_who_may_change_issues_is_offered_and_a_refused_user_is_named(client):
    viewer, able = make_user("viewer", username="vera"), make_user("annotator", username="anna")
    gone = make_user("annotator", username="gus", is_active=False)
    issue = make_issue()
    log_in(client, "annotator")

    page = select(client, issue, step="what", assignee=viewer.pk).content.decode()

    assert "Issues cannot be assigned to vera." in page
    assert f'<option value="{able.pk}"' in page
    assert f'<option value="{gone.pk}"' not in page
