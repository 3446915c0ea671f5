"""What finished runs mean for issues: proposed, done, and done once."""

from datetime import timedelta

import pytest
from django.core.cache import caches
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evalhub.models import Notification, NotificationKind
from evalhub.refusals import Refused
from evalhub.statistics.rates.behaviour_outcome import FalseFails
from issues.lifecycle import states
from issues.models import IssueState, Source
from reports.documents.links import page_url
from reports.issue_proposals import proposals as proposal_acts
from reports.issue_proposals.proposals import accept, dismiss, proposal_of, proposals, pull
from runs.models import Run, Suite
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
    shared_jury,
)
from tests.reports.judged_runs import answer, finish, judge

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


def ready_issue():
    """An issue that lacks nothing, with as many tests as show that one of low severity passes."""
    issue = make_issue(description="It invents sources.", severity="low")
    Source.objects.create(issue=issue, value="a customer")
    tests = [make_test(f"Question {n}?", issue=issue) for n in range(5)]
    return issue, tests


def votes_of(outcome):
    """1 passes all five tests, 0 fails all but the first."""
    return [1, *[outcome] * 4]


def run_of(tests, votes, *, release="", days_ago=0, model=None, done=True, jury=None):
    run = make_run(
        *tests,
        model=model or make_model(),
        jury=jury or shared_jury(),
        release=release,
        variant_key=model.name if model else "v",
    )
    answer(run)
    judge(run, [[vote] for vote in votes])
    if done:
        finish(run)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return run


def released(tests, outcomes, model=None, first=20):
    """One run a release, one a day: 1 passes, 0 fails."""
    model = model or make_model()
    return [
        run_of(tests, votes_of(one), release=f"1.{n}", days_ago=first - n, model=model)
        for n, one in enumerate(outcomes)
    ]


def resolve(issue, days_ago=0):
    states.resolve(issue, labels=(), note="Fixed.", by=None)
    issue.history.filter(state=IssueState.RESOLVED).update(
        history_date=timezone.now() - timedelta(days=days_ago)
    )


# Resolved ----------------------------------------------------------------------------------------


def test_an_issue_that_passes_in_the_newest_release_is_proposed_as_resolved():
    issue, tests = ready_issue()
    runs = released(tests, [0, 1])
    (found,) = proposals()

    assert (found.issue, found.act, found.runs) == (issue.pk, "resolve", (runs[1].pk,))
    assert found.reason == (
        "Passes in release 1.1, in 1 run: 0 of 5 answers fail, in 0 of 5 tests: at most 45.1% "
        "for sure, 50% is allowed."
    )


@pytest.mark.parametrize(
    ("n", "outcomes"),
    [
        pytest.param(5, [1, 1, 1, 0], id="fails"),
        pytest.param(4, [1, 1, 1, 1], id="too few tests to show that it passes, however often"),
        pytest.param(5, [], id="no run"),
    ],
)
def test_without_evidence_of_passing_nothing_is_proposed(n, outcomes):
    _, tests = ready_issue()
    for k, one in enumerate(outcomes):
        run_of(tests[:n], votes_of(one)[:n], release=f"1.{k}", days_ago=9 - k)

    assert proposals() == []


@pytest.mark.parametrize(("is_other_jury", "n"), [(True, 0), (False, 1)])
def test_a_milder_jury_alone_resolves_nothing(is_other_jury, n):
    _, tests = ready_issue()
    model = make_model()
    run_of(tests, votes_of(0), release="1.0", days_ago=9, model=model)
    jury = make_jury(make_model()) if is_other_jury else None
    run_of(tests, votes_of(1), release="2.0", days_ago=3, model=model, jury=jury)

    assert len(proposals()) == n


def test_a_run_at_work_says_nothing_yet():
    _, tests = ready_issue()
    run_of(tests, votes_of(1), release="1.9", done=False)

    assert proposals() == []


def test_what_is_accepted_is_resolved_with_the_reason_as_its_note():
    issue, tests = ready_issue()
    released(tests, [0, 1])
    person = make_user("maintainer")
    assert [proposal_of(issue)] == proposals()  # its page proposes what the list of all does
    accept(issue, "resolve", by=person)
    issue.refresh_from_db()

    assert issue.state == IssueState.RESOLVED
    assert issue.resolution_note.startswith("Passes in release 1.1")
    assert issue.history.latest().history_user == person


def test_what_is_not_proposed_any_more_is_refused():
    issue, tests = ready_issue()
    released(tests, [0, 1, 0])

    with pytest.raises(Refused, match="no longer applies"):
        accept(issue, "resolve", by=make_user("maintainer"))


# Open again --------------------------------------------------------------------------------------


def failures_after_resolution(*, reopens=False):
    """A resolved issue that fails in a run; its suite has it reopened, or not."""
    issue, tests = ready_issue()
    model = make_model()
    released(tests, [0, 1], model)
    resolve(issue, days_ago=10)
    run = run_of(tests, votes_of(0), release="2.0", model=model)
    suite = Suite.objects.create(name=f"suite {run.pk}", reopens_issues=reopens)
    Run.objects.filter(pk=run.pk).update(suite=suite)
    return issue, run


