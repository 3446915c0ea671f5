"""The inbox: what waits, one act after the other, and who was faster."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evalhub.admin_site.edit_conflicts import seen_of
from issues.admin.feedback.inbox import SHOWN
from issues.models import Feedback, Issue, Test
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import flashed_text, log_in, make_feedback, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def annotator(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "annotator")


PART = {"X-Requested-With": "fetch"}


def inbox(client, **query):
    return client.get(url("feedback_inbox"), query)


def act(client, item, name="", headers=None, **sent):
    sent = {"item": item.pk, "_seen": seen_of([item], SHOWN)} | sent
    if name:
        sent["act"] = name
    return client.post(url("feedback_inbox_act"), sent, headers=headers)


def text(response):
    return response.content.decode()


def test_the_newest_is_shown_with_its_three_texts(client):
    make_feedback(comment="Older.")
    make_feedback(prompt="**2 + 2?**", answer="5", comment="Newest.")

    page = text(inbox(client))

    assert "<strong>2 + 2?</strong>" in page
    assert "Newest." in page
    assert "2 waiting" in page


def test_where_there_is_nothing_it_is_said(client):
    undone = client.post(url("feedback_inbox_act"), {"act": "undo"})

    assert "The inbox is empty" in text(inbox(client))
    assert "no triage action" in flashed_text(undone)[0]
    assert act(client, make_feedback(), "delete").status_code == 404


def test_hostile_feedback_is_text_in_every_place(client):
    attack = "<script>alert(1)</script>"
    for _ in range(2):
        make_feedback(
            prompt=attack, answer=attack, comment=attack, source=attack, raw={"a": attack}
        )

    assert "<script>alert(1)" not in text(inbox(client))


def test_the_list_is_narrowed_by_what_is_chosen(client):
    make_feedback(comment="From the chat.", source="chat")
    make_feedback(comment="By mail.", source="mail")

    page = inbox(client, source="chat")

    assert [row["said"] for row in page.context["place"].rows] == ["From the chat."]


def test_after_an_act_comes_the_next_older_one(client):
    older, newer = make_feedback(comment="Older."), make_feedback()

    response = act(client, newer, "accept")

    assert response["Location"].endswith(f"?item={older.pk}")
    newer.refresh_from_db()
    assert newer.state == "accepted"


def test_a_script_gets_the_next_one_without_a_page_load(client):
    make_feedback(comment="Older.")
    newer = make_feedback()

    part = text(act(client, newer, "dismiss", headers=PART, note="Spam."))

    newer.refresh_from_db()
    assert (newer.state, newer.note) == ("dismissed", "Spam.")
    assert "<html" not in part
    assert "Dismissed." in part
    assert "Older." in part


def test_feedback_is_attached_and_marked_by_its_own_buttons(client):
    issue, first, second = make_issue(), make_feedback(), make_feedback()

    act(client, first, attach=issue.pk)
    act(client, second, duplicate=first.pk)

    second.refresh_from_db()
    assert (second.state, second.duplicate_of, second.issue) == ("duplicate", first, issue)


def test_a_new_issue_gets_the_tags_that_were_chosen(client):
    tag = make_issue(tags=("Maths",)).tags.get()

    act(client, make_feedback(comment="The sum is wrong."), "issue", tags=[tag.pk])

    assert list(Issue.objects.get(title="The sum is wrong.").tags.all()) == [tag]


def test_a_new_test_is_made_of_the_issue_that_was_chosen(client):
    issue = make_test(guidelines="Count.").issue

    act(client, make_feedback(), test_of=issue.pk)

    assert Test.objects.get(origin="feedback").guidelines == "Count."


def test_who_was_overtaken_keeps_the_note_and_is_told(client):
    item = make_feedback()
    seen = seen_of([item], SHOWN)
    item.state, item.note = "accepted", "Her reason"
    item._history_user = make_user(username="ann")
    item.save()

    response = act(client, item, "dismiss", headers=PART, _seen=seen, note="My reason")
    page = text(response)

    item.refresh_from_db()
    assert item.state == "accepted"
    assert "ann changed this" in page
    assert [(one.theirs.text, one.mine.text) for one in response.context["conflicts"]] == [
        ("Accepted", "Dismissed"),
        ("Her reason", "My reason"),
    ]
    assert "My reason</textarea>" in page

    again = unescape(re.search(r'name="_seen" value="([^"]*)"', page)[1])
    act(client, item, "dismiss", _seen=again, note="My reason")

    item.refresh_from_db()
    assert (item.state, item.note) == ("dismissed", "My reason")


def test_what_others_wrote_is_shown_beside_what_was_seen(client):
    item = make_feedback(comment="Wrong sum.")
    seen = seen_of([item], SHOWN)
    item.comment = "Wrong sum, and wrong tax."
    item.save()

    page = act(client, item, "issue", _seen=seen)

    (conflict,) = page.context["conflicts"]
    assert conflict.label == f"Feedback {item.pk}: comment"
    assert (conflict.theirs.text, conflict.mine.text) == (item.comment, "Wrong sum.")
    assert not Issue.objects.exists()


def test_the_same_choice_of_two_is_no_conflict(client):
    item = make_feedback()
    seen = seen_of([item], SHOWN)
    act(client, item, "dismiss", _seen=seen)

    response = act(client, item, "dismiss", _seen=seen, note="Spam.")

    item.refresh_from_db()
    assert (item.state, item.note, response.status_code) == ("dismissed", "Spam.", 302)


def test_undo_leads_back_to_the_feedback(client):
    make_feedback()
    item = make_feedback()
    act(client, item, "dismiss")

    response = client.post(url("feedback_inbox_act"), {"act": "undo"})

    item.refresh_from_db()
    assert (item.state, response["Location"].endswith(f"?item={item.pk}")) == ("new", True)


def test_an_undo_says_that_a_draft_made_of_it_is_gone(client):
    act(client, make_feedback(), "issue")

    response = client.post(url("feedback_inbox_act"), {"act": "undo"})

    assert "The draft created from it was deleted." in flashed_text(response)[-1]
    assert not Issue.objects.exists()


def test_ones_own_change_in_another_tab_is_named_so(client):
    item = make_feedback()
    seen = seen_of([item], SHOWN)
    act(client, item, "accept", _seen=seen)
    response = act(client, item, "dismiss", _seen=seen)
    assert "You changed this in another tab" in response.content.decode()


def test_sealed_feedback_waits_for_those_who_may_read_it(client):
    log_in(client, "viewer")
    item = make_feedback(comment="zebra", issue=make_test(sealed=True).issue)

    assert "zebra" not in text(inbox(client, item=item.pk))


def test_the_inbox_takes_as_many_queries_however_much_waits(client, django_assert_max_num_queries):
    tag_issue = make_issue(tags=("Maths",), title="Zebra sums")
    make_feedback(comment="Zebra sums are wrong.", issue=tag_issue)
    for _ in range(40):
        make_feedback(comment="Zebra sums are wrong.")
    inbox(client)
    with CaptureQueriesContext(connection) as few:
        inbox(client)
    queries = len(few)
    rows = [Feedback(comment=f"Zebra {n}", prompt="p") for n in range(3000)]
    Feedback.objects.bulk_create(rows)
    inbox(client)

    with django_assert_max_num_queries(queries + 1):  # one where the item shown resembles an issue
        page = inbox(client)
    assert "1,000+ waiting" in text(page)
    assert len(page.context["place"].rows) == 26


def test_issues_are_looked_up_by_title_or_number(client):
    issue = make_issue(title="Rounds currency")
    make_issue(title="Other")

    for wanted in ("currency", f"#{issue.pk}"):
        found = client.get(url("feedback_issues"), {"q": wanted})
        assert [one.pk for one in found.context_data["issues"]] == [issue.pk]


def test_what_is_alike_is_told_as_one_types(client):
    make_issue(title="Rounds currency amounts", tags=("Money",))
    sent = {"title": "The currency is rounded, the money is gone", "form": "issue"}

    page = text(client.post(url("feedback_similar"), sent))

    assert "Rounds currency amounts" in page
    assert "+ Money" in page


def test_the_form_makes_a_duplicate_of_what_names_an_original(client):
    original = make_feedback(issue=make_issue())
    sent = {"comment": "Again wrong.", "rating": "down", "duplicate_of": original.pk}

    client.post(url("feedback_add"), sent)

    made = Feedback.objects.get(comment="Again wrong.")
    assert (made.state, made.duplicate_of, made.issue) == ("duplicate", original, original.issue)


def test_the_form_asks_for_what_is_missing(client):
    row = url("feedback_change", make_feedback().pk)

    empty = text(client.post(url("feedback_add"), {"rating": "none"}))
    duplicate = text(client.post(row, {"state": "duplicate"}))

    assert "Enter a prompt, answer, comment or rating." in empty
    assert "Choose the original of this duplicate." in duplicate
