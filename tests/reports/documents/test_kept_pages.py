"""A report's page is shown again while nothing on it has changed, to readers of the same rights."""

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.access import request_limits
from evalhub.access.reveals import end, reveal
from evalhub.audit.view import histories, signed_models
from evalhub.models import BatchState
from issues.models import Feedback
from issues.sealing import seal, unseal
from issues.states import move
from issues.triage.erasure import erase
from reports.dashboard.cards import CARDS, choose
from reports.documents.data_version import APPENDED, CHANGED
from reports.registry import PAGES
from runs.baselines import pin
from runs.control import rejudge
from runs.deletion import delete_run
from runs.judging.activation import set_active
from runs.models import JudgeRun, Run, Sight, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_jury, make_model, make_user
from tests.reports.judged_runs import finish, judge
from tests.reports.workspaces import make_workspace

pytestmark = pytest.mark.django_db

KEPT = ("run", *(page.key for page in PAGES if page.is_kept))
FIGURES = ("home", *KEPT)
FOLLOWED_ELSEWHERE = {
    *("runs_result", "runs_resultscore", "runs_judgment", "runs_answer"),  # see `data_version`
    *("runs_runtally", "runs_tallyrow"),  # sums of results, exact whenever they are read
    "evalhub_call",  # of work that is over
    *("issues_revision", "issues_frozencriterion"),  # never changed, and read by way of a run
    *("django_session", "evalhub_notification", "evalhub_keptvalue", "django_content_type"),
    *("runs_sight", "review_assignment", "review_reviewitem", "review_queue"),  # by the reader
    *("auth_permission", "auth_group_permissions", "evalhub_user_groups"),
    "evalhub_user_user_permissions",
}


def logged_in(role):
    client = Client()
    client.user = make_user(role)
    choose(client.user, [card.key for card in CARDS])
    client.force_login(client.user)
    return client


def opened(client, key, workspace):
    run, again = workspace.runs[0].pk, workspace.runs[2].pk
    state = {
        "issue_timeline": {"issue": workspace.issues[0].pk},
        "compare": {"runs": [run, again], "show": "all"},
    }.get(key, {})
    return shown(client, key, state, again)


def shown(client, key, state, run=0):
    special = {"home": ("admin:index", []), "run": ("reports:run", [run])}
    name, arguments = special.get(key, (f"reports:{key}", []))
    page = client.get(reverse(name, args=arguments), {**state, "compute": "1"})
    assert page.status_code == 200
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page_text(page))


def page_text(page):
    return page.content.decode()


def acts_on(workspace, person):
    """Each act, with the pages that it must change."""
    first, _, last, _ = workspace.runs
    issue, result, test = workspace.issues[0], first_result(last), workspace.tests[0]
    again = {}

    def rejudged():
        again["run"] = rejudge(last, make_jury(make_model()), by=None)

    def judged():
        judge(last, [[0]] * 6, judge_run=again["run"])
        finish(last)

    def renamed(row, field, name):
        setattr(row, field, name)
        row.save()

    def told():
        return Feedback.objects.create(issue=issue, prompt="Hm?", answer="So.", comment="Wrong.")

    yield "override", lambda: evaluate(result, HumanVerdict("1", "Fine."), by=person), FIGURES
    yield (
        "withdrawal",
        lambda: withdraw(result, by=person, reason="A slip."),
        ("home", "trend", "run"),
    )
    yield "re-judging", rejudged, ("trend", "heatmap")
    yield "its end", judged, ("home", "trend", "heatmap")
    yield "activation", lambda: set_active(again["run"]), FIGURES
    yield "earlier judges", lambda: set_active(last.judge_runs.get(number=1)), ("run",)
    yield "retry", lambda: reopened(last), FIGURES
    yield "its end", lambda: finish(last), ("home", "trend", "run")
    yield "name of the issue", lambda: renamed(issue, "title", "New title"), ("run",)
    yield (
        "name of the model",
        lambda: renamed(first.language_model, "name", "new name"),
        ("leaderboard",),
    )
    yield "name of the run", lambda: renamed(last, "label", "new label"), ("home", "compare", "run")
    yield (
        "state of the issue",
        lambda: move(issue, "deprecate", by=person, reason="Done."),
        ("home", "issue_timeline"),
    )
    yield "sealing", lambda: seal(test, "It must not leak.", by=person), ("compare", "run")
    yield "its end", lambda: unseal(test, "It may be known.", by=person), ("compare", "run")
    yield "baseline", lambda: pin(last), ("home", "compare")
    yield "feedback", told, ("issue_timeline",)
    yield "erasure", lambda: erase(Feedback.objects.all(), by=person), ("issue_timeline",)
    yield "deletion", lambda: delete_run(workspace.runs[3]), ("home", "trend", "releases")


