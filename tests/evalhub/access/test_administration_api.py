"""Models, users, tokens and webhooks by API: nobody gives more than they have."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from evalhub.http.idempotency import KeptAnswer
from evalhub.models import LanguageModel, Notification, Token, User, Webhook
from tests.api import client_of, ids, problems_in
from tests.factories import make_model, make_user

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def manager_of_users(**fields):
    """A user who may manage users and tokens, and little else."""
    user = make_user("viewer", **fields)
    user.user_permissions.set(Permission.objects.filter(content_type__model__in=("user", "token")))
    return user


# Language models ---------------------------------------------------------------------------------


def test_a_maintainer_creates_and_changes_a_model_and_admins_learn_of_its_address(settings):
    settings.EVALHUB_KEYS = ["LAB_KEY@models.example.org"]
    admin, client = make_user("admin"), client_of("maintainer")
    sent = {"name": "GPT", "litellm_model": "openai/gpt", "api_base": "https://models.example.org"}

    made = client.post("/api/v1/language-models/", sent)
    assert made.status_code == 201, made.content
    path = f"/api/v1/language-models/{made.json()['id']}/"
    assert client.patch(path, {"api_key_env": "LAB_KEY"}).status_code == 200

    assert LanguageModel.objects.get().api_key_env == "LAB_KEY"
    (told,) = Notification.objects.filter(recipient=admin)
    assert "key variable from none to LAB_KEY" in told.text


def test_a_model_cannot_be_led_astray_by_api(settings):
    settings.EVALHUB_KEYS = ["LAB_KEY@models.example.org"]
    model = make_model(api_base="https://models.example.org", api_key_env="LAB_KEY")
    path, client = f"/api/v1/language-models/{model.pk}/", client_of("maintainer")

    for name, value in (
        ("api_base", "http://169.254.169.254/"),
        ("api_base", "https://elsewhere.example"),
        ("api_key_env", "sk-123"),
        ("adress", "x"),
    ):
        assert client.patch(path, {name: value}).status_code == 400, value
    assert LanguageModel.objects.get().api_base == "https://models.example.org"


def test_a_session_needs_a_recent_password(client):
    client.force_login(make_user("admin"))
    session = client.session
    session["password_entered_at"] = 0
    session.save()

    sent = {"name": "w", "url": "https://hooks.example.org", "secret_env": "S", "kinds": ["report"]}
    response = client.post("/api/v1/webhooks/", sent, content_type="application/json")

    assert response.status_code == 403
    assert "Send a token" in response.json()["detail"]


# Tokens ------------------------------------------------------------------------------------------


def test_a_token_is_shown_once_and_works():
    client = client_of("admin")
    made = client.post(
        "/api/v1/tokens/", {"name": "CI", "scope": "read"}, headers={"idempotency-key": "a"}
    )

    assert made.status_code == 201, made.content
    script = client_of("viewer")
    script.credentials(HTTP_AUTHORIZATION=f"Bearer {made.json()['text']}")
    assert script.get("/api/v1/runs/").status_code == 200
    assert not KeptAnswer.objects.exists()
    path = f"/api/v1/tokens/{made.json()['id']}/"
    assert client.get(path).json()["text"] is None
    assert "digest" not in client.get(path).json()
    assert client.post(f"{path}revoke/").json()["revoked_at"]
    assert script.get("/api/v1/runs/").status_code == 401


@pytest.mark.parametrize(
    ("own", "asked", "field"),
    [
        ({"expires_at": timezone.now() + DAY}, {"expires_at": None}, "expires_at"),
        (
            {"expires_at": timezone.now() + DAY},
            {"expires_at": timezone.now() + 2 * DAY},
            "expires_at",
        ),
        ({"expires_at": None, "networks": "127.0.0.0/8"}, {}, "networks"),
        ({"expires_at": None, "networks": "127.0.0.0/8"}, {"networks": "0.0.0.0/0"}, "networks"),
        (
            {"expires_at": None, "networks": "127.0.0.0/8"},
            {"networks": "127.0.0.1 ::1"},
            "networks",
        ),
    ],
)
def test_a_token_creates_none_that_lasts_longer_or_reaches_further(own, asked, field):
    client = client_of("admin", **own)

    response = client.post("/api/v1/tokens/", {"name": "more", "scope": "write", **asked})

    assert response.status_code == 400
    assert list(problems_in(response)) == [field]
    assert Token.objects.count() == 1


def test_a_token_creates_one_within_its_limits_that_ends_no_later():
    end = timezone.now() + DAY
    client = client_of("admin", expires_at=end, networks="127.0.0.0/8")
    sent = {"name": "less", "scope": "read", "networks": "127.0.0.1"}
    assert client.post("/api/v1/tokens/", sent).status_code == 201
    assert Token.objects.get(name="less").expires_at == end


@pytest.mark.parametrize("role", ["superuser", "admin", "maintainer"])
def test_nobody_creates_a_token_of_or_changes_somebody_with_more_rights(role):
    """A changed e-mail address would be a way in by single sign-on."""
    target = make_user(role, username="target", email="a@example.org")
    client = client_of(manager_of_users())

    response = client.post("/api/v1/tokens/", {"name": "x", "user": "target"})
    assert response.status_code == 400
    assert "rights" in problems_in(response)["user"][0]
    assert not target.tokens.exists()
    changed = client.patch(f"/api/v1/users/{target.pk}/", {"email": "b@example.org"})
    assert changed.status_code == 403
    assert User.objects.get(pk=target.pk).email == "a@example.org"


def test_only_those_who_administer_tokens_see_others_and_nobody_else_creates():
    Token.objects.issue(user=make_user(), name="another's")
    maintainer = make_user("maintainer")

    assert len(ids(client_of(maintainer).get("/api/v1/tokens/"))) == 1
    assert len(ids(client_of("admin").get("/api/v1/tokens/"))) == 3
    assert client_of(maintainer).post("/api/v1/tokens/", {"name": "x"}).status_code == 403
    assert client_of("admin", "read").post("/api/v1/tokens/", {"name": "x"}).status_code == 403


# Users -------------------------------------------------------------------------------------------


def test_an_admin_creates_a_user_without_password_and_sets_them_inactive():
    client = client_of("admin")
    made = client.post("/api/v1/users/", {"username": "ann", "roles": ["annotator"]})

    assert made.status_code == 201, made.content
    ann = User.objects.get(username="ann")
    assert ann.has_perm("issues.add_issue")
    assert not ann.has_usable_password()
    assert client.patch(f"/api/v1/users/{ann.pk}/", {"is_active": False}).status_code == 200
    assert User.objects.filter(username="ann", is_active=False).exists()


@pytest.mark.parametrize("sent", [{"has_all_rights": True}, {"roles": ["admin"]}])
def test_nobody_gives_rights_that_they_lack(sent):
    giver = manager_of_users(username="giver")
    client = client_of(giver)

    client.patch(f"/api/v1/users/{giver.pk}/", sent)
    client.post("/api/v1/users/", {"username": "new", **sent})

    assert not User.objects.filter(is_superuser=True).exists()
    assert not Group.objects.get(name="admin").user_set.exists()


def test_passwords_are_in_no_answer_and_cannot_be_sent():
    client = client_of("admin")
    assert "password" not in client.get("/api/v1/users/").content.decode()
    assert client.post("/api/v1/users/", {"username": "x", "password": "y"}).status_code == 400


# Webhooks ----------------------------------------------------------------------------------------


def test_a_webhook_is_registered_by_api(settings):
    settings.EVALHUB_KEYS = ["HOOK_SECRET@hooks.example.org"]
    sent = {"name": "chat", "url": "https://hooks.example.org/x", "secret_env": "HOOK_SECRET"}
    client = client_of("maintainer")

    assert client.post("/api/v1/webhooks/", {**sent, "kinds": ["nothing"]}).status_code == 400
    response = client.post("/api/v1/webhooks/", {**sent, "kinds": ["run_finished"]})
    assert response.status_code == 201, response.content
    assert Webhook.objects.get().created_by is not None
    elsewhere = {"url": "https://elsewhere.example"}
    path = f"/api/v1/webhooks/{response.json()['id']}/"
    assert client.patch(path, elsewhere).status_code == 400
