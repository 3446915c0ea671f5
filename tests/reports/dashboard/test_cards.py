"""The first page: what its cards tell, and that people choose them."""

from datetime import timedelta

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from issues.models import Test
from reports.dashboard.cards import DEFAULT, Home, cards_of, choices_of, choose, reset
from reports.dashboard.latest_runs_query import CompleteRun, LatestRuns, latest_runs, with_opponents
from reports.documents.document import Link, Linked
from reports.documents.reading import Reading
from runs.baselines import pin
from runs.comparability import rejudge_url
from runs.models import Run, Suite
from runs.review.models import QueueState
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
    shared_jury,
)
from tests.reports.issue_proposals.test_proposals import ready_issue, released
from tests.reports.judged_runs import answer, finish, judge, judged
from tests.reports.workspaces import make_workspace
from tests.runs.review.rows import make_queue, put

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_kept():
    caches["computed"].clear()


NOW = timezone.now()


def brief(pk, *, model=1, has_baseline=False):
    return CompleteRun(pk, model, has_baseline, NOW + timedelta(days=pk))


# Which runs --------------------------------------------------------------------------------------


def test_the_latest_run_of_each_model_is_shown_newest_first():
    runs = [brief(pk, model=model) for pk, model in ((5, 2), (4, 1), (2, 2), (1, 1))]

    assert latest_runs(runs) == [5, 4]


def test_a_suite_with_a_baseline_goes_before_newer_runs_of_others():
    runs = [brief(5), brief(4, has_baseline=True), brief(1, has_baseline=True)]

    assert latest_runs(runs) == [4]


def test_issues_get_worse_since_the_baseline_or_the_previous_run_of_the_model():
    test, models = make_test(), [make_model(), make_model()]
    suite = Suite.objects.create(name="s")
    runs = [
        judged([1], tests=[test], suite=suite, model=model, variant_key=model.name)
        for model in (*models, *models)
    ]
    pin(runs[0])
    first, second, third, fourth = [run.pk for run in runs]

    found = with_opponents([fourth, third], {run.pk: run.language_model_id for run in runs})

    assert found == [LatestRuns(fourth, first, second), LatestRuns(third, first, first)]


# Cards -------------------------------------------------------------------------------------------


def table_of(key, reading=None):
    home = Home(reading or Reading(make_user("viewer")))
    (content,) = [content for card, content in home.cards if card.key == key]
    return content.table


def plain(row):
    """A row's texts and values by the names of its columns."""
    return {
        name: value.text
        if isinstance(value, Link)
        else getattr(value, "value", value)
        if isinstance(value, Linked)
        else value
        for name, value in row.items()
    }


def rows(key, reading=None):
    return [plain(row) for row in table_of(key, reading).as_rows()]


