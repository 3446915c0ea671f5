import json
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from evalhub.api.documented_operations import WebhookEventSerializer
from evalhub.limits import DELIVERY_PAUSES
from evalhub.models import Delivery, DeliveryState, NotificationKind, Webhook
from evalhub.notifications import outbox
from evalhub.notifications.events import Event, notify
from evalhub.notifications.outbox import deliver_due, deliver_in_background, send_test
from tests.evalhub.notifications.listeners import is_genuine, listening, mailbox
from tests.factories import make_user

pytestmark = pytest.mark.django_db

EVENT = Event(
    NotificationKind.RUN_FINISHED, "run 1 finished", "Nightly is done", "Half passed.", "/r/1/"
)
SECRET = "known-to-two"


@pytest.fixture
def listener(settings, monkeypatch):
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    settings.EVALHUB_ALLOWED_ADDRESSES = ["127.0.0.1"]
    settings.EVALHUB_SITE_URL = "https://hub.example.org/"
    with listening() as listener:
        yield listener


def make_webhook(listener) -> Webhook:
    return Webhook.objects.create(
        name="ci", url=listener.url, secret_env="HOOK_SECRET", kinds=["run_finished"]
    )


def deliver_one(listener) -> None:
    make_webhook(listener)
    notify(EVENT, to=[])
    deliver_due()


def let_time_pass() -> None:
    Delivery.objects.filter(state="pending").update(next_try_at=timezone.now())


@pytest.mark.parametrize("replaced", [False, True])
def test_a_webhook_is_sent_the_event_signed_with_each_secret(listener, monkeypatch, replaced):
    secrets = [SECRET, "new"] if replaced else [SECRET]
    monkeypatch.setenv("HOOK_SECRET", " ".join(secrets))
    deliver_one(listener)
    (heard,) = listener.heard
    said = json.loads(heard.body)

    assert (said["event"], said["url"]) == ("run_finished", "https://hub.example.org/r/1/")
    for secret in secrets:
        assert is_genuine(heard.headers, secret.encode(), heard.body, now=int(time.time()))
    assert Delivery.objects.get().state == DeliveryState.DONE


def test_what_is_sent_has_the_form_that_the_schema_tells(listener):
    webhook = make_webhook(listener)
    notify(EVENT, to=[])
    deliver_due()
    send_test(webhook)

    for heard in listener.heard:
        WebhookEventSerializer(data=json.loads(heard.body)).is_valid(raise_exception=True)
    assert len(listener.heard) == 2


def test_what_arrived_is_not_sent_again(listener):
    deliver_one(listener)
    notify(EVENT, to=[])

    assert deliver_due() == 0
    assert len(listener.heard) == 1


def test_a_failure_is_tried_again_later_and_not_at_once(listener):
    listener.statuses = [500]
    deliver_one(listener)
    delivery = Delivery.objects.get()

    assert (delivery.state, delivery.status_code) == (DeliveryState.PENDING, 500)
    assert "500" in delivery.problem
    assert delivery.next_try_at > timezone.now() + DELIVERY_PAUSES[0] - timedelta(seconds=20)
    assert deliver_due() == 0
    let_time_pass()
    deliver_due()
    assert Delivery.objects.get().state == DeliveryState.DONE
    assert len(listener.heard) == 2


def test_it_is_given_up_in_the_end(listener):
    listener.statuses = [503] * (len(DELIVERY_PAUSES) + 1)
    make_webhook(listener)
    notify(EVENT, to=[])
    for _ in range(len(DELIVERY_PAUSES) + 3):
        let_time_pass()
        deliver_due()

    assert Delivery.objects.get().state == DeliveryState.FAILED
    assert len(listener.heard) == len(DELIVERY_PAUSES) + 1


@pytest.mark.parametrize(
    ("status", "state"), [(307, DeliveryState.PENDING), (410, DeliveryState.FAILED)]
)
def test_a_redirect_is_not_followed_and_what_is_gone_not_retried(listener, status, state):
    listener.statuses, listener.location = [status], listener.url
    deliver_one(listener)

    delivery = Delivery.objects.get()
    assert len(listener.heard) == 1
    assert (delivery.status_code, delivery.state) == (status, state)


def test_an_address_that_may_not_be_called_any_more_is_not_called(listener, settings):
    make_webhook(listener)
    notify(EVENT, to=[])
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    deliver_due()

    assert listener.heard == []
    assert "EVALHUB_ALLOWED_ADDRESSES" in Delivery.objects.get().problem


def test_without_its_secret_nothing_is_sent(listener, monkeypatch):
    monkeypatch.delenv("HOOK_SECRET")
    deliver_one(listener)

    assert listener.heard == []
    assert "HOOK_SECRET" in Delivery.objects.get().problem


def test_a_test_says_what_came_of_it(listener):
    listener.statuses = [200, 404]
    webhook = make_webhook(listener)

    assert send_test(webhook).state == DeliveryState.DONE
    assert "404" in send_test(webhook).problem


def test_an_e_mail_arrives(settings):
    user = make_user(email="ann@example.org")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    settings.EVALHUB_SITE_URL = "https://hub.example.org"
    with mailbox() as (port, letters):
        settings.EMAIL_PORT = port
        notify(
            Event(NotificationKind.ASSIGNED, "k", "Yours\nnow", "Look at it.", "/i/1/"), to=[user]
        )
        deliver_due()

    (letter,) = letters
    assert "Subject: Yours now" in letter
    assert "https://hub.example.org/i/1/" in letter
    assert "To: ann@example.org" in letter


def test_an_e_mail_waits_while_the_mail_server_is_away(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", 1, False
    notify(Event(NotificationKind.ASSIGNED, "k", "Yours"), to=[make_user(email="ann@example.org")])
    deliver_due()

    assert Delivery.objects.get().state == DeliveryState.PENDING
    assert "mail server" in Delivery.objects.get().problem


def test_an_address_that_cannot_be_written_holds_up_nobody_else(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    odd = make_user(email=f"ann@{'ü' * 70}.org")
    with mailbox() as (port, letters):
        settings.EMAIL_PORT = port
        notify(
            Event(NotificationKind.ASSIGNED, "k", "Yours"),
            to=[odd, make_user(email="b@example.org")],
        )
        deliver_due()

    assert len(letters) == 1
    assert "mail server refused" in Delivery.objects.get(notification__recipient=odd).problem


@pytest.mark.django_db(transaction=True)
def test_a_slow_webhook_does_not_hold_up_the_guard(listener):
    make_webhook(listener)
    notify(EVENT, to=[])
    deliver_in_background()
    deadline = time.monotonic() + 120
    while Delivery.objects.filter(state="pending").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    with outbox._running:  # until its thread has let its connection go
        assert Delivery.objects.get().state == DeliveryState.DONE
