"""Settings that would do harm later are refused at start, in words."""

import secrets
import subprocess
import sys

import pytest
from django.conf import settings as project

from evalhub.operations.system_checks import (
    check_addresses,
    check_queue,
    check_redis,
    check_secret_key,
    check_single_sign_on,
)


def ids(problems):
    return [problem.id for problem in problems]


def test_the_published_secret_key_is_refused_outside_debug(settings):
    settings.DEBUG, settings.SECRET_KEY = False, settings.INSECURE_SECRET_KEY

    (problem,) = check_secret_key(None)

    assert (problem.id, "EVALHUB_SECRET_KEY" in problem.hint) == ("evalhub.E001", True)


def test_the_published_secret_key_will_do_for_debugging(settings):
    settings.DEBUG, settings.SECRET_KEY = True, settings.INSECURE_SECRET_KEY

    assert check_secret_key(None) == []


def test_an_own_secret_key_is_accepted(settings):
    settings.DEBUG, settings.SECRET_KEY = False, "long and random"

    assert check_secret_key(None) == []


def test_a_retry_not_above_the_timeout_is_refused(settings):
    for queue in ({"timeout": 60, "retry": 60}, {"timeout": 60}, {"timeout": 90, "retry": 60}):
        settings.Q_CLUSTER = queue
        assert ids(check_queue(None)) == ["evalhub.E002"]


def test_a_queue_without_a_timeout_is_refused(settings):
    settings.Q_CLUSTER = {"timeout": None, "retry": 60}

    assert ids(check_queue(None)) == ["evalhub.E002"]


def test_the_default_settings_pass(settings):
    assert check_queue(None) == []


def test_the_web_server_does_not_start_with_the_published_secret_key(tmp_path):
    done = python("-c", "import evalhub.wsgi", EVALHUB_DATA_DIR=str(tmp_path))
    assert (done.returncode, "evalhub.E001" in done.stderr) == (1, True)


def python(*command, **environment):
    return subprocess.run(
        [sys.executable, *command],
        cwd=project.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_worker_does_not_start_with_the_published_secret_key(tmp_path):
    done = python("manage.py", "worker", EVALHUB_DATA_DIR=str(tmp_path))
    assert (done.returncode, "evalhub.E001" in done.stderr) == (2, True)


LOADS_PAGES = """
import django, sys
django.setup()
from django.core import checks
from evalhub.work.processes import cluster
from issues.test_filter import read_filter
cluster.kinds()
read_filter('?sealed=0').tests
print("issues.admin" in sys.modules)
checks.run_checks(tags=['admin'])
print("issues.admin" in sys.modules)
"""


def test_workers_load_no_page_to_read_a_list(tmp_path):
    given = {"DJANGO_SETTINGS_MODULE": "evalhub.settings", "EVALHUB_DATA_DIR": str(tmp_path)}
    done = python("-c", LOADS_PAGES, **given)
    assert done.stdout.split() == ["False", "True"], done.stderr


@pytest.mark.parametrize("name", ["EVALHUB_ALLOWED_ADDRESSES", "EVALHUB_TRUSTED_ADDRESSES"])
def test_an_address_that_is_none_is_refused_at_start(settings, name):
    setattr(settings, name, ["10.0.0.0/8", "not a host"])
    (found,) = check_addresses(None)
    assert (found.id, name in found.msg, "not a host" in found.msg) == ("evalhub.E003", True, True)


def test_single_sign_on_needs_its_secret(settings):
    settings.EVALHUB_OIDC_ISSUER = "https://login.example.org"
    (found,) = check_single_sign_on(None)
    assert (found.id, "EVALHUB_OIDC_CLIENT_SECRET" in found.hint) == ("evalhub.E005", True)


def test_a_key_that_is_bound_to_no_host_is_refused_at_start(settings):
    settings.EVALHUB_KEYS = ["OPENAI_API_KEY@api.openai.com", "LLM_KEY"]
    (found,) = check_addresses(None)
    assert (found.id, "'LLM_KEY' is not VARIABLE@host" in found.msg) == ("evalhub.E004", True)


def test_redis_without_its_package_is_refused(settings, monkeypatch):
    settings.EVALHUB_REDIS_URL = "redis://localhost"
    assert check_redis(None) == []

    monkeypatch.setattr("evalhub.operations.system_checks.find_spec", lambda name: None)

    assert ids(check_redis(None)) == ["evalhub.E007"]


def documented(title):
    """The variables in the block of docs/running.md under this heading."""
    section = (project.BASE_DIR / "docs/running.md").read_text().partition(f"## {title}\n")[2]
    block = section.partition("\n    ")[2].partition("\n\n")[0]
    return dict(part.split("=", 1) for part in block.split())


def test_the_documented_settings_pass_the_checks_for_deployment(tmp_path):
    given = documented("Put it behind a proxy") | documented("Log in by OpenID Connect")
    for name in given:
        if name.endswith("_FILE"):
            (tmp_path / name).write_text(secrets.token_urlsafe(40))
            given[name] = str(tmp_path / name)
    assert {"EVALHUB_SECRET_KEY_FILE", "DATABASE_URL", "EVALHUB_HTTPS"} <= set(given)

    command = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    done = python(*command, **given, EVALHUB_DATA_DIR=str(tmp_path))

    assert done.stdout.startswith("System check identified no issues")
    assert (done.returncode, done.stderr) == (0, "")