def suite_runs(before, after, **fields):
    """Two runs of one model on tests of one issue each; 1 passed, 0 failed."""
    issues = [make_issue(title=f"Issue {n}") for n in range(2)]
    tests = [make_test(f"Q {n}?", issue=issues[n * 2 // len(before)]) for n in range(len(before))]
    suite = Suite.objects.create(name=f"the suite {Suite.objects.count()}")
    model = fields.pop("model", None) or make_model(name="Tiny")
    runs = []
    for votes in (before, after):
        run = make_run(*tests, model=model, suite=suite, jury=shared_jury(), **fields)
        answer(run)
        judge(run, [[vote] for vote in votes])
        finish(run)
        runs.append(run)
    return suite, runs


def test_a_change_from_the_baseline_comes_with_how_sure_it_is():
    # Exact McNemar of 7 worse and 0 better, since one issue moved: 2 / 2^7 = 0.016.
    suite, (first, _) = suite_runs([1] * 14, [0] * 7 + [1] * 7)
    suite.baseline = first
    suite.save()
    (row,) = rows("models")

    assert (row["against"], row["change"], row["tests"]) == (
        "the baseline",
        -0.5,
        "7 worse, 0 better (of 14)",
    )
    assert (row["rate"].passed, row["before"].passed) == (7, 14)
    assert (row["verdict"], row["sure"]) == ("worse", "p = 0.016")


def test_an_issue_that_got_worse_is_named_with_how_sure_that_is():
    # Exact McNemar of 7 worse and 0 better: 2 / 2^7 = 0.016; twice that over two issues.
    suite_runs([1] * 14, [0] * 7 + [1] * 7)
    (row,) = rows("worse")

    assert (row["issue"], row["model"], row["change"]) == ("Issue 0", "Tiny", -1.0)
    assert (row["verdict"], row["sure"]) == ("worse", "p = 0.031")


def test_the_p_of_a_model_is_corrected_for_all_models_of_the_card():
    # Alone each would be called worse with p = 0.016; of four models none is.
    for model in (None, *(make_model(name=f"m{n}") for n in range(3))):
        suite_runs([1] * 14, [0] * 7 + [1] * 7, **({"model": model} if model else {}))

    assert {row["sure"] for row in rows("models")} == {"p = 0.062, not significant"}
    assert {row["verdict"] for row in rows("models")} == {None}


def test_the_p_of_an_issue_is_corrected_for_the_issues_of_all_models():
    for name in ("one", "two"):
        suite_runs([1] * 14, [0] * 7 + [1] * 7, model=make_model(name=name))

    # Two issues of two models: 4 · 0.016, and once less for the second.
    assert [row["verdict"] for row in rows("worse")] == [None, None]


def test_what_takes_long_is_left_to_a_second_request():
    suite_runs([1] * 14, [0] * 7 + [1] * 7)
    first = Reading(make_user("viewer"), computes=False)
    (row,) = rows("models", first)

    assert (row["sure"], row["change"]) == ("being computed", None)
    assert first.pending
    assert (
        table_of("worse", Reading(make_user("viewer"), computes=False)).empty == "Being computed."
    )


def test_a_verdict_that_changes_is_compared_anew():
    _, (_, second) = suite_runs([1] * 14, [0] * 7 + [1] * 7)
    rows("worse")
    second.results.update(passed=True, score=1)

    assert rows("worse") == []


def test_an_issue_that_no_model_passes_is_named():
    ledger = make_workspace()
    names = [row["issue"] for row in rows("everywhere")]

    # In the newest runs "steady" fails tests 0 and 3, "shaky" 0, 1, 2 and 3.
    assert names == []
    failing = ledger.tests[0].issue
    for run in ledger.runs[-2:]:
        run.results.filter(issue=failing).update(passed=False)
    (row,) = rows("everywhere")
    assert (row["issue"], row["models"], row["passed"].n) == (failing.title, 2, 4)


def test_what_waits_is_counted_with_where_to_do_it(client):
    run = make_run(*(make_test() for _ in range(2)), jury=shared_jury())
    first = answer(run)[0]
    judge(run, [[1], [None]])
    finish(run)
    run.results.filter(pk=first.pk).update(is_disputed=True)
    table = table_of("waiting")
    client.force_login(make_user("maintainer"))
    found = {row["what"].text: row["n"] for row in table.as_rows()}
    links = [link for row in table.as_rows() for link in (row["what"], *(row["where"] or ()))]

    assert (found["Unscored answers"], found["Disputed answers"]) == (1, 1)
    assert found["Feedback to triage"] == 0
    assert found["Reviews in open queues"] == 0
    assert all(client.get(link.url).status_code == 200 for link in links if link.url)


def test_reviews_of_open_queues_wait_and_lead_to_them_who_may_enter():
    result = make_run(make_test()).results.get()
    put(make_queue(reviewers=2), result)
    put(make_queue(state=QueueState.CLOSED), result)

    def found(role):
        table = table_of("waiting", Reading(make_user(role), computes=True))
        (row,) = [row for row in table.as_rows() if row["what"].text == "Reviews in open queues"]
        return row["n"], row["what"].url

    assert found("annotator") == (2, reverse("admin:review_queue_changelist"))
    assert found("viewer") == (2, "")


def test_a_proposal_is_accepted_from_the_first_page(client):
    issue, tests = ready_issue()
    released(tests, [0, 1, 1, 1])
    client.force_login(make_user("maintainer"))
    page = client.get(reverse("admin:index"), {"compute": "1"}).content.decode()
    assert "Passed 3 releases in a row" in page
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


def test_all_cards_are_shown_until_some_are_chosen():
    assert keys(cards_of(make_user())) == list(DEFAULT)


def test_cards_are_shown_as_chosen_and_in_that_order():
    user = make_user()
    choose(user, ["judges", "models", "no-such-card", "judges"])
    user.refresh_from_db()

    assert keys(cards_of(user)) == ["judges", "models"]
    assert [is_shown for _, is_shown in choices_of(user)].count(True) == 2


def test_other_preferences_stay():
    user = make_user(preferences={"other": 1})
    choose(user, ["models"])
    reset(user)
    user.refresh_from_db()

    assert user.preferences == {"other": 1}
    assert keys(cards_of(user)) == list(DEFAULT)


def test_the_form_keeps_and_resets_the_cards(client):
    make_run()
    user = make_user("viewer")
    client.force_login(user)
    url = reverse("reports:choose_cards")
    client.post(url, {"card": ["latest", "counts"]})
    page = client.get(reverse("admin:index")).content.decode()

    assert page.index('id="card-latest"') < page.index('id="card-counts"')
    assert 'id="card-models"' not in page
    client.post(url, {"reset": "1"})
    assert 'id="card-models"' in client.get(reverse("admin:index")).content.decode()


def test_a_card_that_is_not_chosen_is_not_read():
    make_workspace()
    user = make_user("viewer")
    choose(user, ["counts"])
    with CaptureQueriesContext(connection) as queries:
        assert Home(Reading(user)).cards

    assert len(queries) == 0


def test_runs_without_results_break_nothing(client):
    Run.objects.all().delete()
    make_run()
    client.force_login(make_user("viewer"))

    assert client.get(reverse("admin:index"), {"compute": "1"}).status_code == 200


def judged_apart():
    """A run that passes all under the baseline's jury, and its successor under a stricter one."""
    suite, (first, second) = suite_runs([1] * 14, [1] * 14)
    suite.baseline = first
    suite.save()
    stern = make_jury(make_model())
    tests = Test.objects.order_by("pk")
    run = make_run(*tests, model=second.language_model, suite=suite, jury=stern)
    answer(run)
    judge(run, [[0]] * 14)
    finish(run)
    return first, run


def test_a_run_of_another_jury_has_no_verdict_and_offers_re_judging():
    first, run = judged_apart()
    reading = Reading(make_user("maintainer"))
    (row,) = table_of("models", reading).as_rows()

    assert (row["change"], row["tests"], row["verdict"]) == (None, None, None)
    assert row["sure"] == (
        "not comparable: different juries judged these runs",
        Link("Re-judge", rejudge_url(run.pk, first.pk)),
    )
    assert rows("models", Reading(make_user("viewer")))[0]["sure"] == (row["sure"][0],)


def test_no_issue_got_worse_by_another_jury_and_the_card_says_what_it_left_out():
    judged_apart()
    table = table_of("worse")

    assert not table.rows
    assert (
        table.empty == "No issue lost tests on balance in runs that can be compared; Tiny cannot."
    )
    assert "Left out, not comparable with it: Tiny." in table.note
