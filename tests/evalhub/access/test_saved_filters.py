"""Saved filters of a list belong to the user who saved them."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from evalhub.access.saved_filters import MAX_QUERY, save, saved_query
from evalhub.limits import MAX_SAVED_FILTERS
from evalhub.models import SavedFilter
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db

ISSUES = "admin:issues_issue_changelist"


@pytest.fixture
def user(client):
    user = make_user("annotator")
    client.force_login(user)
    return user


def keep(client, **fields):
    sent = {"page": ISSUES, "query": "severity__exact=high", "name": "Grave", **fields}
    return client.post(reverse("admin:save_filter"), sent)


def test_what_is_filtered_is_kept_and_applied(client, user):
    make_issue(title="Grave one", severity="high")
    make_issue(title="Light one", severity="low")

    response = client.post(
        reverse("admin:save_filter"),
        {"page": ISSUES, "query": "severity__exact=high&p=2&q=&_popup=1", "name": "  Grave  ones "},
        follow=True,
    )

    row = SavedFilter.objects.get()
    assert (row.user, row.name, row.query) == (user, "Grave ones", "severity__exact=high")
    assert [issue.title for issue in response.context["cl"].result_list] == ["Grave one"]
    assert f'href="{reverse(ISSUES)}?severity__exact=high" aria-current="true"' in (
        response.content.decode()
    )


@pytest.mark.parametrize("page", ["admin:issues_issue_board", "admin:runs_run_changelist"])
def test_each_list_has_its_own(client, user, page):
    save(user, page, "Mine", "q=x")

    assert ">Mine</a>" in client.get(reverse(page)).content.decode()
    assert ">Mine</a>" not in client.get(reverse(ISSUES)).content.decode()


def test_nobody_sees_or_deletes_anothers(client, user):
    row = save(make_user("annotator"), ISSUES, "Hers", "q=x")

    assert ">Hers</a>" not in client.get(reverse(ISSUES)).content.decode()
    assert client.post(reverse("admin:delete_filter", args=[row.pk])).status_code == 404
    assert SavedFilter.objects.exists()


def test_deleting_leaves_the_list_as_it_was(client, user):
    row = save(user, ISSUES, "Mine", "q=x")

    url = reverse("admin:delete_filter", args=[row.pk])
    assert client.get(url).status_code == 405
    response = client.post(url, {"query": "q=y"})

    assert response.url == reverse(ISSUES) + "?q=y"
    assert not SavedFilter.objects.exists()


def test_a_taken_name_is_confirmed_with_the_input_kept(client, user):
    save(user, ISSUES, "Grave", "q=old")

    asked = keep(client, name="grave").content.decode()
    assert "already has a saved filter “Grave”." in asked
    assert 'value="grave"' in asked
    assert 'value="severity__exact=high"' in asked

    keep(client, name="grave", replace="on")
    assert SavedFilter.objects.get().query == "severity__exact=high"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": ""}, "This field is required"),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"query": "p=3"}, "Nothing is filtered"),
        ({"query": "q=" + "x" * MAX_QUERY}, f"more than {MAX_QUERY}"),
    ],
)
def test_invalid_filters_are_refused(client, user, fields, problem):
    assert problem in keep(client, **fields).content.decode()
    assert not SavedFilter.objects.exists()


@pytest.mark.parametrize(
    "page", ["", "nowhere", "https://example.org/", "admin:index", "admin:no_such_changelist"]
)
def test_only_lists_have_filters(client, user, page):
    assert keep(client, page=page).status_code == 404


def test_there_is_an_end_to_how_many(user):
    for number in range(MAX_SAVED_FILTERS):
        SavedFilter.objects.create(user=user, page=ISSUES, name=str(number), query="q=x")

    with pytest.raises(ValidationError, match="delete one first"):
        save(user, ISSUES, "One more", "q=x")


def test_a_kept_filter_meets_the_lists_own_checks(client, user):
    row = save(user, ISSUES, "Sly", "author__password__startswith=p")

    assert client.get(f"{reverse(ISSUES)}?{row.query}").status_code == 400


def test_a_hostile_name_is_no_markup(client, user):
    save(user, ISSUES, "<b>bold", 'q="><script>')

    html = client.get(reverse(ISSUES)).content.decode()
    assert "<b>bold" not in html
    assert "&lt;b&gt;bold" in html


@pytest.mark.parametrize(
    ("query", "kept"), [("b=1&a=2&a=3", "b=1&a=2&a=3"), ("a=&p=1", ""), ("a=%00x", "a=x")]
)
def test_pairs_are_kept_as_they_are(query, kept):
    assert saved_query(query) == kept
