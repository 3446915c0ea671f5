"""The shell of every page: heading, search, errors, histories and confirmations."""

from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import Group, Permission
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags
from django.views.defaults import bad_request, server_error

from evalhub.models import Worker
from runs.models import Suite
from tests.factories import make_issue, make_model, make_run, make_template, make_test, make_user
from tests.runs.review.rows import make_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(client):
    client.force_login(make_user("superuser", username="head"))
    return client


def url(name, *args):
    return reverse(f"admin:{name}", args=args)


def page(client, address):
    return client.get(address).content.decode()


def text_of(html: str) -> str:
    return " ".join(strip_tags(html).split())


def heading(html: str) -> list[str]:
    """The parts of the page's heading."""
    inside = html.partition('class="eh-heading')[2].partition(">")[2].partition("</h1>")[0]
    return [part.strip() for part in unescape(strip_tags(inside)).split("chevron_right")]


# Heading -----------------------------------------------------------------------------------------


def test_the_heading_names_the_page(client):
    issue = make_issue(title="invents sources")
    places = {
        url("issues_issue_changelist"): ["Issues"],
        url("issues_issue_add"): ["Issues", "Add issue"],
        url("issues_issue_change", issue.pk): ["Issues", "invents sources"],
        url("issues_issue_history", issue.pk): ["Issues", "invents sources", "History"],
        url("issues_issue_delete", issue.pk): ["Issues", "invents sources", "Delete"],
        url("auth_group_add"): ["Settings", "Roles", "Add role"],
        url("evalhub_worker_changelist"): ["Settings", "Workers"],
        url("password_change"): ["Password change"],
    }

    assert {address: heading(page(client, address)) for address in places} == places


def test_a_name_in_the_heading_is_no_markup(client):
    issue = make_issue(title="<b>bold</b>")

    assert "<b>bold" not in page(client, url("issues_issue_change", issue.pk))


# Errors ------------------------------------------------------------------------------------------


def assert_whole(response: HttpResponse, status: int) -> None:
    html = response.content.decode()
    assert response.status_code == status
    assert f"Error {status}" in html
    assert 'href="/"' in html


def test_a_missing_page_links_back(client):
    response = client.get("/nowhere/")

    assert_whole(response, 404)
    assert "Page not found" in response.content.decode()


def test_a_forbidden_page_names_the_user():
    client = Client()
    client.force_login(make_user("viewer", username="curious"))
    response = client.get(url("evalhub_user_changelist"))

    assert_whole(response, 403)
    assert "curious" in response.content.decode()


def test_a_form_from_another_session_is_refused_in_words():
    response = Client(enforce_csrf_checks=True).post(url("login"), {"username": "x"})

    assert_whole(response, 403)
    assert "Nothing was saved" in response.content.decode()


@pytest.mark.parametrize(("view", "status"), [(bad_request, 400), (server_error, 500)])
def test_pages_of_last_resort_need_nothing_but_themselves(rf, view, status):
    arguments = [ValueError("secret")] if view is bad_request else []
    response = view(rf.get("/"), *arguments)

    assert_whole(response, status)
    assert b"secret" not in response.content


def test_the_address_of_an_action_explains_itself(client):
    response = client.get(reverse("admin:runs_run_control", args=[make_run().pk]))

    assert_whole(response, 405)
    assert response["Allow"] == "POST"


def test_too_many_failed_logins_show_the_wait(settings):
    settings.AXES_ENABLED = True
    client = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT):
        response = client.post(url("login"), {"username": "head", "password": "guess"})

    assert_whole(response, 429)
    assert "in 15 minutes" in response.content.decode()


# Histories ---------------------------------------------------------------------------------------


def test_a_history_shows_old_and_new_values(client):
    model = make_model(name="Small")
    model.name, model.developer = "Tiny", "Somebody"
    model.save()
    words = text_of(page(client, url("evalhub_languagemodel_history", model.pk)))

    assert "Changed by the system" in words
    assert "Small → Tiny" in words
    assert "empty → Somebody" in words
    assert "None" not in words


