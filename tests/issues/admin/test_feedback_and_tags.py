"""Feedback and tags in the admin."""

import pytest

from issues.models import Feedback, Issue, Tag, Test
from tests.factories import make_issue
from tests.issues.pages import flashed_text, log_in, make_feedback, url

pytestmark = pytest.mark.django_db


def test_feedback_becomes_an_issue_and_a_test_at_a_click(client):
    log_in(client, "annotator")
    address = url("feedback_act", make_feedback().pk)

    early = client.post(address, {"act": "test"})
    issue = client.post(address, {"act": "issue"})
    test = client.post(address, {"act": "test"})

    assert "create one from it" in flashed_text(early)[0]
    assert issue["Location"] == Issue.objects.get().get_absolute_url()
    assert test["Location"] == Test.objects.get().get_absolute_url()


def test_several_pieces_of_feedback_are_dismissed_at_once(client):
    log_in(client, "annotator")
    rows = [make_feedback(), make_feedback()]

    sent = {"action": "dismiss", "_selected_action": [row.pk for row in rows]}
    client.post(url("feedback_changelist"), sent)

    assert set(Feedback.objects.values_list("state", flat=True)) == {"dismissed"}


def test_what_was_received_cannot_be_changed(client):
    log_in(client, "maintainer")
    feedback = make_feedback()

    sent = {"state": "accepted", "note": "Seen.", "issue": "", "comment": "Right!"}
    client.post(url("feedback_change", feedback.pk), sent)

    feedback.refresh_from_db()
    assert (feedback.comment, feedback.note) == ("Wrong!", "Seen.")


def test_hostile_feedback_is_shown_as_text(client):
    log_in(client, "viewer")
    feedback = make_feedback(answer="<script>alert(1)</script>")

    page = client.get(url("feedback_change", feedback.pk)).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_tags_are_merged_after_a_target_is_chosen(client):
    log_in(client, "maintainer")
    issue = make_issue(tags=("Maths",))
    target, old = Tag.objects.create(name="Math"), Tag.objects.get(name="Maths")
    sent = {"action": "merge_tags", "_selected_action": [old.pk]}

    asked = client.post(url("tag_changelist"), sent)
    client.post(url("tag_changelist"), sent | {"target": target.pk})

    assert asked.status_code == 200
    assert list(issue.tags.all()) == [target]


def test_an_annotator_merges_no_tags(client):
    log_in(client, "annotator")
    old = Tag.objects.create(name="Maths")
    target = Tag.objects.create(name="Math")
    sent = {"action": "merge_tags", "_selected_action": [old.pk], "target": target.pk}

    client.post(url("tag_changelist"), sent)

    assert Tag.objects.filter(name="Maths").exists()


def tag_form(**changes):
    return {"name": "Math", "kind": "domain", "parent": ""} | changes


def test_a_tag_is_renamed_and_its_history_tells_the_old_name(client):
    log_in(client, "maintainer")
    tag = Tag.objects.create(name="Maths")

    client.post(url("tag_change", tag.pk), tag_form())

    page = client.get(url("tag_history", tag.pk)).content.decode()
    assert Tag.objects.get().name == "Math"
    assert "Maths" in page


def test_a_second_tag_of_the_same_name_is_refused_in_any_case(client):
    log_in(client, "maintainer")
    Tag.objects.create(name="math")

    response = client.post(url("tag_add"), tag_form())

    assert "already exists. Merge the two" in response.content.decode()
    assert Tag.objects.count() == 1
