"""Login by OpenID Connect, against a real provider on this machine."""

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.urls import Resolver404, resolve, reverse

from evalhub.access.single_sign_on import discovered
from evalhub.models import User
from tests.evalhub.access import sso_urls  # before a test sets it up, as addresses are read once
from tests.factories import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.urls(sso_urls.__name__)]

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class LoginProvider(ThreadingHTTPServer):
    """Confirms one person; `token` and `person` are what it says of them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.key, self.nonce = KEY, ""
        self.token: dict[str, Any] = {"iss": self.url, "aud": "hub", "sub": "7"}
        self.person: dict[str, Any] = {
            "sub": "7",
            "email": "ann@example.org",
            "email_verified": True,
        }

    def answer(self, path: str) -> dict[str, Any]:
        names = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
        if path.startswith("/.well-known"):
            return {"issuer": self.url, **{name: f"{self.url}/{name}" for name in names}}
        if path == "/jwks_uri":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
            return {"keys": [{**public, "kid": "1", "alg": "RS256"}]}
        if path == "/userinfo_endpoint":
            return self.person
        claims = {"nonce": self.nonce, "exp": time.time() + 60, **self.token}
        token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
        return {"access_token": "a", "id_token": token}


class Answers(BaseHTTPRequestHandler):
    server: LoginProvider

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = json.dumps(self.server.answer(self.path)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def provider(settings) -> Iterator[LoginProvider]:
    server = LoginProvider()
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    settings.EVALHUB_OIDC_ISSUER = server.url
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = "hub", "secret"
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "evalhub.access.single_sign_on.SingleSignOn",
    ]
    discovered.cache_clear()
    yield server
    server.shutdown()
    server.server_close()


def log_in(client, provider, follow=False) -> Any:
    start = client.get(reverse("oidc_authentication_init"), {"next": "/reports/"})
    asked = parse_qs(urlsplit(start["Location"]).query)
    assert start["Location"].startswith(f"{provider.url}/authorization_endpoint")
    assert asked["code_challenge_method"] == ["S256"]
    provider.nonce = asked["nonce"][0]
    sent = {"code": "c", "state": asked["state"][0]}
    return client.get(reverse("oidc_authentication_callback"), sent, follow=follow)


def who(client) -> str:
    found = client.session.get("_auth_user_id")
    return User.objects.get(pk=found).username if found else ""


@pytest.mark.parametrize("axes", [True, False])
def test_the_account_with_the_confirmed_address_is_logged_in(client, provider, settings, axes):
    settings.AXES_ENABLED = axes
    make_user("viewer", username="ann", email="Ann@example.org")

    response = log_in(client, provider)

    assert (response["Location"], who(client)) == ("/reports/", "ann")
    assert client.get("/reports/").status_code == 200


def test_the_login_page_offers_it_where_it_is_set_up(client, provider, settings):
    assert "Log in with single sign-on" in client.get("/admin/login/").content.decode()
    settings.EVALHUB_OIDC_ISSUER = ""
    assert "single sign-on" not in client.get("/admin/login/").content.decode()


@pytest.mark.parametrize(
    ("token", "person"),
    [
        ({"aud": "another site"}, {}),
        ({"iss": "https://evil.example.org"}, {}),
        ({"nonce": "replayed"}, {}),
        ({"exp": 1}, {}),
        ({}, {"email_verified": False}),
        ({}, {"email": ""}),
        ({}, {"sub": "8"}),
        ({}, {"email": "nobody@example.org"}),
        ({}, {"email": "script@example.org"}),
        ({}, {"email": "left@example.org"}),
        ({}, {"email": "twice@example.org"}),
    ],
)
def test_nobody_else_is_let_in_and_told_what_to_do(client, provider, token, person):
    make_user("viewer", username="ann", email="ann@example.org")
    make_user("viewer", email="script@example.org")
    User.objects.filter(email="script@example.org").update(is_staff=False)
    make_user("viewer", email="left@example.org", is_active=False)
    for _ in range(2):
        make_user("viewer", email="twice@example.org")
    provider.token |= token
    provider.person |= person

    page = log_in(client, provider, follow=True).content.decode()

    assert who(client) == ""
    assert "Ask an admin whether your account exists" in page


def test_a_token_signed_by_another_is_refused(client, provider):
    make_user("viewer", username="ann", email="ann@example.org")
    provider.key = OTHER_KEY
    log_in(client, provider)
    assert who(client) == ""


@pytest.mark.parametrize(("role", "rights"), [("viewer", True), ("", False), ("gone", False)])
def test_new_accounts_are_made_with_the_set_role_only(client, provider, settings, role, rights):
    settings.EVALHUB_OIDC_ROLE = role
    log_in(client, provider)
    assert who(client) == ("ann@example.org" if rights else "")
    assert User.objects.filter(groups__name="viewer").exists() is rights


def test_without_a_password_a_new_login_takes_its_place(client, provider):
    user = make_user("viewer", username="ann", email="ann@example.org")
    user.set_unusable_password()
    user.save()
    log_in(client, provider)
    session = client.session
    session["password_entered_at"] -= 31 * 60
    session.save()

    sent = {"name": "ci", "scope": "read"}
    refused = client.post("/admin/evalhub/token/add/", sent, follow=True).content.decode()
    assert "log out and in again first" in refused
    assert not user.tokens.exists()

    client.logout()
    log_in(client, provider)
    client.post("/admin/evalhub/token/add/", sent)
    assert user.tokens.exists()


def test_it_is_off_by_default(settings):
    assert settings.EVALHUB_OIDC_ISSUER == ""
    assert not any("single_sign_on" in name for name in settings.AUTHENTICATION_BACKENDS)
    with pytest.raises(Resolver404):
        resolve("/oidc/start/", urlconf="evalhub.urls")
