"""Reports that are made again and again, and kept as they were."""

from ctypes.util import find_library
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from evalhub.notifications.models import Delivery, Webhook
from evalhub.notifications.outbox import deliver_due
from evalhub.schedules import ScheduleRefused
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import Method
from evalhub.values.typed_json import from_json
from issues.models import Test
from reports import registry
from reports.documents.cells import words
from reports.documents.document import Column, Document, Estimate, Fact, Link, Linked, Table
from reports.documents.exports import json_of
from reports.documents.reading import Page, ReportForm
from reports.models import ExecutiveSummary, ReportSchedule, Snapshot
from reports.schedules.due import make_due
from reports.schedules.snapshots import make, stored
from reports.summaries.requests import ask_summary, state_like
from runs.figures.rate import Rate
from runs.lifecycle.deletion import delete_run
from runs.models import Release, Result, Run
from runs.scoring.shown_verdicts import has_seen
from tests.factories import first_result, make_model, make_test, make_user
from tests.reports.workspaces import make_workspace
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

CAN_MAKE_PDF = find_library("pango-1.0") is not None
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
CELLS = {
    "text": "plain",
    "rate": Rate(1, 2, 0.5, Interval(0.1, 0.9), Method.BY_ISSUE, 3),
    "estimate": Estimate(0.25, 4),
    "link": Link("here", "/there/", "note"),
    "usd": Decimal("0.25"),
    "date": NOON,
    "p": None,
    "count": (1, 2),
    "number": Linked(3, "/there/"),
}


def document_of(asked=None, reading=None):
    columns = tuple(Column(form, form.title(), form) for form in CELLS)
    rows = (tuple(CELLS.values()),)
    table = Table("rows", "Rows", columns, rows, draw=lambda: {"data": []})
    facts = (Fact("tests", "Tests that may be read", _readable(reading), "count"),)
    return Document(
        "Which?", ("It is.",), facts, (table,), warnings=("Mind.",), labels=("scripted",)
    )


def _readable(reading):
    return Test.objects.readable_by(reading.reader).count() if reading else 0


@pytest.fixture
def a_page(monkeypatch):
    reverse("reports:trend")  # loads the addresses, which are made of the true pages
    page = Page("runs-like", "Some report", "What?", "Tells.", ReportForm, document_of)
    monkeypatch.setattr(registry, "PAGES", (page,))
    return page


@shared_data
def ledger():
    return make_workspace()


@pytest.fixture
def maintainer(client):
    user = make_user("maintainer")
    client.force_login(user)
    return user


def schedule(client, page, **sent):
    """The page that answers to a form with these fields."""
    url = reverse("reports:schedule", args=[page])
    return client.post(url, sent, follow=True).content.decode()


def make_report(**fields):
    due = {"title": "Weekly", "page": "runs-like", "cron": "0 6 * * *", "next_at": NOON}
    return ReportSchedule.objects.create(**(due | fields))


def test_a_kept_report_is_the_same_report_again():
    kept = from_json(Document, stored(document_of()))

    assert json_of(kept) == json_of(document_of())
    assert kept.tables[0].figure == {"data": []}
    (row,), (again,) = document_of().tables[0].rows, kept.tables[0].rows
    forms = list(CELLS)
    assert [words(v, f) for v, f in zip(again, forms, strict=True)] == [
        words(v, f) for v, f in zip(row, forms, strict=True)
    ]


def test_what_is_due_is_made_once_and_kept(a_page):
    report = make_report()

    assert [make_due(NOON), make_due(NOON)] == [1, 0]

    report.refresh_from_db()
    snapshot = report.snapshots.get()
    assert from_json(Document, snapshot.content).title == "Which?"
    assert report.last_outcome == f"Made snapshot {snapshot.pk}."


def test_a_snapshot_holds_no_text_that_may_be_sealed_later(a_page):
    make_test()
    report = make_report(requested_by=make_user("superuser"))

    make(report)

    assert from_json(Document, report.snapshots.get().content).facts[0].value == 0


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"page": "no-such-page"}, "There is no report page 'no-such-page'."),
        ({"page": "summary", "query": "like=99"}, "Executive summary 99 was deleted."),
    ],
)
def test_what_is_gone_is_named_in_the_outcome(asked, problem):
    report = make_report(**asked)

    make_due(NOON)

    report.refresh_from_db()
    assert report.last_outcome == f"Refused: {problem}"


def test_the_oldest_snapshots_go(a_page, monkeypatch):
    monkeypatch.setattr("reports.schedules.snapshots.MAX_SNAPSHOTS", 2)
    report = make_report()

    made = [make(report) for _ in range(3)]

    assert [f"Made snapshot {snapshot.pk}." for snapshot in report.snapshots.all()] == made[:0:-1]


