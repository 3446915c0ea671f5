"""Passwords cannot be guessed from many addresses, nor for many names from one."""

from datetime import timedelta

import pytest
from axes.models import AccessAttempt
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evalhub.access import logins
from evalhub.models import Notification
from tests.factories import make_user

pytestmark = pytest.mark.django_db

REFUSED = 429
OF_THE_SITE = logins.LOGIN_FAILURES


@pytest.fixture(autouse=True)
def _axes(settings, monkeypatch):
    settings.AXES_ENABLED = True
    monkeypatch.setattr(logins, "LOGIN_FAILURES", (5, 20, 10))


def login(name: str, password: str, address: str) -> int:
    sent = {"username": name, "password": password}
    return Client().post(reverse("admin:login"), sent, REMOTE_ADDR=address).status_code


def test_one_name_is_locked_over_all_addresses():
    make_user("viewer", username="wren")
    for n in range(20):
        login("wren", "wrong", f"10.0.0.{n}")
    assert login("wren", "secret-phrase", "10.9.9.9") == REFUSED


def test_one_network_is_locked_over_all_names():
    make_user("viewer", username="wren")
    for n in range(10):
        login(f"name{n}", "wrong", f"2001:db8:1:2::{n:x}")
    assert login("wren", "secret-phrase", "2001:db8:1:2:ffff::1") == REFUSED
    assert login("wren", "secret-phrase", "2001:db8:1:3::1") == 302


def test_a_login_of_one_s_own_forgives_no_guesses_of_other_names():
    make_user("viewer", username="wren")
    for n in range(9):
        login(f"name{n}", "wrong", "10.0.0.1")
    assert login("wren", "secret-phrase", "10.0.0.1") == 302
    assert login("name10", "wrong", "10.0.0.1") == REFUSED


def test_a_lock_ends_after_the_cool_off():
    make_user("viewer", username="wren")
    for _ in range(5):
        login("wren", "wrong", "10.0.0.1")
    assert login("wren", "secret-phrase", "10.0.0.1") == REFUSED
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert login("wren", "secret-phrase", "10.0.0.1") == 302


def test_admins_are_notified_of_a_lock_once():
    admin, _ = make_user("admin"), make_user("viewer", username="wren")
    for _ in range(8):
        login("wren", "wrong", "10.0.0.1")
        login("my-passphrase", "wrong", "10.0.0.2")

    found = Notification.objects.filter(kind="security").order_by("pk")
    assert {one.recipient for one in found} == {admin}
    assert [one.title for one in found] == [
        "Login locked for “wren” from 10.0.0.1",
        "Login locked for an unknown username from 10.0.0.2",
    ]


def test_an_attack_fills_no_inbox():
    make_user("admin")
    for n in range(15):
        for _ in range(5):
            login("wren", "wrong", f"10.0.1.{n}")
    assert 0 < Notification.objects.count() <= logins.MAX_LOCKOUT_NOTICES


def test_rules_have_limits_of_their_own(settings):
    assert len(OF_THE_SITE) == len(settings.AXES_LOCKOUT_PARAMETERS)
    assert all(settings.AXES_FAILURE_LIMIT <= limit <= 100 for limit in OF_THE_SITE)


def test_sessions_end(settings, client):
    assert settings.SESSION_COOKIE_AGE == settings.EVALHUB_SESSION_HOURS * 3600
    client.force_login(make_user("viewer"))
    left_s = client.session.get_expiry_age()
    assert left_s <= 168 * 3600
