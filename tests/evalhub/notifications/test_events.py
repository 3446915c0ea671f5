import re

import pytest
from django.urls import reverse

from evalhub.models import Delivery, Notification, NotificationKind, Webhook
from evalhub.notifications.events import Event, notify
from evalhub.notifications.preferences import channels_of, save_preferences
from tests.factories import make_user

pytestmark = pytest.mark.django_db

EVENT = Event(
    NotificationKind.ASSIGNED, "issue 1 assigned 1", "“Counts wrongly” is yours now", url="/x/"
)


@pytest.fixture
def mail_is_on(settings):
    settings.EMAIL_HOST = "mail.example.org"


def make_webhook(**fields) -> Webhook:
    defaults = {"name": "ci", "url": "https://ci.example.org/", "secret_env": "HOOK_SECRET"}
    return Webhook.objects.create(**(defaults | {"kinds": ["assigned"]} | fields))


def test_a_repeated_event_notifies_once_and_inactive_users_never():
    people = [make_user("annotator"), make_user("annotator")]
    gone = make_user("annotator", is_active=False)

    assert notify(EVENT, to=[*people, gone]) == 2
    assert notify(EVENT, to=people) == 0
    assert Notification.objects.count() == 2


def test_an_e_mail_goes_to_who_has_an_address_and_wants_it(mail_is_on):
    wants, has_none = make_user(email="a@example.org"), make_user()
    declines = make_user(email="b@example.org")
    save_preferences(declines, {"assigned": ["site"]})
    notify(EVENT, to=[wants, has_none, declines])

    assert [d.notification.recipient for d in Delivery.objects.all()] == [wants]


def test_without_a_mail_server_nothing_waits_to_be_sent():
    notify(EVENT, to=[make_user(email="a@example.org")])

    assert not Delivery.objects.exists()


def test_who_wants_e_mail_only_has_no_unread_notification_and_unsubscribed_users_none(mail_is_on):
    user, unsubscribed = make_user(email="a@example.org"), make_user(email="b@example.org")
    save_preferences(user, {"assigned": ["mail"]})
    save_preferences(unsubscribed, {})

    assert notify(EVENT, to=[user, unsubscribed]) == 1
    assert Notification.objects.get().read_at is not None
    assert channels_of(unsubscribed, "assigned") == frozenset()


def test_a_webhook_receives_its_kinds_even_without_recipients():
    hears = make_webhook()
    make_webhook(name="runs", kinds=["run_finished"])
    make_webhook(name="off", is_active=False)
    notify(EVENT, to=[])
    notify(EVENT, to=[])

    assert [d.webhook for d in Delivery.objects.all()] == [hears]
    assert Delivery.objects.get().payload["title"] == EVENT.title


# Pages -------------------------------------------------------------------------------------------


def test_a_notification_leads_where_it_happened_and_is_read_then(client):
    user = make_user("viewer")
    notify(EVENT, to=[user])
    client.force_login(user)
    notification = Notification.objects.get()
    assert EVENT.title in client.get("/admin/evalhub/notification/").content.decode()
    response = client.post(reverse("admin:evalhub_notification_open", args=[notification.pk]))

    assert (response.status_code, response.headers["Location"]) == (302, "/x/")
    assert Notification.objects.get().read_at is not None


def test_nobody_sees_or_opens_another_s_notification(client):
    notify(EVENT, to=[make_user("viewer")])
    client.force_login(make_user("admin"))
    notification = Notification.objects.get()

    assert EVENT.title not in client.get("/admin/evalhub/notification/").content.decode()
    assert client.post(f"/admin/evalhub/notification/{notification.pk}/open/").status_code == 404
    assert Notification.objects.get().read_at is None


def test_the_sidebar_counts_what_is_not_read(client):
    user = make_user("viewer")
    for n in range(3):
        notify(Event(NotificationKind.ASSIGNED, f"k{n}", f"title {n}"), to=[user])
    client.force_login(user)
    before = client.get("/admin/evalhub/notification/").content.decode()
    client.post("/admin/evalhub/notification/read/")
    after = client.get("/admin/evalhub/notification/").content.decode()

    def badges(html: str) -> list[bool]:
        links = [part.partition("</a>")[0] for part in html.split("<a ")]
        led = (link for link in links if re.search(r'href="/admin/(evalhub/notification/)?"', link))
        return [">3<" in "".join(link.split()) for link in led]

    assert badges(before).count(True) == 2, "of Home in the sidebar, and of its tab"
    assert not any(badges(after))


def test_notification_settings_can_be_changed(client):
    user = make_user("viewer")
    client.force_login(user)
    assert client.get("/admin/evalhub/notification/settings/").status_code == 200
    client.post(
        "/admin/evalhub/notification/settings/", {"run_finished": ["mail"], "assigned": ["sms"]}
    )
    user.refresh_from_db()

    assert channels_of(user, "run_finished") == {"mail"}
    assert channels_of(user, "assigned") == frozenset()


def test_a_webhook_that_may_not_be_called_or_signed_so_is_refused(client):
    client.force_login(make_user("maintainer"))

    def page(url, secret):
        sent = {"name": "x", "url": url, "secret_env": secret, "kinds": ["assigned"]}
        response = client.post("/admin/evalhub/webhook/add/", sent)
        assert (response.status_code, Webhook.objects.exists()) == (200, False), sent
        return response.content.decode()

    for url in ("http://127.0.0.1:9/", "ftp://example.org/", "http://10.0.0.1/"):
        page(url, "HOOK")
    for name in ("EVALHUB_SECRET_KEY", "DATABASE_URL", "PGPASSWORD"):
        assert f"{name} is not listed as a key" in page("https://8.8.8.8/", name)