def test_a_maintainer_schedules_a_page_and_reads_its_snapshots(client, maintainer):
    refused = schedule(client, "trend", cron="daily")
    assert "daily" in refused
    assert not ReportSchedule.objects.exists()

    answer = schedule(client, "trend", state="", title="Mondays", cron="0 6 * * 1")
    report = ReportSchedule.objects.get(title="Mondays")
    client.post(reverse("admin:reports_reportschedule_make", args=[report.pk]))
    snapshot = Snapshot.objects.get(report=report)

    assert "Mondays at 06:00" in answer
    page = client.get(snapshot.get_absolute_url())
    assert from_json(Document, snapshot.content).title in page.content.decode()
    for ending in ("html", "md", "json"):
        file = client.get(reverse("reports:snapshot_download", args=[snapshot.pk, ending]))
        assert file.status_code == 200
        assert "attachment" in file["Content-Disposition"]


def test_a_scheduled_summary_covers_the_newest_run_of_each_variant(client, ledger, maintainer):
    analyst = make_model(name="analyst")
    first = ask_summary(ledger.runs[:2], analyst=analyst, by=None)

    schedule(client, "summary", state=state_like(first), cron="0 6 * * 1")
    report = ReportSchedule.objects.get()
    outcome = make(report)

    asked = ExecutiveSummary.objects.latest("pk")
    assert outcome == f"Requested summary {asked.pk} of 2 runs from analyst."
    assert set(asked.runs.all()) == set(ledger.runs[2:])
    assert (asked.analyst, asked.context_tokens) == (analyst, first.context_tokens)


def test_a_scheduled_summary_covers_the_highest_release_not_a_later_hotfix(
    client, ledger, maintainer
):
    older, newer = ledger.runs[:2], ledger.runs[2:]
    first = ask_summary(older, analyst=make_model(), by=None)
    for runs, release, days in ((newer, "1.4", 1), (older, "1.2.1", 2)):
        Release.objects.named(release)
        made = Run.objects.filter(pk__in=[run.pk for run in runs])
        made.update(release=release, created_at=timezone.now() + timedelta(days=days))

    schedule(client, "summary", state=state_like(first), cron="0 6 * * 1")
    make(ReportSchedule.objects.get())

    assert set(ExecutiveSummary.objects.latest("pk").runs.all()) == set(newer)


def test_a_scheduled_summary_needs_the_permission_of_its_owner(client, ledger):
    first = ask_summary(ledger.runs[:2], analyst=make_model(), by=None)
    report = make_report(page="summary", query=f"like={first.pk}")
    for person in (None, make_user("viewer"), make_user("maintainer", is_active=False)):
        ReportSchedule.objects.update(requested_by=person)
        report.refresh_from_db()
        with pytest.raises(ScheduleRefused, match="may not ask for summaries"):
            make(report)

    ReportSchedule.objects.update(requested_by=make_user("maintainer"))
    report.refresh_from_db()
    assert make(report).startswith("Requested ")
    person = make_user("viewer")
    person.user_permissions.add(Permission.objects.get(codename="add_reportschedule"))
    client.force_login(person)
    posted = {"state": "like=1", "cron": "* * * * *"}
    assert client.post(reverse("reports:schedule", args=["summary"]), posted).status_code == 403


def test_what_no_database_can_keep_is_left_out(client, maintainer):
    schedule(client, "trend", state="over=\x00time", title="a\x00b", cron="0 6 * * *")
    report = ReportSchedule.objects.get()
    assert (report.title, report.query) == ("ab", "over=time")


# Sending -----------------------------------------------------------------------------------------


@pytest.fixture
def mail_is_on(settings):
    settings.EMAIL_HOST = "mail.example.org"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.EVALHUB_SITE_URL = "https://evalhub.example.org"


def test_each_snapshot_is_sent_with_its_finding_picture_and_link(mail_is_on, mailoutbox, ledger):
    person = make_user("viewer", email="manager@example.org")
    query = f"runs={ledger.runs[0].pk}&runs={ledger.runs[2].pk}"
    report = make_report(page="compare", query=query, addresses="board@example.org")
    report.people.add(person)
    Webhook.objects.create(name="hook", url="https://hook", secret_env="HOOK", kinds=["report"])

    make(report)
    while deliver_due():
        pass

    snapshot = report.snapshots.get()
    document = from_json(Document, snapshot.content)
    assert document.handout is not None
    subject, finding = document.handout.subject, document.handout.findings[0].text[1:]
    notification = person.notifications.get()
    assert notification.title == subject
    assert "p = " not in notification.text
    assert finding in notification.text
    assert notification.url == snapshot.get_absolute_url()
    assert sorted(mail.to[0] for mail in mailoutbox) == ["board@example.org", "manager@example.org"]
    for mail in mailoutbox:
        assert mail.subject == subject
        assert finding in mail.body
        assert f"https://evalhub.example.org{snapshot.get_absolute_url()}" in mail.body
        parts = mail.message().walk()
        (image,) = [part for part in parts if part.get_content_maintype() == "image"]
        assert image.get_payload(decode=True).startswith(b"\x89PNG")
        (html,) = [part for part, kind in mail.alternatives]
        assert image["Content-ID"].strip("<>") in html
        assert document.handout.lines[0].changed in html
        files = [part.get_content_type() for part in mail.message().walk() if part.get_filename()]
        assert files == ["image/png", *(["application/pdf"] if CAN_MAKE_PDF else [])]
    payload = Delivery.objects.get(webhook__isnull=False).payload
    assert payload["event"] == "report"
    assert payload["facts"]["report"]["sentences"][0] == document.sentences[0]


