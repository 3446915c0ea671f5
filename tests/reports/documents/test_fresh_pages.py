"""Pages show each change at once, though slow figures are cached, to those who may see it."""

import re

import pytest
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from evalhub.access.sealing.reveals import end, reveal
from evalhub.models import BatchState
from issues.lifecycle.sealing import seal, unseal
from issues.lifecycle.states import move
from issues.models import Feedback
from issues.triage.erasure import erase
from reports.dashboard.cards import CARDS, choose
from runs.comparison.baselines import pin
from runs.judging.activation import set_active
from runs.lifecycle.control import rejudge
from runs.lifecycle.deletion import delete_run
from runs.models import JudgeRun, Run, Sight
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_jury, make_model, make_user
from tests.reports.judged_runs import finish, judge
from tests.reports.workspaces import make_workspace

pytestmark = pytest.mark.django_db

FIGURES = (
    *("home", "run", "compare", "trend", "leaderboard", "releases", "heatmap"),
    "issue_timeline",
)


def logged_in(role):
    client = Client()
    client.user = make_user(role)
    choose(client.user, [card.key for card in CARDS])
    client.force_login(client.user)
    return client


def opened(client, key, workspace):
    run, again = workspace.runs[0].pk, workspace.runs[2].pk
    special = {"home": ("admin:index", []), "run": ("reports:run", [again])}
    name, arguments = special.get(key, (f"reports:{key}", []))
    state = {
        "issue_timeline": {"issue": workspace.issues[0].pk},
        "compare": {"runs": [run, again], "show": "all"},
        "run": {"tab": "all"},
    }.get(key, {})
    page = client.get(reverse(name, args=arguments), {**state, "compute": "1"})
    assert page.status_code == 200
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page.content.decode())


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

    yield (
        "override",
        lambda: evaluate(result, HumanVerdict("1", "Fine."), by=person),
        ("home", "run"),
    )
    yield (
        "withdrawal",
        lambda: withdraw(result, by=person, reason="A slip."),
        ("home", "run"),
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


def test_each_act_that_changes_a_page_shows_at_once():
    workspace, client = make_workspace(), logged_in("viewer")
    after: dict[str, str] = {}
    for name, act, changed in acts_on(workspace, make_user("superuser")):
        before = {key: after.get(key) or opened(client, key, workspace) for key in changed}
        act()
        after = {key: opened(client, key, workspace) for key in changed}
        assert {key for key in changed if after[key] == before[key]} == set(), name
        caches["computed"].clear()
        assert after == {key: opened(client, key, workspace) for key in changed}, name


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
