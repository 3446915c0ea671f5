"""Every act on record is on the audit page, in its downloads and in the API, and stays there."""

import csv
import io
from datetime import datetime, timedelta

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evalhub.access.sealing.reveals import end, reveal
from evalhub.audit.changes import told
from evalhub.audit.sql_view import histories
from evalhub.history import sign
from evalhub.models import Act, AuditEntry, Token, User, Webhook
from issues.models import Comment, IssueState
from runs.models import Launch
from tests.api import client_of
from tests.factories import make_issue, make_model, make_test, make_user

pytestmark = pytest.mark.django_db

LIST = "admin:evalhub_auditentry_changelist"
WORD = "Zanzibar"
"""Quoted by a reason, and so not for everybody."""


@pytest.fixture
def auditor():
    """Somebody who reads the audit, but no sealed tests."""
    user = make_user(username="auditor")
    user.user_permissions.add(Permission.objects.get(codename="read_audit"))
    return user


@pytest.fixture
def page(client, auditor):
    client.force_login(auditor)
    return lambda **filters: client.get(reverse(LIST), filters)


def entries(**fields) -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(**fields))


def rows_of(response) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def signed(row, by, reason=""):
    sign(row, by, reason)
    return row


# What is on record -------------------------------------------------------------------------------


def test_every_version_of_every_model_is_an_entry():
    issue, model = make_issue(), make_model()
    issue.save()
    model.delete()
    for kind, versions in histories().items():
        assert len(entries(kind=kind)) == versions.objects.count(), kind
    assert [entry.act for entry in entries(kind="issues.issue")] == [Act.CHANGED, Act.ADDED]
    assert [entry.act for entry in entries(kind="evalhub.languagemodel")] == [
        Act.DELETED,
        Act.ADDED,
    ]


@pytest.mark.parametrize("side", ["user", "role"])
def test_a_role_that_somebody_gets_is_an_entry_of_theirs(page, side):
    user, role = make_user(username="ann"), Group.objects.get(name="maintainer")
    before = len(entries(kind="auth.group"))
    user.groups.add(role) if side == "user" else role.user_set.add(user)

    assert len(entries(kind="auth.group")) == before
    newest = page(kind="evalhub.user").context["cl"].result_list[0]
    assert (newest.number, newest.about.name, newest.about.changed) == (user.pk, "ann", ["roles"])


def test_what_a_user_hides_and_when_they_log_in_are_no_changes():
    user = make_user(username="ann")
    before = len(entries(kind="evalhub.user"))
    user.prefer(columns=[])
    Client().force_login(user)
    user.check_password("secret-phrase")
    assert len(entries(kind="evalhub.user")) == before


def test_a_new_password_is_an_entry_without_the_password():
    user = make_user(username="ann")
    Token.objects.issue(user=user, name="script")
    user.set_password("a-new-secret-phrase")
    user.save()
    changed = entries(reason="Password changed")
    assert {entry.kind for entry in changed} == {"evalhub.user", "evalhub.token"}
    versions = histories()["evalhub.user"]
    assert not hasattr(versions, "password")


def test_tokens_are_on_record_from_their_making_to_their_end(client):
    admin = make_user("superuser")
    client.force_login(admin)
    token, _ = Token.objects.issue(user=admin, name="script")
    client.post(reverse("admin:evalhub_token_revoke", args=[token.pk]))
    revoked, made = entries(kind="evalhub.token")
    assert (made.act, revoked.act, revoked.actor) == (Act.ADDED, Act.CHANGED, admin)


def test_logins_and_refused_ones_are_entries(settings):
    settings.AXES_ENABLED = True
    ann = make_user("viewer", username="ann")
    for password in ("wrong", "secret-phrase"):
        sent = {"username": "ann", "password": password}
        Client().post(reverse("admin:login"), sent, REMOTE_ADDR="192.0.2.7")
    (refused,), (logged_in,) = entries(act=Act.REFUSED), entries(act=Act.LOGGED_IN)
    assert (refused.name, refused.actor, refused.address) == ("ann", None, "192.0.2.7")
    assert (logged_in.actor, logged_in.address) == (ann, "192.0.2.7")


