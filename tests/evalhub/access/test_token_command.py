import pytest
from django.core.management import CommandError, call_command

from evalhub.models import Token, User
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def token(capsys, *arguments):
    call_command("token", *arguments)
    return capsys.readouterr().out


def test_a_pipeline_gets_a_user_with_a_role_and_a_token_that_works(capsys, client):
    text = token(capsys, "ci", "--role", "maintainer", "--scope", "write").strip()

    headers = {"Authorization": f"Bearer {text}"}
    assert client.get("/api/v1/runs/", headers=headers).status_code == 200
    user = User.objects.get(username="ci")
    assert not user.has_usable_password()
    assert user.has_perm("runs.add_run")


def test_a_token_may_live_for_ever(capsys):
    make_user("viewer", username="vera")
    token(capsys, "vera", "--days", "0")

    assert Token.objects.get().expires_at is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "no user 'nobody'"),
        (["gone"], "'gone' is inactive"),
        (["gone", "--days", "-1"], "--days -1"),
    ],
)
def test_what_would_not_work_is_refused(arguments, words):
    make_user(username="gone", is_active=False)
    with pytest.raises(CommandError, match=words):
        call_command("token", *arguments)

    assert Token.objects.count() == 0