def reopened(run):
    JudgeRun.objects.filter(run=run).update(state=BatchState.LIVE)
    Run.objects.filter(pk=run.pk).update(state=BatchState.LIVE, finished_at=None)


@pytest.fixture(autouse=True)
def _many_requests(monkeypatch):
    for limit in ("PAGES", "EXPENSIVE"):
        monkeypatch.setattr(request_limits, limit, 10_000)


def test_each_act_that_changes_a_page_shows_at_once():
    workspace, client = make_workspace(), logged_in("viewer")
    for name, act, changed in acts_on(workspace, make_user("superuser")):
        before = {key: opened(client, key, workspace) for key in changed}
        act()
        after = {key: opened(client, key, workspace) for key in changed}
        assert {key for key in changed if after[key] == before[key]} == set(), name
        caches["pages"].clear()
        assert after == {key: opened(client, key, workspace) for key in changed}, name


def test_a_page_is_not_built_again_while_nothing_changes():
    workspace, client = make_workspace(), logged_in("viewer")
    for key in KEPT:
        with CaptureQueriesContext(connection) as first:
            before = opened(client, key, workspace)
        with CaptureQueriesContext(connection) as second:
            assert opened(client, key, workspace) == before
        assert len(second) <= 9 < len(first), key
        known = {*FOLLOWED_ELSEWHERE, *followed()}
        assert tables_in(first.captured_queries) <= known, f"{key} reads what no version knows"


def tables_in(queries):
    return {
        table for each in queries for table in re.findall(r'(?:FROM|JOIN) "(\w+)"', each["sql"])
    }


def followed():
    """Tables that a change of the version tells of."""
    kinds = [*histories(), *APPENDED, *CHANGED]
    models = [*map(apps.get_model, kinds), *histories().values(), *signed_models()]
    links = [field.m2m_db_table() for model in models for field in model._meta.many_to_many]
    return {model._meta.db_table for model in models} | set(links)


def test_readers_get_only_what_their_rights_open():
    workspace, maintainer = make_workspace(), make_user("superuser")
    seal(workspace.tests[0], "It must not leak.", by=maintainer)
    reader, viewer = logged_in("annotator"), logged_in("viewer")

    def reads(client):
        return "Question 0?" in opened(client, "compare", workspace)

    assert (reads(reader), reads(viewer), reads(reader), reads(viewer)) == (True, False) * 2
    shown = reveal(workspace.tests[0].pk, viewer.user, "For this test.", by=maintainer)
    assert reads(viewer)
    assert not reads(logged_in("viewer"))
    end(shown, by=maintainer)
    assert not reads(viewer)
    viewer.user.groups.set([Group.objects.get(name="annotator")])
    assert reads(viewer)
    reader.user.groups.clear()
    assert reader.get(reverse("reports:compare")).status_code == 403


def test_what_annotators_were_shown_is_recorded_for_each():
    workspace, readers = make_workspace(), [logged_in("annotator") for _ in range(2)]
    for client in readers:
        opened(client, "compare", workspace)
    shown = set(Sight.objects.values_list("person", "run"))
    assert shown == {(c.user.pk, run.pk) for c in readers for run in workspace.runs[:3:2]}


def test_a_kept_form_is_sent_with_the_token_of_its_reader():
    workspace = make_workspace()
    for _ in range(2):
        client = Client(enforce_csrf_checks=True)
        client.force_login(make_user("maintainer"))
        runs = [workspace.runs[0].pk, workspace.runs[2].pk]
        page = client.get(reverse("reports:compare"), {"runs": runs, "compute": "1"})
        form = re.search(r'action="([^"]*baseline[^"]*)".*?value="(\w+)"', page_text(page), re.S)
        sent = {"csrfmiddlewaretoken": form[2], "act": "pin", "runs": runs}
        assert client.post(form[1], sent).status_code == 302
        Suite.objects.update(baseline=None)


@pytest.mark.parametrize("key", ["run", "compare"])
def test_pages_of_a_run_that_works_or_loses_its_texts_are_not_kept(key, settings):
    workspace, client = make_workspace(), logged_in("viewer")
    reopened(workspace.runs[2])
    before = opened(client, key, workspace)
    workspace.runs[2].results.update(passed=True)
    assert opened(client, key, workspace) != before
    finish(workspace.runs[2])
    settings.EVALHUB_KEEP_TEXTS_DAYS = 1  # so that its texts are removed before tomorrow
    before = opened(client, key, workspace)
    workspace.runs[2].results.update(passed=False)
    assert opened(client, key, workspace) != before
