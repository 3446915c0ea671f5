"""The board: a column per state, the list's own filters, moves that say why they are refused."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from issues.lifecycle.states import move
from issues.models import Severity
from tests.factories import make_issue, make_run, make_test, make_user
from tests.issues.lifecycle.test_readiness import make_reviewable_issue
from tests.issues.pages import log_in, url
from tests.reports.judged_runs import finish
from tests.reports.scored_runs import as_judged

pytestmark = pytest.mark.django_db


def columns(client, **query):
    """Titles by state."""
    shown = client.get(url("issue_board"), query).context["columns"]
    return {column["state"]: [card.issue.title for card in column["cards"]] for column in shown}


def act(client, issue, **fields):
    """Send a request as the page's script does; return the status and the JSON."""
    response = client.post(url("issue_board_act"), {"issue": issue.pk, **fields})
    return response.status_code, response.json()


def test_each_state_has_a_column_with_the_gravest_first(client):
    log_in(client, "viewer")
    for severity in Severity:
        make_issue(title=severity.label, severity=severity, state="draft")
    make_issue(title="Old", state="deprecated")

    shown = columns(client)

    assert list(shown) == ["draft", "in_review", "approved", "resolved", "deprecated"]
    assert shown["draft"] == ["Critical", "High", "Medium", "Low"]
    assert shown["deprecated"] == ["Old"]


def test_a_column_shows_fifty_and_leads_to_the_others(client):
    log_in(client, "viewer")
    for _ in range(52):
        make_issue(state="draft", severity="high")

    response = client.get(url("issue_board"), {"severity__exact": "high"})

    draft = response.context["columns"][0]
    assert (draft["total"], len(draft["cards"])) == (52, 50)
    assert "?severity__exact=high&amp;state__exact=draft" in response.content.decode()
    listed = client.get(f"{url('issue_changelist')}?{draft['list_query']}").context["cl"]
    assert listed.result_count == 52


def test_the_board_reads_as_often_with_many_issues(client):
    log_in(client, "maintainer")

    def queries():
        with CaptureQueriesContext(connection) as captured:
            client.get(url("issue_board"))
        return len(captured)

    for state in ("draft", "approved"):
        make_test(issue=make_issue(tags=("a",), state=state))
    run = make_run()
    few = queries()
    for _ in range(20):
        make_test(issue=make_issue(tags=("b", "c"), assignee=make_user(), state="approved"))
    assert run
    assert queries() == few


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"severity__exact": "high"}, ["Grave"]),
        ({"q": "grav"}, ["Grave"]),
        ({"assignee": "nobody"}, ["Grave"]),
        ({"assignee": "me"}, ["Mine"]),
        ({"state__exact": "resolved"}, ["Mine", "Grave"]),  # the columns are the states
    ],
)
def test_the_board_has_the_filters_of_the_list(client, query, found):
    user = log_in(client, "annotator")
    make_issue(title="Grave", severity="high")
    make_issue(title="Mine", severity="critical", assignee=user)

    assert columns(client, **query)["approved"] == found


@pytest.mark.parametrize("query", [{"author__password": "x"}, {"id__in": "x"}, {"tag": "x" * 99}])
def test_only_filters_that_the_list_has_are_taken(client, query):
    log_in(client, "annotator")
    make_issue()

    assert client.get(url("issue_board"), query).status_code in (200, 302, 400)


@pytest.mark.both_engines
@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ("50", ["Bad"]),
        ("100", ["Bad", "Half"]),
        ("all", ["Good"]),
        ("none", ["New"]),
        ("never", ["New"]),
        ("7", ["Bad", "Good", "Half", "New"]),
    ],
)
def test_issues_are_found_by_how_they_passed_in_the_run_shown(client, chosen, found):
    log_in(client, "viewer")
    tests = {
        title: [make_test(issue=issue), make_test(issue=issue)]
        for title in ("Bad", "Half", "Good")
        for issue in [make_issue(title=title)]
    }
    make_issue(title="New")
    run = make_run(*(test for pair in tests.values() for test in pair))
    passes = {"Bad": (False, False), "Half": (True, False), "Good": (True, True)}
    for title, pair in tests.items():
        for test, passed in zip(pair, passes[title], strict=True):
            run.results.filter(test=test).update(state="done", **as_judged(float(passed)))

    finish(run)

    assert sorted(columns(client, pass_rate=chosen)["approved"]) == found
    shown = f"Pass rate of {run.model_name}, {run.label}: 50% (1/2), 2/2 scored"
    assert shown in client.get(url("issue_board")).content.decode()