def test_a_reveal_and_its_end_are_entries():
    by, reader = make_user("maintainer"), make_user("viewer", username="reader")
    test = make_test(sealed=True)
    exposure = reveal(test.pk, reader, f"Reads {WORD} for a review.", by=by)
    end(exposure, by=by)
    ended, revealed = entries(kind="evalhub.exposure")
    assert (revealed.act, ended.act) == (Act.REVEALED, Act.ENDED)
    assert {(e.number, e.actor, e.recipient) for e in (ended, revealed)} == {
        (test.pk, by, "reader")
    }


def test_verdicts_and_comments_are_entries_on_what_they_are_about(page):
    author = make_user("annotator")
    issue = make_issue()
    Comment.objects.create(issue=issue, author=author, text="Seen again.")
    (entry,) = entries(kind="issues.comment")
    assert (entry.actor, entry.number) == (author, issue.pk)
    url = reverse("admin:issues_issue_change", args=[issue.pk])
    assert f'href="{url}"' in page(kind="issues.comment").content.decode()


def test_what_only_the_admin_notes_is_an_entry(client):
    admin = make_user("superuser")
    client.force_login(admin)
    launch = Launch.objects.create(label="nightly", spec={}, requested_by=admin)
    url = reverse("admin:runs_launch_delete", args=[launch.pk])
    client.post(url, {"post": "yes"})
    deleted = entries(kind="runs.launch", act=Act.DELETED)
    assert [(entry.number, entry.actor) for entry in deleted] == [(launch.pk, admin)]


# The page ----------------------------------------------------------------------------------------


def test_the_page_says_who_did_what_and_links_to_it(page, client):
    ann = make_user("maintainer", username="ann")
    issue = signed(make_issue(title="Sums"), ann, "Seen in production")
    issue.severity, issue.state = "high", IssueState.DRAFT
    issue.save()
    issue.tags.create(name="arithmetic")
    linked, saved = page(kind="issues.issue", act__exact=Act.CHANGED).context["cl"].result_list
    assert sorted(saved.about.changed) == ["severity", "state"]
    assert linked.about.changed == ["tags"]
    text = page(kind="issues.issue").content.decode()
    version = reverse("admin:issues_issue_simple_history", args=[issue.pk, saved.version])
    assert "ann" in text
    assert f'href="{version}"' in text
    client.force_login(make_user("superuser"))
    assert client.get(version).status_code == 200


def test_filters_leave_what_they_name(page):
    ann, ben = make_user(username="ann"), make_user(username="ben")
    first, second = (signed(make_issue(), by) for by in (ann, ben))
    first.save()
    second.save()
    Webhook.objects.create(name="hook", url="https://example.org")

    def shown(**filters) -> list[AuditEntry]:
        return list(page(**filters).context["cl"].result_list)

    assert [entry.number for entry in shown(who=ann.pk)] == [first.pk]
    assert {entry.kind for entry in shown(kind="evalhub.webhook")} == {"evalhub.webhook"}
    assert {entry.act for entry in shown(act__exact=Act.CHANGED, kind="issues.issue")} == {
        Act.CHANGED
    }
    assert {entry.number for entry in shown(q=first.pk, kind="issues.issue")} == {first.pk}
    assert all(entry.actor is None for entry in shown(who="system"))


def test_days_are_whole_days(page):
    noon = timezone.make_aware(datetime(2026, 3, 2, 12))
    for hours in (-13, -12, 11.9, 12):
        issue = make_issue()
        issue._history_date = noon + timedelta(hours=hours)
        issue.save()
    found = page(kind="issues.issue", at_from="2026-03-02", at_to="2026-03-02").context["cl"]
    assert [round((e.at - noon) / timedelta(hours=1), 1) for e in found.result_list] == [11.9, -12]


def test_a_long_page_makes_as_many_queries_as_a_short_one(page):
    make_issue(tags=("a",))
    few = queries_of(page)
    for _ in range(20):
        make_issue(tags=("a", "b")).save()
    assert queries_of(page) == few


def queries_of(page) -> int:
    with CaptureQueriesContext(connection) as seen:
        page(kind="issues.issue")
    return len(seen)


