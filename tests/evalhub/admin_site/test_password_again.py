"""An old session gives no tokens, rights or keys; what was entered is kept while it asks."""

import re

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from evalhub.access.logins import ENTERED_AT
from evalhub.models import LanguageModel, Token
from tests.factories import make_model, make_user

pytestmark = pytest.mark.django_db

PASSWORD = "secret-phrase"


def log_in(client, role, *, minutes_ago):
    user = make_user(role)
    client.force_login(user)
    session = client.session
    session[ENTERED_AT] -= minutes_ago * 60
    session.save()
    return user


def kept(response) -> dict[str, str]:
    """The hidden fields of the question."""
    html = response.content.decode()
    assert "Enter your password again" in html
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {name: value for name, value in found if name != "csrfmiddlewaretoken"}


def url(name, *arguments):
    return reverse(f"admin:{name}", args=arguments)


def test_a_token_is_made_with_a_password_entered_long_ago_only_after_it_is_repeated(client):
    log_in(client, "viewer", minutes_ago=31)
    sent = {"name": "ci", "scope": "read"}
    address = url("evalhub_token_add")

    question = client.post(address, sent)
    assert (question.status_code, Token.objects.count()) == (200, 0)

    wrong = client.post(address, kept(question) | {"password_again": "guess"})
    assert "This is not your password" in wrong.content.decode()
    assert Token.objects.count() == 0

    made = client.post(address, kept(wrong) | {"password_again": PASSWORD})
    assert Token.objects.get().name == "ci"
    assert "ehub_" in made.content.decode()
    client.post(address, sent)
    assert Token.objects.count() == 2


def test_a_fresh_login_is_not_asked(client):
    log_in(client, "viewer", minutes_ago=29)
    client.post(url("evalhub_token_add"), {"name": "ci", "scope": "read"})
    assert Token.objects.exists()


@pytest.mark.parametrize("page", ["change", "password", "delete", "role", "new role", "many"])
def test_users_and_roles_are_changed_only_after_it(client, page):
    log_in(client, "superuser", minutes_ago=31)
    user, role = make_user("viewer"), Group.objects.create(name="mine")
    address, sent = {
        "change": (url("evalhub_user_change", user.pk), {"username": "other"}),
        "password": (
            reverse("admin:auth_user_password_change", args=[user.pk]),
            {"password1": "x"},
        ),
        "delete": (url("evalhub_user_delete", user.pk), {"post": "yes"}),
        "role": (url("auth_group_change", role.pk), {"name": "other"}),
        "new role": (url("auth_group_add"), {"name": "new"}),
        "many": (
            url("evalhub_user_changelist"),
            {"action": "delete_selected", "_selected_action": user.pk, "post": "yes"},
        ),
    }[page]

    assert kept(client.post(address, sent)) == {name: str(value) for name, value in sent.items()}
    user.refresh_from_db()
    assert user.username != "other"
    assert not Group.objects.filter(name__in=("other", "new")).exists()


@pytest.mark.parametrize(
    ("change", "asks"),
    [
        ({"api_base": "https://8.8.4.4/v1"}, True),
        ({"api_key_env": "SOME_KEY"}, True),
        ({"note": "Slow."}, False),
    ],
)
def test_a_model_asks_only_where_a_key_may_go_elsewhere(client, change, asks):
    log_in(client, "maintainer", minutes_ago=31)
    model = make_model(api_base="https://8.8.8.8/v1", name="Small")
    sent = {"name": "Small", "api_base": model.api_base, "api_key_env": model.api_key_env} | change

    html = client.post(url("evalhub_languagemodel_change", model.pk), sent).content.decode()

    assert ("Enter your password again" in html) is asks
    assert LanguageModel.objects.get().api_base == "https://8.8.8.8/v1"


def test_guesses_are_limited_like_logins(client, settings):
    settings.AXES_ENABLED = True
    log_in(client, "viewer", minutes_ago=31)
    sent = {"name": "ci", "scope": "read", "password_again": "guess"}
    codes = [client.post(url("evalhub_token_add"), sent).status_code for _ in range(6)]
    assert codes[-1] == 429
    last = client.post(url("evalhub_token_add"), sent | {"password_again": PASSWORD})
    assert last.status_code == 429
    assert not Token.objects.exists()
