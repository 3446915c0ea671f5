"""The issue's page: link, split, review with tests; and moving tests from their list."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

from issues.models import Issue, IssueState, TestState
from tests.factories import make_issue, make_test, make_user
from tests.issues.lifecycle.test_moves_with_tests import ready_issue, states_of
from tests.issues.pages import flashed_text, issue_form, log_in, make_feedback, url

pytestmark = pytest.mark.django_db


def test_saving_stays_on_the_issue(client):
    log_in(client, "annotator")
    issue = make_issue()
    page = client.post(url("issue_change", issue.pk), issue_form(issue, title="Other"))
    assert page.url == url("issue_change", issue.pk)


def test_assignees_are_those_who_may_change_issues_and_the_one_it_has(client):
    viewer, able = make_user("viewer", username="vera"), make_user("annotator", username="anna")
    gone = make_user("annotator", username="gus", is_active=False)
    log_in(client, "annotator")
    issue = make_issue(assignee=gone)
    address = url("issue_change", issue.pk)

    page = client.get(address).content.decode()
    refused = client.post(address, issue_form(issue, assignee=viewer.pk)).content.decode()
    client.post(address, issue_form(issue, assignee=gone.pk, title="Same user"))

    assert f'<option value="{able.pk}"' in page
    assert f'<option value="{gone.pk}" selected' in page
    assert f'<option value="{viewer.pk}"' not in page
    assert "Issues cannot be assigned to vera." in refused
    issue.refresh_from_db()
    assert (issue.title, issue.assignee) == ("Same user", gone)


def test_feedback_and_tests_are_linked_from_the_issue(client):
    log_in(client, "annotator")
    issue, test, row = make_issue(title="Rounds sums"), make_test(), make_feedback(comment="Sums!")
    elsewhere = make_feedback(issue=make_issue(), state="accepted", comment="Sums, too")
    address = url("issue_link", issue.pk)
    found = client.get(address, {"q": "sums"}).content.decode()
    assert "Sums!" in found
    assert "Sums, too" not in found
    chosen = {"feedback": [row.pk, elsewhere.pk], "test": [test.pk]}
    page = client.post(address, chosen)
    assert flashed_text(page) == ["2 rows linked to “Rounds sums”."]
    assert list(issue.feedback.all()) == [row]
    assert list(issue.tests.all()) == [test]


def test_sealed_tests_of_others_are_not_offered(client):
    log_in(client, "maintainer")
    issue, sealed = make_issue(), make_test("Secret words", sealed=True)
    address = url("issue_link", issue.pk)
    assert "Secret words" not in client.get(address, {"q": "Secret"}).content.decode()
    client.post(address, {"test": [sealed.pk]})
    sealed.refresh_from_db()
    assert sealed.issue != issue


def test_splitting_leads_to_the_new_issue(client):
    log_in(client, "annotator")
    test = make_test()
    make_test(issue=test.issue)
    page = client.post(url("issue_split", test.issue.pk), {"title": "Late", "test": [test.pk]})
    assert page.url == Issue.objects.get(title="Late").get_absolute_url()


def test_approval_says_what_went_along_and_can_be_undone(client):
    log_in(client, "maintainer")
    issue = ready_issue()
    good = make_test(issue=issue, state=TestState.DRAFT)
    bare = make_test(issue=issue, state=TestState.DRAFT, guidelines="")
    page = client.post(url("issue_move", issue.pk), {"move": "approve"})
    said = " ".join(flashed_text(page))
    assert "1 test approved." in said
    assert "guidelines" in said
    shown = client.get(url("issue_change", issue.pk)).content.decode()
    assert "Undo “Approve”" in shown
    assert "Approve 1 test" in shown
    client.post(url("issue_undo", issue.pk))
    issue.refresh_from_db()
    assert issue.state == IssueState.DRAFT
    assert states_of(good, bare) == [TestState.DRAFT, TestState.DRAFT]


def test_nobody_undoes_the_move_of_another(client):
    log_in(client, "maintainer")
    issue = ready_issue()
    make_test(issue=issue)
    client.post(url("issue_move", issue.pk), {"move": "approve"})
    log_in(client, "maintainer")
    assert "Undo “" not in client.get(url("issue_change", issue.pk)).content.decode()
    client.post(url("issue_undo", issue.pk))
    issue.refresh_from_db()
    assert issue.state == IssueState.APPROVED


def test_tests_of_the_list_move_to_an_issue(client):
    log_in(client, "annotator")
    issue, tests = make_issue(title="Target"), [make_test(), make_test()]
    sent = {"action": "move_selected", ACTION_CHECKBOX_NAME: [test.pk for test in tests]}
    asked = client.post(url("test_changelist"), sent)
    assert "Move 2 tests" in asked.content.decode()
    page = client.post(url("test_changelist"), sent | {"issue": issue.pk})
    assert flashed_text(page) == ["2 tests moved to “Target”."]
    assert issue.tests.count() == 2
