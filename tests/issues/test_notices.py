import pytest

from evalhub.models import Notice
from issues.notices import tell_assigned
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db


def assigned(person, *, by=None):
    issue = make_issue(title="Counts wrongly")
    issue._history_user = by
    issue.assignee = person
    issue.save()
    return issue


def test_who_was_assigned_an_issue_is_told_by_whom():
    person, boss = make_user("annotator"), make_user("maintainer")
    issue = assigned(person, by=boss)
    tell_assigned()
    notice = Notice.objects.get(recipient=person)

    assert "Counts wrongly" in notice.title
    assert str(boss) in notice.text
    assert notice.url == issue.get_absolute_url()


def test_who_takes_an_issue_is_not_told():
    person = make_user("annotator")
    assigned(person, by=person)

    assert tell_assigned() == 0


def test_changing_something_else_tells_nobody_again():
    person = make_user("annotator")
    issue = assigned(person)
    tell_assigned()
    issue.severity = "high"
    issue.save()

    assert tell_assigned() == 0
    assert Notice.objects.count() == 1


def test_who_gets_it_back_later_is_told_again():
    person, other = make_user("annotator"), make_user("annotator")
    issue = assigned(person)
    tell_assigned()
    for next_person in (other, person):
        issue.assignee = next_person
        issue.save()
    tell_assigned()

    assert Notice.objects.filter(recipient=person).count() == 2
    assert Notice.objects.filter(recipient=other).count() == 1
