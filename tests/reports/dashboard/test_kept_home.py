"""Home is shown again while nothing on it has changed, and each reader's own tasks at once."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evalhub.access.reveals import reveal
from evalhub.models import Worker
from evalhub.work import clock
from issues.models import Feedback, IssueState, TestState
from issues.sealing import seal
from reports.dashboard.cards import choose
from reports.models import ReportSchedule
from runs.models import Launch, Run, VerdictDraft
from runs.review.models import QueueState
from runs.review.reservations import release, take
from runs.review.skips import skip
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import first_result, make_issue, make_test, make_user
from tests.reports.documents.test_kept_pages import (
    FOLLOWED_ELSEWHERE,
    followed,
    logged_in,
    page_text,
    reopened,
    shown,
    tables_in,
)
from tests.reports.judged_runs import finish
from tests.reports.workspaces import make_workspace
from tests.runs.review.rows import expire, make_queue, put

pytestmark = pytest.mark.django_db

FEW = 22
"""Queries of a Home that is kept: its reader, their rights, limits and own tasks, and the data."""


def home(client):
    return shown(client, "home", {})


def queries_of(client):
    with CaptureQueriesContext(connection) as found:
        home(client)
    return found.captured_queries


def is_kept(client):
    """Tell whether a viewer's second request reads no result."""
    home(client)
    return "runs_result" not in tables_in(queries_of(client))


def own_acts(workspace, me):
    """What this person, or another for them, does: each shows in their own Home alone."""
    issue, result = workspace.issues[0], first_result(workspace.runs[2])
    other, queue, held = make_user("annotator"), make_queue(reviewers=1), {}
    row = make_issue(title="Mine")

    def took(by):
        held["of"] = take(queue, by=by)

    def changed(row, **fields):
        for name, value in fields.items():
            setattr(row, name, value)
        row.save()

    draft = {"result": result, "annotator": me, "fields": {"why": "Hm."}}
    yield "assigned", lambda: changed(row, assignee=me)
    yield "draft issue", lambda: make_issue(author=me, state=IssueState.DRAFT)
    yield "draft test", lambda: make_test(author=me, state=TestState.DRAFT, issue=issue)
    yield "issue in review", lambda: changed(row, state=IssueState.IN_REVIEW)
    yield "feedback", lambda: Feedback.objects.create(prompt="p", answer="a")
    yield "queued", lambda: put(queue, *workspace.runs[2].results.all()[:2])
    yield "taken by another", lambda: took(other)
    yield "released", lambda: release(held["of"], by=other)
    yield "taken again", lambda: took(other)
    yield "expired", lambda: expire(held["of"])
    yield "taken by me, then skipped", lambda: skip(take(queue, by=me), "Too long.", by=me)
    yield "closed", lambda: changed(queue, state=QueueState.CLOSED)
    yield "unsaved verdict", lambda: VerdictDraft.objects.create(**draft)
    yield "its end", lambda: VerdictDraft.objects.all().delete()
    yield "override", lambda: evaluate(result, HumanVerdict("1", "Yes."), by=other)
    yield "their name", lambda: changed(other, username="renamed")
    yield "dispute", lambda: evaluate(result, HumanVerdict("0", "No."), by=me)
    yield "launch", lambda: Launch.objects.create(label="Mine", spec={}, requested_by=me)
    yield "schedule", lambda: ReportSchedule.objects.create(page="trend", requested_by=me)
    yield "stuck", lambda: reopened(workspace.runs[3])
    yield (
        "its end",
        lambda: Worker.objects.create(name="here:1", started_at=clock.now(), beat_at=clock.now()),
    )
    yield "other cards", lambda: choose(me, ["activity", "to_do", "tour"])


def test_each_act_of_a_person_shows_at_once():
    workspace, client = make_workspace(), logged_in("maintainer")
    for name, act in own_acts(workspace, client.user):
        before = home(client)
        act()
        after = home(client)
        assert after != before, name
        caches["pages"].clear()
        assert after == home(client), name


def test_home_is_not_built_again_while_nothing_changes():
    make_workspace()
    client = logged_in("superuser")
    first, second = queries_of(client), queries_of(client)
    assert len(second) <= FEW < len(first)
    assert tables_in(first) <= {*FOLLOWED_ELSEWHERE, *followed(), *LIVE}


LIVE = {"evalhub_worker", "runs_verdictdraft", "review_skip"}
"""Tables that each request reads."""


def test_readers_share_a_home_only_with_the_same_rights_and_cards():
    workspace, maintainer = make_workspace(), make_user("superuser")
    evaluate(first_result(workspace.runs[2]), HumanVerdict("1", "A secret."), by=maintainer)
    seal(workspace.tests[0], "It must not leak.", by=maintainer)
    readers = [logged_in(role) for role in ("annotator", "viewer", "viewer", "annotator")]
    for client in readers[1:3]:
        choose(client.user, ["overrides"])

    assert [("A secret." in home(client)) for client in readers] == [True, False, False, True]
    assert is_kept(readers[2])
    reveal(workspace.tests[0].pk, readers[1].user, "For this test.", by=maintainer)
    assert [("A secret." in home(client)) for client in readers] == [True, True, False, True]
    choose(readers[2].user, ["activity"])
    assert 'id="card-overrides"' not in home(readers[2])


def test_what_is_to_do_is_never_that_of_another_reader():
    make_workspace()
    readers = [logged_in("viewer") for _ in range(2)]
    for client in readers:
        client.user.user_permissions.add(Permission.objects.get(codename="change_issue"))
    make_issue(assignee=readers[0].user)
    assert [("Issues assigned to me" in home(client)) for client in readers] == [True, False]


def test_a_week_begins_at_midnight_and_is_another_each_day(monkeypatch):
    workspace, client = make_workspace(), logged_in("viewer")
    choose(client.user, ["activity"])
    now = timezone.localtime()
    since = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=7)
    Run.objects.update(finished_at=since - timedelta(seconds=1))
    others = changes(client)
    Run.objects.filter(pk=workspace.runs[0].pk).update(finished_at=since)
    assert changes(client) == others + 1
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=1))
    assert changes(client) == others


def changes(client):
    return int(re.search(r"(\d+) changes in the last 7 days", home(client))[1])


def test_figures_of_work_that_is_not_over_are_not_kept():
    workspace, client = make_workspace(), logged_in("viewer")
    run = workspace.runs[2]
    reopened(run)
    assert is_kept(client)

    evaluate(first_result(run), HumanVerdict("0", "No."), by=make_user("annotator"))
    assert not is_kept(client)
    finish(run)
    assert is_kept(client)


def test_what_is_left_to_a_second_request_is_not_kept_before_it():
    make_workspace()
    caches["computed"].clear()
    client = logged_in("viewer")
    first = [page_text(client.get("/admin/")) for _ in range(2)]
    assert all('data-pending="1"' in html for html in first)
    assert 'data-pending="0"' in home(client)
    assert 'data-pending="0"' in page_text(client.get("/admin/"))


def test_a_kept_form_is_sent_with_the_token_of_its_reader():
    make_workspace()
    address = reverse("reports:choose_cards")
    for _ in range(2):
        client = Client(enforce_csrf_checks=True)
        client.force_login(make_user("viewer"))
        page = page_text(client.get("/admin/", {"compute": "1"}))
        (token,) = re.findall(rf'action="{address}".*?value="(\w+)"', page, re.DOTALL)
        sent = {"csrfmiddlewaretoken": token, "card": ["judges"]}
        assert client.post(address, sent).status_code == 302