def test_a_report_without_findings_is_sent_with_its_figures(a_page, monkeypatch):
    page = replace(a_page, build=lambda *_: replace(document_of(), sentences=()))
    monkeypatch.setattr(registry, "PAGES", (page,))
    person, report = make_user("viewer"), make_report()
    report.people.add(person)
    make(report)

    assert "Tests that may be read: 0" in person.notifications.get().text


def test_a_mail_of_activity_has_text_with_something_and_with_nothing(
    mail_is_on, mailoutbox, ledger
):
    for kind in ("baseline", "run"):
        query = f"period=all&kind={kind}"
        make(make_report(page="activity", query=query, addresses="board@example.org"))
    while deliver_due():
        pass

    nothing, something = sorted(mailoutbox, key=lambda mail: len(mail.body))
    assert nothing.body.partition("https://")[0].strip()
    assert "Run done" in something.body


def test_a_snapshot_of_activity_lists_what_happened_to_runs(ledger):
    report = make_report(page="activity", query="period=all")
    make(report)

    document = from_json(Document, report.snapshots.get().content)
    assert "Run done" in {row[1] for row in document.tables[0].rows}
    assert document.facts


def test_a_comparison_is_scheduled_for_the_newest_run(client, ledger, maintainer):
    old, new = ledger.runs[0], ledger.runs[2]
    ledger.runs[0].suite.runs.update(suite=None)
    kept = schedule(client, "compare", state=f"runs={old.pk}&runs={new.pk}", when="0 6 * * 1")
    assert "would stay the same" in kept
    assert not ReportSchedule.objects.exists()

    ledger.suite.runs.set(ledger.runs)
    state = f"runs={old.pk}&runs={old.pk}&tag=facts"
    schedule(client, "compare", state=state, when="0 6 * * 1")
    report = ReportSchedule.objects.get()
    make(report)

    about = {"suite": str(ledger.suite.pk), "model": str(old.language_model_id), "tag": "facts"}
    assert QueryDict(report.query).dict() == about
    assert report.cron == "0 6 * * 1"
    assert from_json(Document, report.snapshots.get().content).runs == (old.pk, new.pk)


@pytest.mark.parametrize("made_by", ["this version", "an older one"])
@pytest.mark.parametrize("ending", ["", ".csv"])
def test_who_reads_a_snapshot_was_shown_the_verdicts_that_it_tells(client, ledger, made_by, ending):
    old, _, new, *others = ledger.runs
    report = make_report(page="compare", query=f"runs={old.pk}&runs={new.pk}")
    make(report)
    snapshot, ann = report.snapshots.get(), make_user("annotator")
    if made_by != "this version":
        snapshot.content.pop("shown")
        snapshot.save()
    delete_run(old)
    client.force_login(ann)
    assert not has_seen(ann.pk, first_result(new))

    response = client.get(snapshot.get_absolute_url().rstrip("/") + (ending or "/"))

    assert response.status_code == 200
    assert has_seen(ann.pk, first_result(new))
    assert not any(has_seen(ann.pk, first_result(run)) for run in others)


def test_a_snapshot_of_single_results_tells_those_only(client, ledger):
    ann = make_user("annotator")
    result = first_result(ledger.runs[0])
    test, issue = result.test, result.issue
    Result.objects.filter(test=test).update(passed=False)
    report = make_report(page="issue_timeline", query=f"issue={issue.pk}")
    make(report)
    client.force_login(ann)

    client.get(report.snapshots.get().get_absolute_url())

    assert has_seen(ann.pk, result)
    other = Result.objects.exclude(issue=issue).first()
    assert other is not None
    assert not has_seen(ann.pk, other)


def test_who_is_notified_is_chosen_and_a_wrong_address_is_named(client, maintainer):
    people = {maintainer, make_user("viewer")}
    offered = client.get(reverse("reports:schedule_people")).content.decode()
    assert [f'value="{person.pk}"' in offered for person in people] == [
        person != maintainer for person in people
    ]
    asked = {"when": "own", "cron": "0 7 * * 2", "people": [person.pk for person in people]}

    refused = schedule(client, "trend", **asked, addresses="a@example.org, nobody")
    assert "nobody is not an e-mail address" in refused
    assert not ReportSchedule.objects.exists()

    page = schedule(client, "trend", **asked, addresses="a@example.org, b@example.org")
    report = ReportSchedule.objects.get()
    assert set(report.people.all()) == people
    assert report.address_list == ["a@example.org", "b@example.org"]
    assert report.cron == "0 7 * * 2"
    assert "Next: Tuesday" in page
    assert not report.has_open_links
