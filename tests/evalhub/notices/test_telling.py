import pytest
from django.urls import reverse

from evalhub.models import Delivery, Notice, NoticeKind, Webhook
from evalhub.notices.choice import choose, ways_of
from evalhub.notices.telling import Event, tell
from tests.factories import make_user

pytestmark = pytest.mark.django_db

EVENT = Event(NoticeKind.ASSIGNED, "issue 1 assigned 1", "“Counts wrongly” is yours now", url="/x/")


@pytest.fixture
def mail_is_on(settings):
    settings.EMAIL_HOST = "mail.example.org"


def make_webhook(**fields) -> Webhook:
    defaults = {"name": "ci", "url": "https://ci.example.org/", "secret_env": "HOOK_SECRET"}
    return Webhook.objects.create(**(defaults | {"kinds": ["assigned"]} | fields))


def test_everybody_is_told_once_however_often_it_is_told():
    people = [make_user("annotator"), make_user("annotator")]

    assert tell(EVENT, to=people) == 2
    assert tell(EVENT, to=people) == 0
    assert Notice.objects.count() == 2


def test_who_is_inactive_is_not_told():
    assert tell(EVENT, to=[make_user("annotator", is_active=False)]) == 0


def test_an_e_mail_goes_to_who_has_an_address_and_wants_it(mail_is_on):
    wants, has_none = make_user(email="a@example.org"), make_user()
    declines = make_user(email="b@example.org")
    choose(declines, {"assigned": ["here"]})
    tell(EVENT, to=[wants, has_none, declines])

    assert [d.notice.recipient for d in Delivery.objects.all()] == [wants]


def test_without_a_mail_server_nothing_waits_to_be_sent():
    tell(EVENT, to=[make_user(email="a@example.org")])

    assert not Delivery.objects.exists()


def test_who_wants_e_mail_only_has_no_unread_notice(mail_is_on):
    person = make_user(email="a@example.org")
    choose(person, {"assigned": ["mail"]})
    tell(EVENT, to=[person])

    assert Notice.objects.get().read_at is not None


def test_who_wants_nothing_is_told_nothing(mail_is_on):
    person = make_user(email="a@example.org")
    choose(person, {})

    assert tell(EVENT, to=[person]) == 0
    assert ways_of(person, "assigned") == frozenset()


def test_a_webhook_hears_of_its_kinds_even_when_no_person_does():
    hears = make_webhook()
    make_webhook(name="runs", kinds=["run_finished"])
    make_webhook(name="off", is_active=False)
    tell(EVENT, to=[])
    tell(EVENT, to=[])

    assert [d.webhook for d in Delivery.objects.all()] == [hears]
    assert Delivery.objects.get().payload["title"] == EVENT.title


# Pages -------------------------------------------------------------------------------------------


def test_a_notice_leads_where_it_happened_and_is_read_then(client):
    person = make_user("viewer")
    tell(EVENT, to=[person])
    client.force_login(person)
    notice = Notice.objects.get()
    assert EVENT.title in client.get("/admin/evalhub/notice/").content.decode()
    response = client.post(reverse("admin:evalhub_notice_open", args=[notice.pk]))

    assert (response.status_code, response.headers["Location"]) == (302, "/x/")
    assert Notice.objects.get().read_at is not None


def test_nobody_sees_or_opens_another_s_notice(client):
    tell(EVENT, to=[make_user("viewer")])
    client.force_login(make_user("admin"))
    notice = Notice.objects.get()

    assert EVENT.title not in client.get("/admin/evalhub/notice/").content.decode()
    assert client.post(f"/admin/evalhub/notice/{notice.pk}/open/").status_code == 404
    assert Notice.objects.get().read_at is None


def test_the_sidebar_counts_what_is_not_read(client):
    person = make_user("viewer")
    for n in range(3):
        tell(Event(NoticeKind.ASSIGNED, f"k{n}", f"title {n}"), to=[person])
    client.force_login(person)
    before = client.get("/admin/evalhub/notice/").content.decode()
    client.post("/admin/evalhub/notice/read/")
    after = client.get("/admin/evalhub/notice/").content.decode()

    def badge(html: str) -> bool:
        link = html.partition('href="/admin/evalhub/notice/"')[2].partition("</a>")[0]
        return ">3<" in "".join(link.split())

    assert badge(before)
    assert not badge(after)


def test_what_one_is_told_of_can_be_chosen(client):
    person = make_user("viewer")
    client.force_login(person)
    assert client.get("/admin/evalhub/notice/choose/").status_code == 200
    client.post("/admin/evalhub/notice/choose/", {"run_finished": ["mail"], "assigned": ["sms"]})
    person.refresh_from_db()

    assert ways_of(person, "run_finished") == {"mail"}
    assert ways_of(person, "assigned") == frozenset()


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "ftp://example.org/", "http://10.0.0.1/"])
def test_a_webhook_at_an_address_that_may_not_be_called_is_refused(client, url):
    client.force_login(make_user("maintainer"))
    sent = {"name": "x", "url": url, "secret_env": "HOOK", "kinds": ["assigned"]}
    response = client.post("/admin/evalhub/webhook/add/", sent)

    assert response.status_code == 200
    assert not Webhook.objects.exists()


@pytest.mark.parametrize("name", ["EVALHUB_SECRET_KEY", "DATABASE_URL", "PGPASSWORD"])
def test_a_webhook_is_not_signed_with_the_site_s_own_secrets(client, name):
    client.force_login(make_user("maintainer"))
    sent = {"name": "x", "url": "https://8.8.8.8/", "secret_env": name, "kinds": ["assigned"]}
    response = client.post("/admin/evalhub/webhook/add/", sent)

    assert f"{name} is a setting of this site" in response.content.decode()
    assert not Webhook.objects.exists()
