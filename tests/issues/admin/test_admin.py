"""The pages of issues: who may see and do what, and what is kept and told."""

import pytest
from django.urls import reverse

from issues.models import Comment, Feedback, Tag, Test
from tests.factories import make_issue, make_test, make_user
from tests.issues.lifecycle.test_readiness import make_reviewable_issue
from tests.issues.pages import flashed_text, form_of_a_test, issue_form, log_in, url

pytestmark = pytest.mark.django_db

# Who may see what ---------------------------------------------------------------------------------


def pages():
    test = make_test()
    feedback = Feedback.objects.create(comment="Wrong!")
    rows = {
        "issue": test.issue,
        "test": test,
        "feedback": feedback,
        "judgetemplate": test.template,
        "tag": Tag.objects.create(name="Math"),
    }
    lists = [url(f"{name}_changelist") for name in rows]
    changes = [url(f"{name}_change", row.pk) for name, row in rows.items()]
    histories = [url(f"{name}_history", row.pk) for name, row in rows.items()]
    return [*lists, *changes, *histories, url("test_preview", test.pk)]


def test_a_viewer_reads_every_page(client):
    log_in(client, "viewer")

    assert [page for page in pages() if client.get(page).status_code != 200] == []


@pytest.mark.parametrize(
    ("role", "status"), [("viewer", 403), ("annotator", 200), ("maintainer", 200)]
)
def test_writing_takes_the_right_to(client, role, status):
    log_in(client, role)

    for name in ("issue_add", "test_add", "feedback_add", "tag_add"):
        assert client.get(url(name)).status_code == status


def test_a_viewer_changes_nothing(client):
    log_in(client, "viewer")
    issue = make_issue(title="Before")

    response = client.post(url("issue_change", issue.pk), issue_form(issue, title="After"))

    issue.refresh_from_db()
    assert (response.status_code, issue.title) == (403, "Before")


def test_an_annotator_may_not_decide_on_an_issue_and_only_post_does(client):
    issue = make_reviewable_issue()
    address = url("issue_move", issue.pk)

    log_in(client, "annotator")
    for name in ("approve", "resolve", "deprecate"):
        assert client.post(address, {"move": name}).status_code == 403, name
    log_in(client, "maintainer")
    assert client.get(address, {"move": "approve"}).status_code == 200
    issue.refresh_from_db()
    assert issue.state == "draft"


# Issues -------------------------------------------------------------------------------------------


def test_the_list_of_issues_counts_approved_tests_and_feedback(client):
    issue = make_issue(tags=("Math",))
    for state in ("approved", "approved", "draft", "deprecated"):
        make_test(issue=issue, state=state)
    issue.feedback.create(comment="Wrong!")
    log_in(client, "viewer")

    row = client.get(url("issue_changelist")).context["cl"].result_list[0]

    assert (row.tests_approved, row.tests_total, row.feedback_total) == (2, 3, 1)


@pytest.mark.parametrize("name", ["issue", "test", "feedback", "tag", "judgetemplate"])
def test_a_list_takes_as_many_queries_with_many_rows_as_with_few(
    client, name, django_assert_max_num_queries
):
    log_in(client, "maintainer")
    populate()
    client.get(url(f"{name}_changelist"))
    with django_assert_max_num_queries(40) as few:
        client.get(url(f"{name}_changelist"))
    for _ in range(6):
        populate()

    with django_assert_max_num_queries(len(few)):
        page = client.get(url(f"{name}_changelist"))

    assert len(page.context["cl"].result_list) >= 7


def populate():
    issue = make_issue(tags=("Math", f"Tag {Tag.objects.count()}"), assignee=make_user())
    make_test(issue=issue)
    issue.feedback.create(comment="Wrong!")
    Tag.objects.create(name=f"Child {Tag.objects.count()}", parent=Tag.objects.first())


@pytest.mark.parametrize(("query", "found"), [("domain", True), ("task_type", False)])
def test_issues_are_found_by_a_tag_of_its_kind_and_those_below_it(client, query, found):
    domain = Tag.objects.create(name="Math", kind="domain")
    child = Tag.objects.create(name="Geometry", kind="task_type", parent=domain)
    issue, other = make_issue(tags=("Geometry",)), make_issue()
    chosen = domain if query == "domain" else Tag.objects.create(name="x", kind="task_type")
    log_in(client, "viewer")

    listed = client.get(url("issue_changelist"), {query: chosen.pk}).context["cl"].result_list

    assert child.parent == domain
    assert (issue in listed, other in listed) == (found, False)