def test_a_resolved_issue_that_fails_again_is_proposed_and_stays_resolved():
    issue, _ = failures_after_resolution()
    maintainer, viewer = make_user("maintainer"), make_user("viewer")

    assert pull() == 0
    issue.refresh_from_db()
    assert issue.state == IssueState.RESOLVED
    assert proposal_of(issue).act == "reopen"
    (notification,) = Notification.objects.filter(recipient=maintainer)
    assert notification.kind == NotificationKind.REOPENING
    assert "4 of 5 answers fail, in 4 of 5 tests (assumed: judges fail" in notification.text
    assert f"issue={issue.pk}" in notification.url
    assert not viewer.notifications.exists()


def test_only_runs_in_which_the_issue_failed_are_named(client):
    issue, failed = failures_after_resolution()
    tests = list(issue.tests.order_by("pk"))
    passed = run_of(tests, votes_of(1), release="2.0", days_ago=-1, model=make_model())
    (proposal,) = proposals()

    assert proposal.runs == (passed.pk, failed.pk)
    for text in (proposal.reason, proposal.brief):
        assert f"run {failed.pk}" in text
        assert f"run {passed.pk}" not in text
    client.force_login(make_user("maintainer"))
    for url in (reverse("admin:index"), page_url("issue_timeline", issue=issue)):
        page = client.get(url, {"compute": 1, "issue": issue.pk}).content.decode()
        assert page.lower().count("failed again") == 1


def test_a_proposal_is_notified_once():
    failures_after_resolution()
    maintainer = make_user("maintainer")
    for _ in range(2):
        pull()
        caches["computed"].clear()

    assert maintainer.notifications.count() == 1


def test_a_suite_alone_does_not_reopen_what_runs_of_others_show():
    issue, run = failures_after_resolution(reopens=True)
    run_of(list(issue.tests.all()), [0] * 5, release="2.0", model=make_model())

    assert pull() == 0
    assert proposal_of(issue).runs[0] != run.pk


def test_a_dismissed_proposal_returns_with_a_newer_run():
    issue, _ = failures_after_resolution()
    dismiss(issue, "reopen", by=make_user("maintainer"))
    caches["computed"].clear()

    assert proposal_of(issue) is None
    assert proposals() == []
    run_of(list(issue.tests.order_by("pk")), [0] * 5, release="2.1", days_ago=-1)
    assert proposal_of(issue).act == "reopen"


def test_false_fails_that_are_measured_explain_a_failure(monkeypatch):
    issue, run = failures_after_resolution()
    measured = {run.pk: FalseFails(0.4, is_assumed=False)}
    monkeypatch.setattr(proposal_acts, "false_fails", lambda *_: measured)

    # 4 of 5 fail: P(Bin(5, 0.4) >= 4) = 0.087.
    assert proposal_of(issue) is None


def test_where_its_suite_says_so_an_issue_is_opened_once_with_why():
    issue, run = failures_after_resolution(reopens=True)

    assert pull() == 1
    issue.refresh_from_db()
    assert issue.state == IssueState.APPROVED
    latest = issue.history.latest()
    assert latest.history_user is None
    assert latest.history_change_reason == (f"Reopen: failed again in run {run.pk} (4 of 5 tests)")
    caches["computed"].clear()
    assert pull() == 0
    comment = issue.comments.get()
    assert (comment.author, comment.author_name) == (None, "EvalHub")
    assert f"{run.model_name} (run {run.pk})" in comment.text
    resolve(issue)  # anew, and the old failure does not open it
    assert pull() == 0


def test_of_two_that_pull_at_once_one_opens_it():
    issue, _ = failures_after_resolution()
    (found,) = proposals()

    assert [proposal_acts._reopened(found), proposal_acts._reopened(found)] == [True, False]
    assert issue.comments.count() == 1


def test_nothing_is_computed_while_nothing_changed():
    failures_after_resolution()
    pull()
    pull()
    with CaptureQueriesContext(connection) as queries:
        pull()

    assert not any("runs_result" in query["sql"] for query in queries)


def test_a_model_that_was_known_to_fail_does_not_open_it():
    issue, tests = ready_issue()
    weak = make_model()
    run_of(tests, [0] * 5, days_ago=5, model=weak)
    resolve(issue, days_ago=3)
    run_of(tests, [0] * 5, model=weak)

    assert pull() == 0


def test_an_issue_that_cannot_be_opened_is_left_to_a_person():
    issue, _ = failures_after_resolution(reopens=True)
    issue.sources.all().delete()

    assert pull() == 0
    assert proposal_of(issue).act == "reopen"


def test_more_issues_need_no_more_queries():
    def count():
        with CaptureQueriesContext(connection) as queries:
            proposals()
        return len(queries)

    def more():
        failures_after_resolution()
        released(ready_issue()[1], [0, 1])

    more()
    proposals()  # keeps what judges and annotators agree on
    few = count()
    more()

    assert count() == few


def resolved_issue():
    """An issue that its model passed yesterday, resolved today."""
    issue, tests = ready_issue()
    model = make_model()
    run_of(tests, [1] * 5, model=model, days_ago=1)
    states.resolve(issue, labels=(), note="Fixed.", by=make_user("maintainer"))
    return issue, tests, model


@pytest.mark.parametrize("is_new_model", [False, True])
def test_a_stricter_jury_alone_reopens_nothing(is_new_model):
    issue, tests, model = resolved_issue()
    stern = make_jury(make_model())
    run_of(tests, [0] * 5, model=None if is_new_model else model, days_ago=-1, jury=stern)

    assert proposal_of(issue) is None
    assert pull() == 0
    run_of(tests, [0] * 5, model=model, days_ago=-2)  # under the same jury
    assert proposal_of(issue).act == "reopen"
