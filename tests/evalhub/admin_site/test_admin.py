"""The ground's pages: models, people, roles, tokens, calls and the queue."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task

from evalhub.models import Call, LanguageModel, Notification, Token, User, Worker
from tests.factories import make_model, make_user
from tests.provider import UNAUTHORIZED, Provider

pytestmark = pytest.mark.django_db


def url(name, *args):
    return reverse(f"admin:{name}", args=args)


def log_in(client, role):
    user = make_user(role)
    client.force_login(user)
    return user


def said(response):
    return [str(message) for message in get_messages(response.wsgi_request)]


def model_form(**changes):
    """Return the form data of a language model."""
    return {
        "name": "Small",
        "kind": "model",
        "method": "POST",
        "litellm_model": "openai/small",
        "is_active": "on",
        "params": "{}",
        "max_concurrency": 4,
        "timeout_s": 60,
    } | changes


# Who may see what --------------------------------------------------------------------------------

LISTS = (
    *("evalhub_languagemodel", "evalhub_call", "evalhub_worker", "evalhub_user", "auth_group"),
    *("axes_accessattempt", "evalhub_auditentry"),
)


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        ("", set()),
        ("viewer", {"evalhub_languagemodel"}),
        ("annotator", {"evalhub_languagemodel"}),
        ("maintainer", {"evalhub_languagemodel", "evalhub_call", "evalhub_worker", "evalhub_user"}),
        ("admin", set(LISTS)),
    ],
)
def test_roles_see_their_lists(client, role, seen):
    log_in(client, role)

    opened = {n for n in LISTS if client.get(url(f"{n}_changelist")).status_code == 200}

    assert opened == seen


def test_anonymous_users_are_sent_to_the_login(client):
    for name in (*LISTS, "evalhub_token"):
        response = client.get(url(f"{name}_changelist"))
        assert (response.status_code, "/login/" in response["Location"]) == (302, True), name


def test_nobody_writes_what_the_program_writes_or_schedules_a_call(client):
    log_in(client, "superuser")

    for name in ("evalhub_worker", "evalhub_call"):
        assert client.get(url(f"{name}_add")).status_code == 403, name
    assert not any(admin.site.is_registered(model) for model in (Schedule, OrmQ, Task))


# Language models ---------------------------------------------------------------------------------


def test_a_model_is_added_and_its_history_names_the_author(client):
    user = log_in(client, "maintainer")

    client.post(url("evalhub_languagemodel_add"), model_form())

    model = LanguageModel.objects.get(name="Small")
    assert model.history.get().history_user == user


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"api_base": "http://169.254.169.254/v1"}, "is not on the public internet"),
        ({"api_key_env": "sk-abc"}, "never the key itself"),
        ({"api_key_env": "EVALHUB_SECRET_KEY"}, "is not listed as a key"),
        ({"api_key_env": "POSTGRES_PASSWORD"}, "is not listed as a key"),
        (
            {"api_key_env": "SOME_KEY", "api_base": "https://8.8.8.8/v1"},
            "SOME_KEY may not be sent to 8.8.8.8:443",
        ),
        ({"params": '{"api_key": "x"}'}, "is set by EvalHub itself"),
        ({"params": "[1]"}, "Enter an object of parameters"),
        ({"max_concurrency": 0}, "greater than or equal to 1"),
    ],
)
def test_a_model_that_would_do_harm_is_refused_in_words(client, changes, problem):
    log_in(client, "maintainer")

    response = client.post(url("evalhub_languagemodel_add"), model_form(**changes))

    assert problem in response.content.decode()
    assert not LanguageModel.objects.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"api_base": "https://8.8.4.4/v1"},
            "base URL from https://8.8.8.8/v1 to https://8.8.4.4/v1",
        ),
        ({"api_key_env": "SOME_KEY", "api_base": "http://127.0.0.1/v1"}, "key variable from none"),
        ({"note": "Slow."}, ""),
    ],
)
def test_all_admins_are_notified_of_a_changed_connection(client, settings, change, words):
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    admins = {make_user("admin"), make_user("superuser")}
    log_in(client, "maintainer")
    model = make_model(name="Small", api_base="https://8.8.8.8/v1")
    form = model_form(**{"api_base": model.api_base, **change})

    response = client.post(url("evalhub_languagemodel_change", model.pk), form)

    assert response.status_code == 302
    notified = list(Notification.objects.filter(kind="security"))
    assert {one.recipient for one in notified} == (admins if words else set())
    assert all(words in one.text for one in notified)


def test_a_model_is_never_deleted(client):
    log_in(client, "superuser")
    model = make_model()

    response = client.post(url("evalhub_languagemodel_delete", model.pk), {"post": "yes"})

    assert response.status_code == 403
    assert LanguageModel.objects.filter(pk=model.pk).exists()


def test_deactivating_several_is_recorded_for_each(client):
    log_in(client, "maintainer")
    models = [make_model(), make_model()]
    sent = {"action": "deactivate", "_selected_action": [model.pk for model in models]}

    client.post(url("evalhub_languagemodel_changelist"), sent)

    assert not LanguageModel.objects.active().exists()
    assert [model.history.count() for model in models] == [2, 2]


@pytest.mark.parametrize(("value", "standing"), [("secret-value", "set"), ("", "not set")])
def test_the_page_says_whether_the_key_is_set_and_never_shows_it(
    client, monkeypatch, value, standing
):
    monkeypatch.setenv("SMALL_KEY", value)
    log_in(client, "maintainer")

    page = client.get(
        url("evalhub_languagemodel_change", make_model(api_key_env="SMALL_KEY").pk)
    ).content.decode()

    assert f"SMALL_KEY is {standing} in this web process" in page
    assert "secret-value" not in page


@pytest.mark.parametrize(("role", "is_told"), [("viewer", False), ("maintainer", True)])
def test_only_maintainers_see_a_models_address(client, role, is_told):
    told = {"api_base": "https://models.example.org", "api_key_env": "HIDDEN_KEY"}
    model = make_model(**told, params={"hidden_parameter": 1})
    log_in(client, role)
    pages = [
        client.get(url("evalhub_languagemodel_change", model.pk)),
        client.get(url("evalhub_languagemodel_history", model.pk)),
        client.get(url("evalhub_languagemodel_simple_history", model.pk, model.history.get().pk)),
        client.get(url("evalhub_languagemodel_changelist")),
    ]

    text = "".join(page.content.decode() for page in pages)

    words = ("models.example.org", "HIDDEN_KEY", "hidden_parameter")
    assert [word in text for word in words] == [is_told] * 3


def test_the_page_says_what_a_model_counts_as_and_the_list_that_prices_are_unknown(client):
    log_in(client, "viewer")
    model = make_model(name="openrouter:x-ai/grok-3-mini-beta")
    page = client.get(url("evalhub_languagemodel_change", model.pk)).content.decode()
    assert "xai:grok-3-mini (xAI, family Grok)" in page
    assert "not known" in client.get(url("evalhub_languagemodel_changelist")).content.decode()


def test_testing_the_connection_says_how_it_went_and_records_the_call(client, settings):
    log_in(client, "maintainer")

    def check(reply, words, kind, number):
        with Provider(script=lambda request: reply) as provider:
            settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{provider.port}"]
            model = make_model(api_base=provider.base_url)
            response = client.post(url("evalhub_languagemodel_probe", model.pk))
        assert words in said(response)[-number]
        call = Call.objects.latest("pk")
        assert (call.role, call.language_model, call.error_kind) == ("probe", model, kind)

    check("ready", "It works.", "", 3)
    check(UNAUTHORIZED, "It did not work.", "refused_key", 1)


def test_only_who_may_change_a_model_tests_it_and_only_by_post(client):
    model = make_model()
    log_in(client, "viewer")
    by_viewer = client.post(url("evalhub_languagemodel_probe", model.pk)).status_code
    log_in(client, "maintainer")
    by_get = client.get(url("evalhub_languagemodel_probe", model.pk)).status_code

    assert (by_viewer, by_get) == (403, 405)


# Calls and workers -------------------------------------------------------------------------------


def make_call():
    return Call.objects.create(
        language_model=make_model(),
        role="candidate",
        reply="the raw words",
        request_digest="d",
        started_at=timezone.now(),
    )


def test_a_call_is_read_by_who_may_read_sealed_text_and_never_changed(client):
    page, reader = url("evalhub_call_change", make_call().pk), log_in(client, "viewer")
    reader.user_permissions.add(Permission.objects.get(codename="view_call"))

    hidden = client.get(page).content.decode()
    assert "the raw words" not in hidden
    assert "it may hold the text of sealed tests" in hidden
    log_in(client, "maintainer")
    assert "the raw words" in client.get(page).content.decode()
    log_in(client, "superuser")
    assert client.post(page, {"reply": "other"}).status_code == 403
    assert Call.objects.get().reply == "the raw words"


def test_workers_are_listed(client):
    Worker.objects.create(name="host 12", started_at=timezone.now(), beat_at=timezone.now())
    log_in(client, "maintainer")

    assert "host 12" in client.get(url("evalhub_worker_changelist")).content.decode()


# People ------------------------------------------------------------------------------------------


def test_an_admin_adds_a_user_with_a_role(client):
    log_in(client, "admin")
    group = Group.objects.get(name="annotator")
    sent = {"username": "new", "usable_password": "true", "is_staff": "on", "groups": [group.pk]}
    sent |= {"password1": "long-and-odd-1", "password2": "long-and-odd-1"}

    client.post(url("evalhub_user_add"), sent)

    user = User.objects.get(username="new")
    assert (list(user.groups.all()), user.is_staff) == ([group], True)


def test_an_admin_makes_nobody_a_superuser(client):
    user = log_in(client, "admin")
    sent = {"username": user.username, "is_active": "on", "is_staff": "on", "is_superuser": "on"}

    client.post(url("evalhub_user_change", user.pk), sent)

    user.refresh_from_db()
    assert not user.is_superuser


def test_an_admin_touches_no_superuser_and_no_built_in_role(client):
    boss, group = make_user("superuser"), Group.objects.get(name="viewer")
    log_in(client, "admin")

    for response in (
        client.post(url("evalhub_user_change", boss.pk), {"username": "mine"}),
        client.get(url("auth_user_password_change", boss.pk)),
        client.post(url("auth_group_change", group.pk), {"name": "other"}),
        client.post(url("auth_group_delete", group.pk), {"post": "yes"}),
    ):
        assert response.status_code == 403


# Tokens ------------------------------------------------------------------------------------------


def make_token(user, **fields):
    return Token.objects.issue(user=user, name="script", **fields)


def test_a_new_tokens_text_is_shown_once_and_stored_nowhere(client):
    user = log_in(client, "annotator")

    made = client.post(url("evalhub_token_add"), {"name": "ci", "scope": "read"})

    text = made.context["token"].text
    token = Token.objects.get()
    assert text in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert (token.user, token.scope, token.prefix) == (user, "read", text[:10])
    for page in (url("evalhub_token_changelist"), url("evalhub_token_change", token.pk)):
        assert text not in client.get(page).content.decode()
    assert text not in str(Token.objects.values().get())


def test_a_user_sees_only_own_tokens_and_an_admin_all(client):
    theirs, _ = make_token(make_user("viewer"))
    user = log_in(client, "maintainer")
    mine, _ = make_token(user)

    listed = client.get(url("evalhub_token_changelist")).context["cl"].result_list

    assert list(listed) == [mine]
    assert client.get(url("evalhub_token_change", theirs.pk)).status_code == 302
    log_in(client, "admin")
    assert client.get(url("evalhub_token_changelist")).context["cl"].result_count == 2


def test_a_user_creates_tokens_for_nobody_else_and_an_admin_none_for_a_superuser(client):
    user, new = log_in(client, "annotator"), {"name": "ci", "scope": "read"}

    client.post(url("evalhub_token_add"), new | {"user": make_user("admin").pk})
    assert Token.objects.get().user == user
    log_in(client, "admin")
    client.post(url("evalhub_token_add"), new | {"user": make_user("superuser").pk})
    assert Token.objects.count() == 1


def test_a_token_makes_no_token():
    _, text = make_token(make_user("superuser"), scope="write")
    client = Client(headers={"authorization": f"Bearer {text}"})

    response = client.post(url("evalhub_token_add"), {"name": "more", "scope": "write"})

    assert "/login/" in response["Location"]
    assert Token.objects.count() == 1


def test_revoking_stops_a_token_and_keeps_its_row(client):
    token, _ = make_token(log_in(client, "viewer"))
    page = url("evalhub_token_revoke", token.pk)

    assert client.get(page).status_code == 405
    log_in(client, "maintainer")
    assert client.post(page).status_code == 404  # it is another's
    assert Token.objects.usable().exists()
    client.force_login(token.user)
    client.post(page)

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert not Token.objects.usable().exists()
    assert "revoked" in client.get(url("evalhub_token_changelist")).content.decode()