# Moving ------------------------------------------------------------------------------------------


def test_a_move_is_made_and_undone(client):
    issue = make_reviewable_issue()
    log_in(client, "annotator")

    status, told = act(client, issue, act="move", **{"from": "draft"}, to="in_review")
    assert (status, told["said"]) == (200, f"{issue} is sent to review.")
    assert 'data-state="in_review"' in told["card"]

    status, told = act(client, issue, act="undo")
    assert (status, 'data-state="draft"' in told["card"]) == (200, True)


def test_a_move_that_cannot_be_is_refused_with_what_it_lacks(client):
    empty, plain = (make_issue(title=title, state="draft") for title in ("Empty", "Plain"))

    def refused(role, issue, to):
        log_in(client, role)
        status, told = act(client, issue, act="move", **{"from": "draft"}, to=to)
        assert (status, 'data-state="draft"' in told["card"]) == (409, True)
        return told["problems"]

    lacks = ["Add a description.", "Add feedback or a source that shows it."]
    assert refused("annotator", empty, "in_review")[1:3] == lacks
    (right,) = refused("annotator", make_reviewable_issue(), "approved")
    assert right.endswith("you need the right to approve issues.")
    assert refused("maintainer", plain, "resolved") == [
        "Plain cannot move from draft to resolved. It can move to"
        " in review or approved or deprecated."
    ]


def test_a_card_that_somebody_else_moved_is_not_moved_again(client):
    issue = make_reviewable_issue()
    move(issue, "review", by=make_user(username="anna"))
    log_in(client, "maintainer")

    status, told = act(client, issue, act="move", **{"from": "draft"}, to="approved")

    assert status == 409
    assert told["problems"][0].startswith(f"anna moved {issue} in the meantime at ")
    assert 'data-state="in_review"' in told["card"]


def test_resolving_asks_how_first(client):
    issue = make_reviewable_issue()
    move(issue, "approve", by=None)
    log_in(client, "maintainer")
    sent = {"act": "move", "from": "approved", "to": "resolved"}

    assert act(client, issue, **sent)[1]["ask"] == "resolve"
    assert act(client, issue, **sent, confirmed="yes")[0] == 409
    assert act(client, issue, **sent, confirmed="yes", note="Fixed in 1.2")[0] == 200

    issue.refresh_from_db()
    assert (issue.state, issue.resolution_note) == ("resolved", "Fixed in 1.2")


def test_deprecating_asks_and_keeps_the_reason(client):
    issue = make_issue()
    log_in(client, "maintainer")
    sent = {"act": "move", "from": "approved", "to": "deprecated"}

    told = act(client, issue, **sent)[1]
    assert (told["ask"], len(told["sentences"])) == ("deprecate", 2)
    act(client, issue, **sent, confirmed="yes", reason="No fault")

    assert issue.history.latest().history_change_reason == "Deprecate: No fault"


def test_a_card_is_taken_and_given_back_unless_somebody_took_it_meanwhile(client):
    issue, anna = make_issue(title="Hers"), make_user(username="anna")
    user = log_in(client, "annotator")

    for was, assignee in (("", user), (user.pk, None)):
        act(client, issue, act="assign", was=was)
        issue.refresh_from_db()
        assert (issue.assignee, issue.history.latest().history_user) == (assignee, user)

    type(issue).objects.update(assignee=anna)
    status, told = act(client, issue, act="assign", was="")
    assert (status, told["problems"]) == (409, ["Hers was assigned to anna in the meantime."])


@pytest.mark.parametrize("fields", [{"act": "fly"}, {"act": "move", "issue": 10**9}, {}])
def test_what_cannot_be_done_is_said(client, fields):
    log_in(client, "annotator")

    response = client.post(url("issue_board_act"), {"issue": make_issue().pk, **fields})

    assert (response.status_code, "Reload the board" in response.json()["problems"][0]) == (
        404,
        True,
    )


def test_a_viewer_moves_nothing(client):
    log_in(client, "viewer")

    status = client.post(url("issue_board_act"), {"issue": make_issue().pk, "act": "assign"})

    assert status.status_code == 403
    assert "data-step" not in client.get(url("issue_board")).content.decode()