def test_reasons_are_for_readers_of_sealed_tests(page, client, auditor):
    signed(make_issue(), None, f"It asks for {WORD}").save()
    addresses = [
        reverse(LIST),
        reverse("admin:evalhub_auditentry_download"),
        reverse("api-audit-list"),
    ]

    def read(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200
        return str(response.getvalue(), "utf-8")

    page()
    assert not [address for address in addresses if WORD in read(address)]
    client.force_login(make_user("superuser"))
    assert [address for address in addresses if WORD in read(address)] == addresses


# What leaves it ----------------------------------------------------------------------------------


def test_the_download_has_what_the_filters_leave(page, client):
    ann = make_user(username="=ann")
    issues = [signed(make_issue(), ann) for _ in range(3)]
    for issue in issues:
        issue.severity = "high"
        issue.save()
    page()
    address = reverse("admin:evalhub_auditentry_download")
    rows = rows_of(client.get(address, {"kind": "issues.issue", "who": ann.pk}))
    assert [row["number"] for row in rows] == [str(issue.pk) for issue in reversed(issues)]
    assert {(row["who"], row["act"], row["changed"]) for row in rows} == {
        ("'=ann", "changed", "severity")
    }


def test_scripts_read_each_entry_once():
    client = client_of("admin")
    for _ in range(5):
        make_issue().save()
    url, seen = f"{reverse('api-audit-list')}?page_size=3&kind=issues.issue", []
    while url:
        answer = client.get(url).json()
        seen += [row["id"] for row in answer["results"]]
        url = answer["next"]
    assert seen == [entry.id for entry in entries(kind="issues.issue")]
    assert len(set(seen)) == 10


def test_scripts_filter_as_people_do():
    client, ann = client_of("admin"), make_user(username="ann")
    issue = signed(make_issue(), ann)
    issue.severity = "high"
    issue.save()
    filters = {"actor": "ann", "act": "changed", "number": issue.pk}
    answer = client.get(reverse("api-audit-list"), filters).json()
    (row,) = answer["results"]
    assert (row["actor"], row["kind"], row["changed"]) == ("ann", "issues.issue", ["severity"])
    late = {"since": (timezone.now() + timedelta(days=1)).isoformat()}
    answer = client.get(reverse("api-audit-list"), late).json()
    assert answer["results"] == []


def test_times_may_have_any_offset_of_iso_8601():
    client = client_of("superuser")
    make_issue()

    for moment, status in (
        ("2026-01-01T00:00:00+21:30", 200),
        ("0392-10-29T21:06:43.8+21:30", 200),
        ("0001-01-01T00:00:00+01:00", 400),
        ("9999-12-31T23:59:00-23:59", 400),
    ):
        response = client.get(reverse("api-audit-list"), {"since": moment})
        assert (moment, response.status_code) == (moment, status)


# It stays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "act",
    [
        lambda entry: AuditEntry.objects.create(id="x-1", at=timezone.now()),
        lambda entry: entry.save(),
        lambda entry: entry.delete(),
        lambda entry: AuditEntry.objects.update(kind=""),
    ],
)
def test_the_database_refuses_to_change_an_entry(act):
    make_issue()
    entry = AuditEntry.objects.all()[0]
    with pytest.raises((DatabaseError, ObjectDoesNotExist)), transaction.atomic():
        act(entry)
    assert AuditEntry.objects.filter(pk=entry.pk).exists()


def test_who_did_something_cannot_be_deleted(client):
    ann, idle = make_user(username="ann"), make_user(username="idle")
    signed(make_issue(), ann).save()
    with pytest.raises(ProtectedError), transaction.atomic():
        User.objects.filter(pk=ann.pk).delete()
    client.force_login(make_user("superuser"))
    for user in (ann, idle):
        client.post(reverse("admin:evalhub_user_delete", args=[user.pk]), {"post": "yes"})
    assert User.objects.filter(username="ann").exists()
    (deleted,) = told(entries(kind="evalhub.user", act=Act.DELETED))
    assert deleted.about.name == "idle"


def test_entries_outlive_their_rows():
    issue = make_issue()
    number = issue.pk
    issue.delete()
    acts = [entry.act for entry in entries(kind="issues.issue", number=number)]
    assert acts == [Act.DELETED, Act.ADDED]
