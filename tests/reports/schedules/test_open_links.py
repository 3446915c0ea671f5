"""Links to snapshots that open without an account: for a time, until withdrawn, and no text."""

from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone
from time_machine import travel

from evalhub.notifications.outbox import deliver_due
from issues.models import Test
from reports.schedules.open_links import open_url
from reports.schedules.snapshots import make
from runs.models import Answer
from tests.factories import make_issue, make_test, make_user
from tests.reports.judged_runs import judged
from tests.reports.schedules.test_snapshots import mail_is_on, make_report  # noqa: F401

pytestmark = pytest.mark.django_db

SECRET = "the sealed question"
PAGE = "reports:open_snapshot"


@pytest.fixture
def report(settings):
    settings.EVALHUB_OPEN_LINKS = True
    return make_report(page="trend", has_open_links=True, addresses="board@example.org")


def snapshot_of(report):
    make(report)
    return report.snapshots.first()


def test_an_address_is_sent_a_link_that_opens_and_an_account_the_page(
    report,
    mail_is_on,  # noqa: F811
    mailoutbox,
    client,
):
    report.people.add(make_user("viewer", email="ann@example.org"))
    snapshot = snapshot_of(report)
    while deliver_due():
        pass

    links = {mail.to[0]: mail.body.split()[-1] for mail in mailoutbox}
    assert links["ann@example.org"].endswith(snapshot.get_absolute_url())
    parts = urlsplit(links["board@example.org"])
    response = client.get(f"{parts.path}?{parts.query}")
    assert response.status_code == 200
    assert response["X-Robots-Tag"].startswith("noindex")
    assert response["Referrer-Policy"] == "no-referrer"
    assert "no-store" in response["Cache-Control"]
    assert "script-src" not in response["Content-Security-Policy"]
    assert "sessionid" not in response.cookies


def test_no_link_shows_text_of_a_test_even_if_it_is_sealed_later(report, client):
    test = make_test(SECRET, issue=make_issue(title="Dates"))
    runs = [judged([vote], tests=[test], release=f"{2 - vote}") for vote in (1, 0)]
    Answer.objects.update(text=SECRET)
    pages = ("compare", "releases", "activity", "issue_timeline", "underperforming", "overrides")
    urls = []
    for page in pages:
        one = make_report(page=page, has_open_links=True)
        if page == "compare":
            one.query = f"runs={runs[0].pk}&runs={runs[1].pk}"
        urls.append(open_url(snapshot_of(one)))
    Test.objects.update(sealed=True)

    for url in urls:
        response = client.get(url)
        assert response.status_code == 200
        assert SECRET not in response.content.decode()


def test_a_link_opens_its_own_snapshot_alone(report, client):
    first, second = snapshot_of(report), snapshot_of(report)
    (link,) = parse_qs(urlsplit(open_url(first)).query)["link"]
    _, rest = link.split(":", 1)

    for forged in (f"{second.pk}:{rest}", link[:-1], f"{link}x", "", "1", "\x00", "ü:1:2"):
        response = client.get(f"{reverse(PAGE)}?{urlencode({'link': forged})}")
        assert response.status_code == 404


def test_a_link_ends_after_its_days(report, client, settings):
    settings.EVALHUB_OPEN_LINK_DAYS = 3
    url = open_url(snapshot_of(report))

    for days, status in ((2.9, 200), (3.1, 410)):
        with travel(timezone.now() + timedelta(days=days)):
            assert client.get(url).status_code == status


@pytest.mark.parametrize("how", ["the setting is off", "unticked", "deleted", "pruned"])
def test_a_withdrawn_link_opens_no_more(report, client, settings, how):
    snapshot = snapshot_of(report)
    url = open_url(snapshot)
    assert client.get(url).status_code == 200

    if how == "the setting is off":
        settings.EVALHUB_OPEN_LINKS = False
    elif how == "unticked":
        report.has_open_links = False
        report.save()
    elif how == "deleted":
        report.delete()
    else:
        snapshot.delete()

    assert client.get(url).status_code == (404 if how == "the setting is off" else 410)


@pytest.mark.parametrize(("of_site", "of_schedule"), [(False, True), (True, False), (False, False)])
def test_no_link_is_made_unless_site_and_schedule_allow_it(report, settings, of_site, of_schedule):
    settings.EVALHUB_OPEN_LINKS = of_site
    report.has_open_links = of_schedule
    report.save()

    assert open_url(snapshot_of(report)) == ""


def test_the_admin_offers_what_the_site_allows(report, client, settings):
    client.force_login(make_user("maintainer"))
    url = reverse("admin:reports_reportschedule_change", args=[report.pk])
    form = {"title": "Weekly", "cron": "0 6 * * 1", "addresses": "", "has_open_links": "on"}
    report.has_open_links = False
    report.save()

    for allowed in (False, True):
        settings.EVALHUB_OPEN_LINKS = allowed
        client.post(url, form)
        report.refresh_from_db()
        assert report.has_open_links is allowed