def test_a_comment_on_an_issue_or_test_is_signed_by_its_writer(client):
    user, test = log_in(client, "annotator"), make_test()
    forms = {"comments-TOTAL_FORMS": 1, "comments-0-text": "Seen again."}

    client.post(url("issue_change", test.issue.pk), issue_form(test.issue, **forms))
    client.post(url("test_change", test.pk), form_of_a_test(issue=test.issue.pk, **forms))

    for comment in (test.issue.comments.get(), test.comments.get()):
        assert (comment.text, comment.author) == ("Seen again.", user)


def test_a_comment_that_was_made_stays(client):
    log_in(client, "maintainer")
    issue = make_issue()
    comment = Comment.objects.create(issue=issue, text="Seen.")
    forms = {
        "comments-TOTAL_FORMS": 1,
        "comments-INITIAL_FORMS": 1,
        "comments-0-id": comment.pk,
        "comments-0-issue": issue.pk,
        "comments-0-text": "Never said.",
        "comments-0-DELETE": "on",
    }

    client.post(url("issue_change", issue.pk), issue_form(issue, **forms))

    comment.refresh_from_db()
    assert comment.text == "Seen."


def test_sending_an_unready_issue_to_review_says_all_that_is_missing(client):
    log_in(client, "annotator")
    issue = make_issue(title="Empty", state="draft")

    response = client.post(url("issue_move", issue.pk), {"move": "review"})

    assert flashed_text(response) == [
        "Empty cannot be sent to review yet. Add a description. "
        "Add feedback or a source that shows it. Add a test that reproduces it."
    ]


def test_an_imported_issue_shows_what_it_lacks(client):
    log_in(client, "viewer")
    issue = make_issue(state="approved", source_id="grafite:1")

    assert "Add a description." in client.get(url("issue_change", issue.pk)).content.decode()


def test_resolving_asks_for_a_label_or_note_and_keeps_it(client):
    log_in(client, "maintainer")
    issue = make_reviewable_issue()
    client.post(url("issue_move", issue.pk), {"move": "approve"})

    asked = client.post(url("issue_move", issue.pk), {"move": "resolve", "note": ""})
    client.post(url("issue_move", issue.pk), {"move": "resolve", "note": "Fixed in 1.2"})

    issue.refresh_from_db()
    assert "Choose a label or write a note." in asked.content.decode()
    assert (issue.state, issue.resolution_note) == ("resolved", "Fixed in 1.2")


def test_deprecating_several_asks_first(client):
    log_in(client, "maintainer")
    tests = [make_test(), make_test()]
    sent = {"action": "deprecate", "_selected_action": [test.pk for test in tests]}

    asked = client.post(url("test_changelist"), sent)
    states = set(Test.objects.values_list("state", flat=True))
    client.post(url("test_changelist"), sent | {"post": "yes"})

    assert (asked.status_code, states) == (200, {"approved"})
    assert set(Test.objects.values_list("state", flat=True)) == {"deprecated"}


def test_approving_several_names_those_that_are_not_ready(client):
    log_in(client, "maintainer")
    good, bad = make_test(state="draft"), make_test(state="draft", guidelines="")
    sent = {"action": "approve", "_selected_action": [good.pk, bad.pk]}

    response = client.post(url("test_changelist"), sent)

    assert flashed_text(response) == [
        "1 test approved.",
        f"{bad} cannot be approved yet. Add guidelines for judges.",
    ]


def test_the_history_of_an_issue_shows_what_changed_and_who_did_it(client):
    user = log_in(client, "annotator")
    issue = make_issue(title="Before")
    client.post(url("issue_change", issue.pk), issue_form(issue, title="After"))
    version = issue.history.first()

    page = client.get(reverse("admin:issues_issue_simple_history", args=[issue.pk, version.pk]))

    text = page.content.decode()
    assert "<del>- Before</del>" in text
    assert "<ins>+ After</ins>" in text
    assert user.username in text


def test_the_history_survives_a_merged_tag(client):
    log_in(client, "viewer")
    issue = make_issue(tags=("Maths",))
    Tag.objects.get(name="Maths").delete()
    version = issue.history.first()

    listed = client.get(url("issue_history", issue.pk))
    page = client.get(reverse("admin:issues_issue_simple_history", args=[issue.pk, version.pk]))

    assert (listed.status_code, page.status_code) == (200, 200)
    assert "(deleted)" in page.content.decode()


def test_history_cannot_be_rewritten(client):
    log_in(client, "maintainer")
    issue = make_issue(title="Before")
    version = issue.history.first()

    response = client.post(
        reverse("admin:issues_issue_simple_history", args=[issue.pk, version.pk]),
        {"title": "Never so"},
    )

    assert response.status_code == 403
