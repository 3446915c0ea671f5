"""Of an issue with sealed tests, who may not read them sees the title and the generic statement."""

import pytest
from django.urls import reverse

from evalhub.models import Exposure
from issues.models import Issue
from issues.similarity.search import similar
from tests.api import client_of, ids
from tests.factories import make_issue, make_test, make_user
from tests.issues.pages import grant, log_in, url

pytestmark = pytest.mark.django_db

SECRET = "quotedwords"
HIDDEN = ("description", "resolution_note")


def sealed_issue(**fields):
    """An issue with a sealed test, which quotes it wherever it can."""
    texts = dict.fromkeys(HIDDEN, f"It says {SECRET}")
    issue = make_issue(title="Wrong sums", generic_statement="Sums are wrong.", **texts, **fields)
    make_test("Q?", issue=issue, sealed=True)
    issue.sources.create(value=f"chat about {SECRET}")
    issue.comments.create(text=f"Again {SECRET}", author=make_user())
    return issue


def pages_of(issue):
    version = issue.history.first().pk
    return [
        url("issue_changelist") + f"?q={SECRET}",
        url("issue_change", issue.pk),
        url("issue_history", issue.pk),
        reverse("admin:issues_issue_simple_history", args=[issue.pk, version]),
        url("issue_board"),
        reverse("admin:search") + f"?s={SECRET}",
        reverse("admin:autocomplete")
        + f"?app_label=issues&model_name=test&field_name=issue&term={SECRET}",
    ]


def shown(client, issue):
    """Return the pages that show sealed text, apart from the search term in addresses."""
    words = ("It says", "chat about", "Again")
    found = [(page, client.get(page).content.decode()) for page in pages_of(issue)]
    return [page for page, text in found if any(f"{word} {SECRET}" in text for word in words)]


def test_its_texts_are_on_no_page_of_theirs(client):
    issue = sealed_issue()
    log_in(client, "viewer")
    assert shown(client, issue) == []
    page = client.get(url("issue_change", issue.pk)).content.decode()
    assert "Sums are wrong." in page
    assert "Hidden, as are comments" in page


def test_annotators_read_them(client):
    issue = sealed_issue()
    log_in(client, "annotator")
    page, version = pages_of(issue)[1], pages_of(issue)[3]
    assert shown(client, issue) == [page, version]


def test_an_open_issue_is_read_by_all(client):
    issue = make_issue(description=f"It says {SECRET}")
    log_in(client, "viewer")
    assert url("issue_change", issue.pk) in shown(client, issue)


@pytest.mark.parametrize(("role", "count"), [("viewer", 0), ("annotator", 1)])
def test_a_search_does_not_tell_what_a_description_says(client, role, count):
    sealed_issue()
    log_in(client, role)
    page = client.get(url("issue_changelist") + f"?q={SECRET}").content.decode()
    assert page.count("Wrong sums") >= count
    assert ("Wrong sums" in page) is bool(count)
    assert len(ids(client_of(role).get(f"/api/v1/issues/?q={SECRET}"))) == count


def test_all_find_it_by_its_title(client):
    sealed_issue()
    log_in(client, "viewer")
    assert "Wrong sums" in client.get(url("issue_changelist") + "?q=wrong").content.decode()


def test_the_api_tells_the_statement_in_place_of_the_texts():
    issue = sealed_issue()
    told = client_of("viewer").get(f"/api/v1/issues/{issue.pk}/").json()
    assert (told["is_readable"], told["generic_statement"]) == (False, "Sums are wrong.")
    assert [told[name] for name in (*HIDDEN, "sources", "comments")] == ["", "", [], []]
    assert client_of("annotator").get(f"/api/v1/issues/{issue.pk}/").json()["is_readable"]


def test_who_may_not_read_it_cannot_write_over_it():
    issue, user = sealed_issue(), make_user("viewer")
    grant(user, "change_issue")
    script = client_of(user)
    response = script.patch(f"/api/v1/issues/{issue.pk}/", {"description": "New."})
    assert response.status_code == 400
    assert script.patch(f"/api/v1/issues/{issue.pk}/", {"title": "New"}).status_code == 200
    issue.refresh_from_db()
    assert issue.description == f"It says {SECRET}"


def test_the_page_keeps_the_texts_when_they_are_hidden(client):
    issue = sealed_issue()
    grant(log_in(client, "viewer"), "change_issue")
    sent: dict[str, object] = {
        "title": "New",
        "severity": "low",
        "generic_statement": "Sums.",
        "tags": [],
    }
    sent |= {f"{p}-{n}_FORMS": 0 for p in ("tests", "feedback") for n in ("TOTAL", "INITIAL")}
    client.post(url("issue_change", issue.pk), sent)
    issue.refresh_from_db()
    assert (issue.title, issue.description) == ("New", f"It says {SECRET}")


def test_it_is_not_said_to_be_alike_to_who_may_not_read_why():
    sealed_issue()
    text = f"It says {SECRET}"
    assert similar(text, reader=make_user("annotator"))
    assert similar(text, reader=make_user("viewer")) == []


def test_who_may_not_read_them_does_not_merge_them(client):
    issues = [sealed_issue(), make_issue()]
    grant(log_in(client, "viewer"), "change_issue")
    query = "&".join(f"issue={issue.pk}" for issue in issues)
    assert client.get(url("issue_merge") + f"?{query}").status_code == 403


def test_its_page_counts_sealed_tests_and_the_exposed_among_them(client):
    issue = sealed_issue()
    sealed = [make_test(issue=issue, sealed=True) for _ in range(2)]
    for day in ("2026-01-02", "2026-01-03"):
        Exposure.objects.create(test=sealed[0].pk, kind="sent", endpoint="a.org:443", day=day)
    log_in(client, "viewer")
    assert "3 sealed tests, 1 exposed" in client.get(url("issue_change", issue.pk)).content.decode()


def test_a_page_of_issues_takes_no_query_for_each(client, django_assert_max_num_queries):
    for _ in range(3):
        sealed_issue()
    log_in(client, "viewer")
    client.get(url("issue_changelist"))
    with django_assert_max_num_queries(25):
        client.get(url("issue_changelist"))
    assert Issue.objects.count() == 3


def test_what_was_merged_into_it_stays_hidden_though_its_tests_have_moved():
    gone, between, kept = sealed_issue(), make_issue(), make_issue()
    gone.tests.update(issue=kept)
    Issue.objects.filter(pk=gone.pk).update(merged_into=between)
    Issue.objects.filter(pk=between.pk).update(merged_into=kept)
    readable = Issue.objects.readable_by(make_user("viewer"))
    assert not readable.exists()
    assert Issue.objects.readable_by(make_user("annotator")).count() == 3
