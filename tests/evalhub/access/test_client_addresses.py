"""Logins are counted by the peer the outermost of our own proxies saw."""

import pytest
from django.conf import settings as project
from django.test import RequestFactory
from django.urls import reverse

from evalhub.access.client_addresses import client_address
from tests.factories import make_user

REFUSED = 429


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "", "10.0.0.1"),
        (0, "6.6.6.6", "10.0.0.1"),
        (1, "", "10.0.0.1"),
        (1, "1.2.3.4", "1.2.3.4"),
        (1, "6.6.6.6, 1.2.3.4", "1.2.3.4"),
        (2, "6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
    ],
)
def test_what_a_client_claims_is_not_looked_at(settings, proxies, forwarded, address):
    settings.EVALHUB_PROXIES = proxies
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", **headers)

    assert client_address(request) == address


@pytest.mark.django_db
def test_failed_logins_lock_out_their_own_address_only(client, settings):
    settings.AXES_ENABLED = True
    settings.EVALHUB_PROXIES = 1
    make_user("viewer", username="wren")

    def login(password, forwarded):
        sent = {"username": "wren", "password": password}
        return client.post(reverse("admin:login"), sent, HTTP_X_FORWARDED_FOR=forwarded).status_code

    for claimed in range(5):
        login("wrong", f"6.6.6.{claimed}, 1.2.3.4")

    assert login("secret-phrase", "1.2.3.4") == REFUSED
    assert login("secret-phrase", "5.6.7.8") == 302


def test_the_api_counts_requests_by_the_same_address():
    assert project.REST_FRAMEWORK["NUM_PROXIES"] == project.EVALHUB_PROXIES
