"""A site from one file: what is created, changed, left alone and refused."""

from io import StringIO

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from evalhub.models import LanguageModel, Token, User, Webhook
from evalhub.settings.environment import Environment
from runs.models import Jury
from tests.api import client_of
from tests.factories import make_model

pytestmark = pytest.mark.django_db

SITE = """
models:
  - name: Judge A
    litellm_model: openai/judge-a
    api_base: https://models.example.org/v1
    api_key_env: LAB_KEY
    params: {temperature: 0}
juries:
  - name: Night
    judges: [{language_model: Judge A, approach: prompt_aware}]
roles:
  - name: labellers
    rights: [issues.view_feedback, issues.add_feedback]
users:
  - username: nightly
    roles: [maintainer, labellers]
    can_log_in: false
tokens:
  - name: CI
    user: nightly
    scope: write
webhooks:
  - name: chat
    url: https://hooks.example.org/eval
    secret_env: HOOK_SECRET
    kinds: [run_finished]
"""


@pytest.fixture
def apply(tmp_path, settings):
    settings.EVALHUB_KEYS = ["LAB_KEY@models.example.org", "HOOK_SECRET@hooks.example.org"]

    def run(text: str, *options: str) -> str:
        path, printed = tmp_path / "site.yml", StringIO()
        path.write_text(text)
        call_command("apply", str(path), *options, stdout=printed)
        return printed.getvalue()

    return run


def test_a_file_makes_a_site_and_a_second_time_nothing(apply):
    first = apply(SITE)

    assert first.count("\n+ ") + first.startswith("+ ") == 6
    (jury,) = Jury.objects.filter(name="Night")
    assert [judge.language_model.name for judge in jury.judges.all()] == ["Judge A"]
    user = User.objects.get(username="nightly")
    assert user.has_perms(["runs.add_run", "issues.add_feedback"])
    assert not user.has_usable_password()
    text = first.partition("token nightly / CI: ")[2].split()[0]
    script = client_of("viewer")
    script.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert script.get("/api/v1/runs/").status_code == 200

    versions = LanguageModel.history.count()
    assert apply(SITE) == "Applied. Equal already: 6.\n"
    assert LanguageModel.history.count() == versions
    assert Token.objects.count() == 2


def test_a_dry_run_shows_the_difference_and_changes_nothing(apply):
    apply(SITE)
    changed = SITE.replace("temperature: 0", "temperature: 1").replace("[run_finished]", "[report]")

    shown = apply(
        changed + "  - {name: new, url: 'https://hooks.example.org/', "
        "secret_env: HOOK_SECRET, kinds: [report]}\n",
        "--dry-run",
    )

    assert "~ language model Judge A: params: {'temperature': 0} → {'temperature': 1}" in shown
    assert "~ webhook chat: kinds: ['run_finished'] → ['report']" in shown
    assert "+ webhook new" in shown
    assert LanguageModel.objects.get(name="Judge A").params == {"temperature": 0}
    assert Webhook.objects.count() == 1


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("litellm_model:", "litelm_model:", "Unknown field 'litelm_model'"),
        ("models:", "model:", "model: unknown section. Available: settings, models, juries"),
        ("api_key_env: LAB_KEY", "api_key_env: sk-123", "never the key itself"),
        ("api_key_env: LAB_KEY", "api_key_env: HOOK_SECRET", "may not be sent to models.example"),
        ("https://hooks.example.org/eval", "http://127.0.0.1:1/", "127.0.0.1"),
        ("language_model: Judge A", "language_model: Nobody", "Nobody"),
        ("issues.add_feedback", "issues.add_nothing", "There is no right issues.add_nothing"),
        ("name: labellers", "name: viewer", "The role 'viewer' is built in"),
        ("user: nightly", "user: somebody", "somebody"),
        ("username: nightly", "username: nightly\n    password: x", "Unknown field 'password'"),
        ("username: nightly", "username: nightly\n    has_all_rights: true", "it cannot be set"),
        ("name: CI", "name: CI\n    name: CD", "name appears twice"),
    ],
)
def test_a_wrong_file_changes_nothing_and_says_where(apply, before, after, problem):
    with pytest.raises(CommandError) as refused:
        apply(SITE.replace(before, after, 1))

    assert problem in str(refused.value)
    assert not LanguageModel.objects.exists()
    assert not User.objects.exists()


def test_a_token_does_not_change(apply):
    apply(SITE)
    with pytest.raises(CommandError, match="Revoke it first"):
        apply(SITE.replace("scope: write", "scope: read"))
    assert Token.objects.get(name="CI").scope == "write"


def test_rows_that_the_file_does_not_name_stay(apply):
    other = make_model(name="By hand")
    apply(SITE)
    assert LanguageModel.objects.filter(pk=other.pk, name="By hand").exists()


# Settings ----------------------------------------------------------------------------------------


@pytest.fixture
def read_settings(tmp_path, monkeypatch):
    def read(text: str) -> Environment:
        path = tmp_path / "site.yml"
        path.write_text(text)
        monkeypatch.setenv("EVALHUB_SITE_FILE", str(path))
        return Environment()

    return read


def test_settings_come_from_the_file_unless_the_environment_has_them(read_settings, monkeypatch):
    env = read_settings("settings: {EVALHUB_A: 4, EVALHUB_B: [x, y], EVALHUB_C: true}")
    monkeypatch.setenv("EVALHUB_A", "5")

    assert env.number("EVALHUB_A", 1, "") == 5
    assert env.listing("EVALHUB_B", "", "") == ["x", "y"]
    assert env.flag("EVALHUB_C", False, "")
    env.refuse_unknown()


def test_an_unknown_setting_is_refused(read_settings):
    with pytest.raises(ImproperlyConfigured, match="EVALHUB_WORKRES: no such setting"):
        read_settings("settings: {EVALHUB_WORKRES: 4}").refuse_unknown()


def test_a_secret_stands_in_a_file_of_its_own(read_settings, tmp_path):
    with pytest.raises(ImproperlyConfigured, match="is a secret"):
        read_settings("settings: {EVALHUB_S: x}").secret("EVALHUB_S", "", "")
    (tmp_path / "s").write_text("hidden\n")
    env = read_settings(f"settings: {{EVALHUB_S_FILE: {tmp_path / 's'}}}")
    assert env.secret("EVALHUB_S", "", "") == "hidden"
    env.refuse_unknown()


def test_apply_says_which_settings_need_a_start(apply):
    shown = apply("settings: {EVALHUB_WORKERS: 9}")
    assert "! setting EVALHUB_WORKERS is None here: start all processes with the file" in shown
