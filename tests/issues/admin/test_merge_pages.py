"""The pages and the API by which issues are merged and parted again."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME

from evalhub.history import sign
from issues.lifecycle.merging import merge
from issues.models import Issue
from tests.api import client_of, problems_in
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import flashed_text, grant, log_in, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def annotator(client):
    """Who asks, where a test logs in nobody else."""
    return log_in(client, "annotator")


def make_drafts():
    """Two drafts, which an annotator may merge."""
    titles = ("Rounds sums", "Cannot <b>add</b>")
    return [make_issue(title=t, description=f"{t}!", state="draft") for t in titles]


def merge_form(client, issues, **changes):
    """Return the data that a browser sends for a filled-in page."""
    page = client.get(url("issue_merge"), {"issue": [issue.pk for issue in issues]})
    sent = {"issue": [issue.pk for issue in issues], "_seen": page.context["seen"]}
    return {**sent, "kept": page.context["kept"].pk, **changes}


def test_two_of_the_list_are_shown_side_by_side_and_one_is_not_enough(client):
    issues = make_drafts()

    def choose(*chosen, **options):
        sent = {"action": "merge_selected", ACTION_CHECKBOX_NAME: [issue.pk for issue in chosen]}
        return client.post(url("issue_changelist"), sent, **options)

    page = choose(*issues, follow=True).content.decode()
    assert "Rounds sums!" in page
    assert "Cannot &lt;b&gt;add&lt;/b&gt;!" in page
    assert flashed_text(choose(issues[0])) == ["Choose 2 to 6 issues to merge."]


def test_the_page_of_an_issue_leads_to_another_by_its_words(client):
    first, second = make_drafts()

    page = client.get(url("issue_merge"), {"issue": first.pk, "q": "cannot"})

    assert [issue for issue, _ in page.context["found"]] == [second]


def test_merging_takes_what_was_chosen_of_each(client, annotator):
    first, second = make_drafts()
    make_test(issue=second)
    form = merge_form(client, [first, second], kept=first.pk, title=second.pk)

    client.post(url("issue_merge"), form)

    first.refresh_from_db()
    assert (first.title, first.description) == ("Cannot <b>add</b>", "Rounds sums!")
    assert first.tests.count() == 1
    assert first.history.latest().history_user == annotator


def test_the_merged_one_leads_to_where_it_went_and_back(client):
    first, second = make_drafts()
    merge([second], first, by=None)

    merged_away = client.get(url("issue_change", second.pk)).content.decode()
    kept = client.get(url("issue_change", first.pk)).content.decode()

    assert f'merged into <a class="eh-link" href="{first.get_absolute_url()}">' in merged_away
    assert url("issue_unmerge", second.pk) in merged_away
    assert f'merged here: <a class="eh-link" href="{second.get_absolute_url()}">' in kept


def test_a_change_by_somebody_else_is_looked_at_first(client):
    first, second = make_drafts()
    form = merge_form(client, [first, second], title=second.pk)
    before = second.description
    second.description = "Something else"
    sign(second, make_user("annotator", username="ann"), "")
    second.save()

    page = client.post(url("issue_merge"), form)

    assert "ann changed this at" in page.context["problems"][0]
    assert page.context["problems"][0].endswith("then merge.")
    conflict = page.context["conflicts"][0]
    assert conflict.label == f"Issue {second.pk}: description"
    assert (conflict.theirs.text, conflict.mine.text) == ("Something else", before)
    title = next(choice for choice in page.context["choices"] if choice["name"] == "title")
    assert [issue.pk for issue, _, chosen in title["values"] if chosen] == [second.pk]
    assert not Issue.objects.exclude(merged_into=None).exists()

    client.post(url("issue_merge"), form | {"_seen": page.context["seen"]})
    assert Issue.objects.exclude(merged_into=None).exists()


def test_who_may_not_approve_keeps_the_approved_one(client):
    draft, approved = make_issue(state="draft"), make_issue(state="approved")

    client.post(url("issue_merge"), merge_form(client, [draft, approved], kept=draft.pk))
    assert not Issue.objects.exclude(merged_into=None).exists()

    client.post(url("issue_merge"), merge_form(client, [draft, approved]))
    assert Issue.objects.exclude(merged_into=None).get() == draft


def test_of_sealed_tests_the_page_tells_the_number(client):
    issues = make_drafts()
    make_test("secret words", issue=issues[0], sealed=True)

    page = client.get(url("issue_merge"), {"issue": [i.pk for i in issues]}).content.decode()

    assert "1, 1 sealed" in page
    assert "secret words" not in page


def test_who_may_not_read_the_sealed_merges_none_of_it(client):
    issues = make_drafts()
    make_test(issue=issues[0], sealed=True)
    user = log_in(client, "viewer")
    grant(user, "change_issue")

    page = client.get(url("issue_merge"), {"issue": [issue.pk for issue in issues]})
    answer = client_of(user).post(f"/api/v1/issues/{issues[0].pk}/merge/", {"into": issues[1].pk})

    assert (page.status_code, answer.status_code) == (403, 403)


def test_parting_tells_what_moved_back(client):
    first, second = make_drafts()
    make_test(issue=second)
    merge([second], first, by=None)

    asked = client.get(url("issue_unmerge", second.pk)).content.decode()
    response = client.post(url("issue_unmerge", second.pk))

    assert "tests: 1" in asked
    assert flashed_text(response) == [
        "Cannot <b>add</b> is a separate issue again: 1 rows moved back."
    ]
    assert second.tests.count() == 1


@pytest.mark.parametrize("given", [[0], ["x"], [10**30], range(1, 9)])
def test_issues_that_there_are_not_are_not_found(client, given):
    assert client.get(url("issue_merge"), {"issue": list(given)}).status_code == 404


# API ---------------------------------------------------------------------------------------------


def test_a_script_merges_one_issue_into_another_and_parts_them_again():
    first, second = make_drafts()
    script, address = client_of("annotator"), f"/api/v1/issues/{first.pk}"

    merged = script.post(f"{address}/merge/", {"into": second.pk, "take": ["title"]})
    parted = script.post(f"{address}/unmerge/")

    assert (merged.status_code, merged.json()["id"]) == (200, second.pk)
    assert merged.json()["title"] == "Rounds sums"
    assert (parted.json()["state"], parted.json()["merged_into"]) == ("draft", None)


@pytest.mark.parametrize(
    ("body", "problem"), [({"into": 10**9}, "into"), ({"take": ["state"]}, "take"), ({}, "into")]
)
def test_a_script_learns_what_it_sent_wrong(body, problem):
    response = client_of("annotator").post(f"/api/v1/issues/{make_issue().pk}/merge/", body)

    assert response.status_code == 400
    assert problem in problems_in(response)


def test_a_script_without_the_right_to_approve_is_refused():
    first, second = make_issue(), make_issue()

    response = client_of("annotator").post(f"/api/v1/issues/{first.pk}/merge/", {"into": second.pk})

    assert response.status_code == 403
