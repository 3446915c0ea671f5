"""Clusters of a run's failed answers: what is proposed, accepted, dismissed and undone."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState, ItemState
from evalhub.refusals import Refused
from issues.models import Feedback, FeedbackState, Issue, IssueState
from reports.documents.reading import Reading
from reports.failure_clusters import query
from reports.failure_clusters.decisions import accept, dismiss, undo
from reports.failure_clusters.query import clusters_of_run
from reports.models import ClusterAct, DecidedCluster
from runs.figures.run_tallies import count_run
from runs.models import Answer, Judgment, Run
from tests.factories import make_issue, make_test, make_tests, make_user
from tests.issues.pages import flashed_text
from tests.reports.failure_clusters.planted import PASSED, PLANTED, UNLIKE, in_judges_words
from tests.reports.judged_runs import judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db
REASONS = [*PLANTED["dates"], *PLANTED["sources"], *PLANTED["language"], *UNLIKE]


def run_with(reasons, *, passed=20, tests=None, answer="An answer."):
    """A run in which judges rejected an answer for each reason, and passed others."""
    votes = [(0.0,)] * len(reasons) + [(1.0,)] * passed
    tests = tests or []
    run = judged(*votes, tests=[*tests, *make_tests(len(votes) - len(tests))])
    told = [*reasons, *[PASSED] * passed]
    for number, result in enumerate(run.results.order_by("pk")):
        text = in_judges_words(number, told[number])
        Judgment.objects.filter(result=result).update(justification=text)
    Answer.objects.filter(result__run=run).update(text=answer)
    return run


@shared_data
def planted():
    return run_with(REASONS)


@pytest.fixture
def annotator():
    return make_user("annotator")


def found_in(run, reader=None):
    return clusters_of_run(run, Reading(reader or make_user("viewer")))


def page_of(client, run, user=None):
    client.force_login(user or make_user("annotator"))
    return client.get(reverse("reports:failure_clusters", args=[run.pk]))


def sent(client, run, user, **fields):
    client.force_login(user)
    return client.post(reverse("reports:decide_cluster", args=[run.pk]), fields)


# What is proposed --------------------------------------------------------------------------------


def test_planted_kinds_are_proposed_and_the_rest_counted(client, planted):
    found = found_in(planted)
    assert sorted(one.size for one in found.proposed) == [4, 5, 5]
    assert not any(any(c.isdigit() for c in one.name) for one in found.proposed)
    assert (found.failed, found.clustered, found.unclustered) == (19, 14, 5)
    text = page_of(client, planted).text
    assert "19 failed answers compared: 14 in 3 clusters, 5 in none." in text
    assert "without a test of significance" in text
    assert "03/04 is 3 April" in text
    run_page = client.get(planted.get_absolute_url()).text
    assert reverse("reports:failure_clusters", args=[planted.pk]) in run_page


def test_a_run_without_failures_says_so(client):
    run = judged((1,), (1,))
    assert "No failed answers" in page_of(client, run).text
    assert "Failure clusters" not in client.get(run.get_absolute_url()).text


def test_failures_unlike_each_other_are_no_clusters(client):
    text = page_of(client, run_with(UNLIKE)).text
    assert "5 failed answers compared: 0 in 0 clusters, 5 in none." in text
    assert "No clusters" in text


def test_sealed_tests_are_counted_and_never_compared(client):
    sealed = [make_test("The secret question", sealed=True)]
    run = run_with(["The secret is swapped.", *PLANTED["dates"]], tests=sealed)
    text = page_of(client, run, make_user("superuser")).text
    assert "Left out: 1 failed answer of sealed tests" in text
    assert "secret is swapped" not in text
    assert "secret question" not in text


def test_a_large_run_is_compared_in_a_second_request(client, planted, monkeypatch):
    monkeypatch.setattr(query, "AT_ONCE", 10)
    assert count_run(planted.pk)
    first = page_of(client, planted).text
    assert "19 failed answers are being compared." in first
    address = reverse("reports:failure_clusters", args=[planted.pk])
    assert "in 3 clusters" in client.get(f"{address}?compute=1").text
    assert "being compared" not in client.get(address).text


def test_a_similar_issue_is_offered(client, planted):
    issue = make_issue(title="Day and month of a date are confused", description="Month first.")
    assert f"Attach to issue {issue.pk}" in page_of(client, planted).text


def test_the_issue_of_most_of_its_tests_is_offered_first(client):
    issue = make_issue(title="Other words")
    tests = [make_test(f"Date {n}?", issue=issue) for n in range(5)]
    text = page_of(client, run_with(PLANTED["dates"], tests=tests)).text
    assert f"Attach to issue {issue.pk}" in text
    assert "5 of 5 answers are of its tests" in text


# Decisions ---------------------------------------------------------------------------------------


def test_an_accepted_cluster_is_a_draft_with_its_answers_as_feedback(client, planted, annotator):
    cluster = found_in(planted).proposed[0]
    done = sent(client, planted, annotator, act="create", key=cluster.key, title="Month first")
    assert flashed_text(done) == ["Draft issue “Month first” created with 5 feedback items."]
    issue = Issue.objects.get(title="Month first")
    assert (issue.state, issue.author) == (IssueState.DRAFT, annotator)
    items = list(issue.feedback.all())
    assert {item.source_id for item in items} == {f"result-{pk}" for pk in cluster.results}
    assert {item.state for item in items} == {FeedbackState.ACCEPTED}
    assert all(item.prompt.startswith("Question") and item.comment for item in items)
    found = found_in(planted)
    assert [(row.issue, name) for row, name in found.decided] == [(issue, cluster.name)]
    assert (len(found.proposed), found.unclustered) == (2, 5)


def test_a_cluster_is_accepted_once(planted, annotator):
    key = found_in(planted).proposed[0].key
    accept(planted, key, by=annotator, title="One")
    with pytest.raises(Refused, match="has been decided"):
        accept(planted, key, by=annotator, title="Two")
    assert Issue.objects.filter(title__in=["One", "Two"]).count() == 1


def test_a_cluster_is_attached_to_an_issue(client, planted, annotator):
    issue, cluster = make_issue(), found_in(planted).proposed[0]
    sent(client, planted, annotator, act="attach", key=cluster.key, issue=issue.pk)
    assert issue.feedback.count() == 5
    assert DecidedCluster.objects.get().act == ClusterAct.ATTACHED
    undo(DecidedCluster.objects.get(), by=annotator)
    assert (issue.feedback.count(), Feedback.objects.count()) == (0, 0)
    assert Issue.objects.filter(pk=issue.pk).exists()


def test_dismissal_and_acceptance_are_undone(client, planted, annotator):
    before = [one.key for one in found_in(planted).proposed]
    issues = Issue.objects.count()
    dismiss(planted, before[0], by=annotator)
    accept(planted, before[1], by=annotator, title="Draft")
    assert [one.key for one in found_in(planted).proposed] == before[2:]
    for row in DecidedCluster.objects.all():
        sent(client, planted, annotator, act="undo", key=row.pk)
    assert [one.key for one in found_in(planted).proposed] == before
    assert (Issue.objects.count(), Feedback.objects.count()) == (issues, 0)


def test_what_somebody_worked_on_is_not_undone(planted, annotator):
    row = accept(planted, found_in(planted).proposed[0].key, by=annotator, title="Draft")
    make_test(issue=row.issue)
    with pytest.raises(Refused, match="was changed since"):
        undo(row, by=annotator)
    assert row.issue.feedback.count() == 5


def test_a_changed_outcome_changes_the_proposal_and_not_the_decision(planted, annotator):
    row = dismiss(planted, found_in(planted).proposed[0].key, by=annotator)
    planted.results.filter(pk=row.results[0]).update(passed=True)
    assert len(found_in(planted).proposed) == 2


def test_viewers_decide_nothing(client, planted):
    key = found_in(planted).proposed[0].key
    viewer = make_user("viewer")
    assert "Create issue" not in page_of(client, planted, viewer).text
    assert sent(client, planted, viewer, act="create", key=key, title="x").status_code == 403


def test_a_live_run_shows_what_has_failed_so_far(client):
    run = run_with(PLANTED["dates"])
    run.results.filter(outcome="passed").update(state=ItemState.PENDING, passed=None)
    Run.objects.filter(pk=run.pk).update(state=BatchState.LIVE)
    assert "5 failed answers compared" in page_of(client, run).text