def test_a_history_shows_links_and_times_for_people(client):
    issue = make_issue()
    issue.assignee = make_user("maintainer", username="maria")
    issue.save()
    words = text_of(page(client, url("issues_issue_history", issue.pk)))
    first = issue.history.earliest()
    version = text_of(page(client, url("issues_issue_simple_history", issue.pk, first.pk)))

    assert "empty → maria" in words
    assert f"{issue.created_at:%Y-%m-%d %H:%M}" in version
    assert "+00:00" not in version


def test_rows_that_only_the_system_writes_offer_no_history(client):
    worker = Worker.objects.create(name="a:1", started_at=timezone.now(), beat_at=timezone.now())

    assert "/history/" not in page(client, url("evalhub_worker_change", worker.pk))


# Deleting ----------------------------------------------------------------------------------------


def test_deleted_rows_are_counted_without_mere_links(client):
    issue = make_issue(tags=("maths",))
    tag = issue.tags.get()
    tag.children.create(name="sums")
    words = text_of(page(client, url("issues_tag_delete", tag.pk)))

    assert "maths" in words
    assert "relationship" not in words


def test_the_selected_are_named_before_they_are_deleted(client):
    issue = make_issue(tags=("maths",))
    sent = {"action": "delete_selected", "_selected_action": [issue.tags.get().pk]}
    response = client.post(url("issues_tag_changelist"), sent)
    asked = text_of(response.content.decode())
    client.post(url("issues_tag_changelist"), sent | {"post": "yes"})

    assert "Delete the selected tag? maths" in asked
    assert not issue.tags.exists()


# Workers, people and roles -----------------------------------------------------------------------


def test_a_worker_without_heartbeat_is_not_responding(client):
    long_ago = timezone.now() - timedelta(hours=1)
    Worker.objects.create(name="a:1", started_at=long_ago, beat_at=long_ago)
    words = text_of(page(client, url("evalhub_worker_changelist")))

    assert "not responding" in words
    assert "working" not in words


def test_a_users_page_shows_nothing_of_the_hash(client):
    user = make_user("viewer")
    html = page(client, url("evalhub_user_change", user.pk))

    assert "Only its hash is stored" in html
    assert "salt" not in html
    assert 'href="../password/"' in html


def test_saving_a_user_keeps_the_password(client):
    user = make_user("viewer", username="old")
    sent = {"username": "new", "is_active": "on", "groups": [user.groups.get().pk]}
    client.post(url("evalhub_user_change", user.pk), sent)
    user.refresh_from_db()

    assert user.username == "new"
    assert user.check_password("secret-phrase")


def test_the_rights_of_a_built_in_role_are_listed_by_table(client):
    html = page(client, url("auth_group_change", Group.objects.get(name="viewer").pk))

    assert '<th scope="row">Issue</th><td>view</td>' in html
    assert "istorical" not in html


def test_a_custom_role_is_built_from_rights(client):
    right = Permission.objects.get(codename="view_issue")
    client.post(url("auth_group_add"), {"name": "readers", "permissions": [right.pk]})

    assert Group.objects.get(name="readers").permissions.get() == right


def test_deleting_says_what_stays_without_it(client):
    suite = Suite.objects.create(name="nightly")
    make_run(suite=suite)
    make_queue(follows=suite)
    html = client.get(reverse("admin:runs_suite_delete", args=[suite.pk])).content.decode()
    stays = html.partition("These stay, without it:")[2].partition("</ul>")[0]

    assert "Runs: 1" in stays
    assert "Queues: 1" in stays


def test_what_prevents_deleting_is_named_if_few_and_counted_if_many(client):
    template, used = make_template(state="draft"), []

    def shown():
        used.append(make_test(template=template))
        return text_of(page(client, url("issues_judgetemplate_delete", template.pk)))

    few, many = shown(), [shown() for _ in range(6)][-1]

    assert str(used[0]) in few.partition("Used by:")[2]
    assert "Test: 7" in many.partition("Used by:")[2]
    assert str(used[0]) not in many
