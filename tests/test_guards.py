"""Guards whose removal changes no page: each of these tests goes red without its guard."""

import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.urls import reverse
from jinja2.exceptions import SecurityError

from evalhub.models import Exposure
from issues.judge_templates import prompts
from reports.documents.document import Column, Document, Table
from reports.documents.html_export import html_of
from tests.api import client_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


# The sandbox of templates ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{{ value.__class__.__mro__ }}",
        "{{ value.append(1) }}",
        "{% set x = value.clear() %}",
        "{{ value.__init__.__globals__ }}",
    ],
)
def test_behind_the_allow_list_templates_run_in_a_sandbox(text):
    with pytest.raises(SecurityError):
        prompts._ENVIRONMENT.from_string(text).render(value=[2])


# The Content-Security-Policy ---------------------------------------------------------------------


def policy_of(text: str) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in text.split(";"))
    return {name: sources for name, _, sources in parts}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/admin/login/?next=/admin/", 302),
        ("/admin/", 200),
        ("/admin/issues/issue/", 200),
        ("/reports/leaderboard/", 200),
        ("/api/docs/", 200),
        ("/api/v1/issues/", 200),
        ("/no/such/page/", 404),
        ("/admin/evalhub/user/", 403),
    ],
)
def test_every_answer_says_where_forms_frames_and_bases_lead(client, address, status):
    client.force_login(make_user("viewer"))
    response = client.get(address)
    policy = policy_of(response.headers["Content-Security-Policy"])

    assert response.status_code == status
    assert policy["form-action"] == "'self'"
    assert policy["base-uri"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["object-src"] == "'none'"
    assert policy["default-src"] == "'self'"


def test_no_script_of_our_own_evaluates_text():
    """The theme's Alpine needs `unsafe-eval`: no other script may come to lean on it."""
    folder = settings.BASE_DIR / "evalhub" / "static"
    scripts = {path.name: path.read_text() for path in folder.rglob("*.js")}
    evaluates = re.compile(r"\beval\(|\bFunction\(|set(?:Timeout|Interval)\(\s*[\"'`]")

    assert len(scripts) > 10
    assert [name for name, text in scripts.items() if evaluates.search(text)] == []


@pytest.mark.parametrize("is_interactive", [True, False])
def test_a_downloaded_report_runs_its_own_scripts_only(is_interactive):
    figure: dict[str, object] = {"data": [], "layout": {}}
    table = Table("t", "T", (Column("a", "A"),), ((1,),), draw=lambda: figure)
    html = html_of(Document("Report", tables=(table,)), is_interactive=is_interactive)
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', html)
    assert found
    policy = policy_of(found[1].replace("&#x27;", "'"))
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in scripts]

    assert policy["default-src"] == "'none'"
    assert policy["script-src"].split() == (digests or ["'none'"])
    assert len(digests) == (2 if is_interactive else 0)
    assert (policy["base-uri"], policy["form-action"]) == ("'none'", "'none'")


# Cookies -----------------------------------------------------------------------------------------


def test_cookies_are_for_https_where_the_site_is(tmp_path):
    program = (
        "import django; django.setup()\n"
        "from django.conf import settings\n"
        "from django.test import Client\n"
        "answer = Client().get('/admin/login/', secure=True, headers={'host': 'localhost'})\n"
        "print(bool(answer.cookies['csrftoken']['secure']), settings.SESSION_COOKIE_SECURE,\n"
        "      'Strict-Transport-Security' in answer.headers,\n"
        "      Client().get('/admin/login/', headers={'host': 'localhost'}).status_code)\n"
    )
    environment = {
        "EVALHUB_HTTPS": "true",
        "EVALHUB_SECRET_KEY": "a-long-random-text",
        "EVALHUB_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "evalhub.settings",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=settings.BASE_DIR,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split("\n")[-2] == "True True True 301"


def test_without_https_cookies_go_by_http_too(client):
    response = client.get("/admin/login/")

    assert (response.status_code, settings.SESSION_COOKIE_SECURE) == (200, False)
    assert not response.cookies["csrftoken"]["secure"]
    assert "Strict-Transport-Security" not in client.get("/admin/login/", secure=True).headers


# Reasons of exposures ----------------------------------------------------------------------------


@pytest.mark.parametrize("may_read", [True, False])
def test_the_api_gives_reasons_to_those_who_may_read_sealed_tests(may_read):
    user, names = make_user(), ["view_exposure", *["read_sealed_test"] * may_read]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    row = Exposure.objects.create(
        test=3, kind="revealed", user=user, day="2026-01-02", reason="the-sealed-words"
    )
    api = client_of(user)

    for address in ("/api/v1/exposures/", f"/api/v1/exposures/{row.pk}/"):
        response = api.get(address)
        assert response.status_code == 200
        assert ("the-sealed-words" in response.content.decode()) is may_read


def test_the_login_page_is_guarded_too(client):
    policy = policy_of(client.get(reverse("admin:login")).headers["Content-Security-Policy"])
    assert (policy["form-action"], policy["frame-ancestors"]) == ("'self'", "'none'")
