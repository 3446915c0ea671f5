"""Home: its cards by role, and that people choose them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from issues.models import Feedback, IssueState, TestState
from reports.dashboard.cards import Home, cards_of, choices_of, choose, default_of, reset
from reports.dashboard.to_do import to_do
from reports.documents.reading import Reading
from reports.queries.incomplete_runs import incomplete_runs
from runs.models import Run
from runs.review.models import QueueState
from runs.review.reservations import take
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_run, make_test, make_user
from tests.reports.issue_proposals.test_proposals import ready_issue, released
from tests.reports.judged_runs import fail, judged
from tests.reports.workspaces import make_workspace
from tests.runs.review.rows import make_queue, put

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


def content_of(key, reader=None):
    home = Home(Reading(reader or make_user("maintainer")))
    (content,) = [content for card, content in home.cards if card.key == key]
    return content


# By role -----------------------------------------------------------------------------------------


def test_who_reviews_sees_first_what_there_is_to_do():
    assert keys(cards_of(make_user("annotator")))[:2] == ["tour", "to_do"]
    assert keys(cards_of(make_user("adjudicator")))[:2] == ["tour", "to_do"]


def test_who_manages_sees_first_release_against_release():
    assert keys(cards_of(make_user("maintainer")))[:3] == ["releases", "tour", "to_do"]
    assert keys(cards_of(make_user("viewer")))[0] == "releases"


def test_who_may_only_look_has_nothing_to_do():
    assert "to_do" not in default_of(make_user("viewer"))


# To do -------------------------------------------------------------------------------------------


def tasks(user):
    return {task.title: task.n for task in to_do(user, list)}


def test_reviews_are_counted_by_queue_for_whom_they_wait():
    ann, bob = make_user("annotator"), make_user("annotator")
    queue = make_queue(name="Doubts", reviewers=1)
    run = make_run(make_test(), make_test())
    for result in run.results.all():
        put(queue, result)
    put(make_queue(state=QueueState.CLOSED), run.results.first())
    assert tasks(ann) == {"Review: Doubts": 2}

    take(queue, by=bob)
    assert tasks(ann) == {"Review: Doubts": 1}
    assert tasks(bob) == {"Review: Doubts": 2}


def test_my_own_tasks_come_first_and_lead_to_their_rows(client):
    user = make_user("maintainer")
    issue = make_issue(title="Mine", assignee=user)
    make_issue(author=user, state=IssueState.DRAFT)
    make_test(author=user, state=TestState.DRAFT, issue=issue)
    make_issue(state=IssueState.IN_REVIEW)
    make_test(state=TestState.IN_REVIEW, issue=issue)
    Feedback.objects.create(prompt="p", answer="a")
    Feedback.objects.create(prompt="p", answer="a", state="dismissed")
    run = judged([0], [1])
    fail(run, run.results.first())
    for option, who in (("1", "ann"), ("0", "bob")):
        by = make_user("annotator", username=who)
        evaluate(run.results.last(), HumanVerdict(option, "So."), by=by)
    put(make_queue(name="Doubts"), run.results.last())
    found = to_do(user, lambda: incomplete_runs(Run.objects.all()))
    client.force_login(user)

    assert {task.title: task.n for task in found} == {
        "Review: Doubts": 1,
        "Issues assigned to me": 1,
        "My draft issues": 1,
        "My draft tests": 1,
        "Disputed results": 1,
        "Feedback to triage": 1,
        "Issues in review": 1,
        "Tests in review": 1,
        f"Failed results of {run.model_name}, {run.label}": 1,
    }
    assert [task.is_mine for task in found] == [True] * 4 + [False] * 5
    for task in found:
        assert not task.title.startswith("My draft") or "author=me" in task.url
        response = client.get(task.url)
        # A queue's page leads on to the reserved item.
        assert response.status_code in (200, 302)
        assert "e=1" not in response.headers.get("Location", "")


def test_nobody_is_told_to_do_what_they_may_not():
    Feedback.objects.create(prompt="p", answer="a")
    make_issue(state=IssueState.IN_REVIEW)

    assert tasks(make_user("annotator")) == {"Feedback to triage": 1}
    assert tasks(make_user("viewer")) == {}


# Other cards -------------------------------------------------------------------------------------


def test_the_card_of_overrides_says_reviewed_and_overturned():
    run, ann = judged([1], [0]), make_user("annotator")
    for result, option in zip(run.results.order_by("pk"), ("1", "1"), strict=True):
        evaluate(result, HumanVerdict(option, "The source exists."), by=ann)
    content = content_of("overrides")

    assert content.lead == "2 results reviewed by annotators: 1 confirmed, 1 overturned."
    (row,) = content.table.as_rows()
    assert (row["judges"], row["annotators"], row["why"]) == (
        "failed",
        "passed",
        ("The source exists.",),
    )


def test_the_card_of_releases_is_the_report_of_the_newest_release(client):
    make_workspace(releases=3)
    client.force_login(make_user("viewer"))
    page = client.get(reverse("admin:index"), {"compute": "1"}).content.decode()

    assert "Release 1.2 against 1.1" in page
    assert "Cannot tell about steady 3 and shaky 3." in page
    assert 'id="chart-models" data-figure=' in page


def test_cards_further_down_are_loaded_when_they_are_scrolled_to(client):
    make_workspace()
    user = make_user("maintainer")
    client.force_login(user)
    home = reverse("admin:index")
    page, alone = (client.get(home, query).content.decode() for query in ({}, {"card": "activity"}))
    later = Home(Reading(user, computes=False)).cards

    assert [card.key for card, content in later if content is None] == [
        *("activity", "overrides", "judges"),
    ]
    assert "card=activity" in page
    assert "card=activity" not in alone
    assert ['id="card-activity"' in alone, 'id="card-releases"' in alone] == [True, False]


def test_a_proposal_is_accepted_from_the_first_page(client):
    issue, tests = ready_issue()
    released(tests, [0, 1])
    client.force_login(make_user("maintainer"))
    page = client.get(reverse("admin:index"), {"compute": "1"}).content.decode()
    assert "Passes in release 1.1" in page
    response = client.post(
        reverse("reports:accept_proposal", args=[issue.pk]), {"act": "resolve", "back": "home"}
    )
    issue.refresh_from_db()

    assert response.url == reverse("admin:index")
    assert issue.state == "resolved"


def test_more_runs_and_models_need_no_more_queries(client):
    client.force_login(make_user("superuser"))

    def count(compute):
        with CaptureQueriesContext(connection) as queries:
            client.get(reverse("admin:index"), compute)
        return len(queries)

    make_workspace(releases=4)
    count({"compute": "1"})
    few = count({})
    make_workspace(releases=6)
    count({"compute": "1"})

    assert count({}) <= few


# Choosing ----------------------------------------------------------------------------------------


def keys(kinds):
    return [kind.key for kind in kinds]


def test_the_cards_of_the_role_are_shown_until_some_are_chosen():
    user = make_user("maintainer")

    assert keys(cards_of(user)) == default_of(user)


def test_cards_are_shown_as_chosen_and_in_that_order():
    user = make_user()
    choose(user, ["judges", "releases", "no-such-card", "judges"])
    user.refresh_from_db()

    assert keys(cards_of(user)) == ["judges", "releases"]
    assert [is_shown for _, is_shown in choices_of(user)].count(True) == 2


def test_other_preferences_stay():
    user = make_user(preferences={"other": 1})
    choose(user, ["releases"])
    reset(user)
    user.refresh_from_db()

    assert user.preferences == {"other": 1}
    assert keys(cards_of(user)) == default_of(user)


def test_the_form_keeps_and_resets_the_cards(client):
    make_run()
    user = make_user("viewer")
    client.force_login(user)
    url = reverse("reports:choose_cards")
    client.post(url, {"card": ["judges", "overrides"]})
    page = client.get(reverse("admin:index")).content.decode()

    assert page.index('id="card-judges"') < page.index('id="card-overrides"')
    assert 'id="card-releases"' not in page
    client.post(url, {"reset": "1"})
    assert 'id="card-releases"' in client.get(reverse("admin:index")).content.decode()


def test_a_card_that_is_not_chosen_is_not_read():
    make_workspace()
    user = make_user("viewer")
    choose(user, [])
    with CaptureQueriesContext(connection) as queries:
        assert Home(Reading(user)).cards == []

    assert len(queries) == 0


def test_runs_without_results_break_nothing(client):
    Run.objects.all().delete()
    make_run()
    client.force_login(make_user("viewer"))

    assert client.get(reverse("admin:index"), {"compute": "1"}).status_code == 200
