"""Requests are limited over all processes, on every door that costs something."""

import logging

import pytest
from django.core.cache import caches
from django.urls import reverse

from evalhub.access import request_limits
from evalhub.access.client_addresses import network_of
from evalhub.access.request_limits import (
    AnonymousLimit,
    ExpensiveLimit,
    TokenLimit,
    UserLimit,
    is_over,
)
from evalhub.api import index
from evalhub.logs import WithoutTraceback
from tests.api import client_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _one_minute(monkeypatch):
    """All within one minute of the clock."""
    monkeypatch.setattr(request_limits.time, "time", lambda: 1_800_000_000.0)


def another_process() -> None:
    """Its own memory, and the same database."""
    caches["default"].clear()


@pytest.mark.parametrize("limit", [1, 10, 200])
def test_a_limit_lets_through_what_it_says(limit):
    assert [is_over("a", limit) for _ in range(limit)] == [False] * limit
    assert is_over("a", limit)
    assert not is_over("b", limit)


def test_processes_share_a_limit():
    answers = []
    for _ in range(4):
        answers += [is_over("a", 100) for _ in range(50)]
        another_process()
    # Two processes use the limit up; each later one lets through less than a step of five.
    assert answers.count(False) <= 100 + 2 * 5
    assert answers[:100] == [False] * 100


def test_few_requests_write(django_assert_max_num_queries):
    with django_assert_max_num_queries(10 * 5 + 5):  # ten steps of sixty
        assert not any(is_over("a", 1200) for _ in range(600))


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("", ""),
    ],
)
def test_an_ipv6_subscriber_counts_once(address, network):
    assert network_of(address) == network


def test_invalid_tokens_are_refused_by_address(client, monkeypatch):
    monkeypatch.setattr("evalhub.access.tokens.INVALID_TOKENS_PER_MINUTE", 3)
    monkeypatch.setattr(AnonymousLimit, "rate", "1000/min", raising=False)

    def answers(n, address, token="ehub_wrong"):
        sent = {"REMOTE_ADDR": address, "HTTP_AUTHORIZATION": f"Bearer {token}"}
        return [client.get("/api/v1/issues/", **sent).status_code for _ in range(n)]

    assert answers(5, "192.0.2.1") == [401, 401, 401, 429, 429]
    assert answers(1, "192.0.2.2") == [401]
    assert client_of("viewer").get("/api/v1/issues/", REMOTE_ADDR="192.0.2.1").status_code == 200


def test_expensive_pages_downloads_and_searches_while_typing_have_their_own_limit(
    client, monkeypatch
):
    monkeypatch.setattr(request_limits, "EXPENSIVE_PER_MINUTE", 2)

    def codes(ask):
        client.force_login(make_user("maintainer"))
        return [ask().status_code for _ in range(3)]

    for address in (
        reverse("reports:compare") + "?compute=1",
        reverse("reports:leaderboard_download", args=["csv"]),
        reverse("admin:issues_test_download", args=["json"]),
    ):
        assert codes(lambda address=address: client.get(address)) == [200, 200, 429], address
        assert client.get(reverse("reports:leaderboard")).status_code == 200
    similar = reverse("admin:issues_feedback_similar")
    assert codes(lambda: client.post(similar, {"text": "a"})) == [200, 200, 429]


@pytest.mark.parametrize(
    ("address", "cheap"),
    [
        ("feedback/similar/?text=a", "issues/"),
        ("issues/similar/?text=a", "issues/"),
        ("reports/leaderboard/", "issues/"),
        ("results/?page_size=1000", "results/?page_size=100"),
    ],
)
def test_expensive_api_calls_and_long_pages_have_their_own_limit(monkeypatch, address, cheap):
    monkeypatch.setattr(ExpensiveLimit, "rate", "2/min", raising=False)
    api = client_of("maintainer")
    assert [api.get(f"/api/v1/{address}").status_code for _ in range(3)] == [200, 200, 429]
    assert api.get(f"/api/v1/{cheap}").status_code == 200
    assert api.get("/api/v1/results/?page_size=x").status_code == 400


def test_each_token_has_a_limit_below_its_owners(monkeypatch):
    monkeypatch.setattr(TokenLimit, "rate", "2/min", raising=False)
    monkeypatch.setattr(UserLimit, "rate", "5/min", raising=False)
    owner = make_user("viewer")
    scripts = [client_of(owner) for _ in range(3)]

    codes = [[script.get("/api/v1/tags/").status_code for _ in range(3)] for script in scripts]

    assert codes == [[200, 200, 429], [200, 200, 429], [429, 429, 429]]


def test_headers_tell_what_is_left(monkeypatch):
    monkeypatch.setattr(TokenLimit, "rate", "2/min", raising=False)
    api = client_of("viewer")

    left = [api.get("/api/v1/tags/").headers["RateLimit"] for _ in range(3)]

    assert left == [
        '"user";r=2399;t=60, "token";r=1;t=60',
        '"user";r=2398;t=60, "token";r=0;t=60',
        '"user";r=2397;t=60, "token";r=0;t=60',
    ]
    policy = '"user";q=2400;w=60, "token";q=2;w=60'
    assert api.get("/api/v1/tags/").headers["RateLimit-Policy"] == policy


def test_surplus_pages_are_refused_in_words(client, monkeypatch):
    monkeypatch.setattr(request_limits, "PAGES_PER_MINUTE", 1)
    client.force_login(make_user("viewer"))
    responses = [client.get(reverse("admin:issues_issue_changelist")) for _ in range(2)]
    assert [response.status_code for response in responses] == [200, 429]
    assert "Wait a minute" in responses[1].content.decode()
    assert responses[1]["Retry-After"] == "60"


def test_the_schema_is_generated_once(client, monkeypatch):
    monkeypatch.setattr(index, "_written", {})
    first = client.get(reverse("schema"))
    monkeypatch.setattr(index.SpectacularAPIView, "get", None)
    second = client.get(reverse("schema"))
    assert (first.status_code, first.content) == (200, second.content)
    assert b"openapi: 3.1.0" in first.content


def test_a_refusal_is_logged_on_one_line(client, settings):
    client.force_login(make_user("viewer"))
    names = settings.LOGGING["handlers"]["console"]["filters"]
    filters = [settings.LOGGING["filters"][name]["()"] for name in names]
    assert "evalhub.logs.WithoutTraceback" in filters

    seen: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.addFilter(WithoutTraceback())
    handler.emit = seen.append  # type: ignore[assignment, method-assign]
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    try:
        client.get(reverse("admin:evalhub_user_changelist"))
    finally:
        logger.removeHandler(handler)

    assert [record.exc_info for record in seen] == [None]
    assert "Forbidden" in seen[0].getMessage()
