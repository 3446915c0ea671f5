import pytest

from evalhub.models import Notification
from issues.assignees import notify_assigned
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db


def assigned(user, *, by=None):
    issue = make_issue(title="Counts wrongly")
    issue._history_user = by
    issue.assignee = user
    issue.save()
    return issue


def test_who_was_assigned_an_issue_is_told_by_whom():
    user, boss = make_user("annotator"), make_user("maintainer")
    issue = assigned(user, by=boss)
    notify_assigned()
    notification = Notification.objects.get(recipient=user)

    assert "Counts wrongly" in notification.title
    assert str(boss) in notification.text
    assert notification.url == issue.get_absolute_url()


def test_who_takes_an_issue_is_not_told():
    user = make_user("annotator")
    assigned(user, by=user)

    assert notify_assigned() == 0


def test_changing_something_else_tells_nobody_again():
    user = make_user("annotator")
    issue = assigned(user)
    notify_assigned()
    issue.severity = "high"
    issue.save()

    assert notify_assigned() == 0
    assert Notification.objects.count() == 1


def test_who_gets_it_back_later_is_told_again():
    user, other = make_user("annotator"), make_user("annotator")
    issue = assigned(user)
    notify_assigned()
    for next_person in (other, user):
        issue.assignee = next_person
        issue.save()
    notify_assigned()

    assert Notification.objects.filter(recipient=user).count() == 2
    assert Notification.objects.filter(recipient=other).count() == 1
