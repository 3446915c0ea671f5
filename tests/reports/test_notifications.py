import pytest
from django.utils import timezone

from evalhub.models import Notification, NotificationKind
from evalhub.statistics.changes.net_change import METHOD_BY_ISSUE
from reports.notifications import notify_finished
from runs.comparison.comparability import rejudge_url
from runs.models import Run, Suite
from tests.factories import make_jury, make_model, make_run, make_test, make_user, shared_jury
from tests.reports.judged_runs import answer, finish, judge

pytestmark = pytest.mark.django_db

PASS, FAIL = [1.0], [0.0]


def run_of(tests, votes, **fields):
    run = make_run(*tests, **{"jury": shared_jury(), **fields})
    answer(run)
    judge(run, votes)
    finish(run)
    Run.objects.filter(pk=run.pk).update(finished_at=timezone.now())
    return run


def test_whoever_launched_a_run_is_notified_once_when_it_is_done():
    person = make_user("maintainer")
    run_of([make_test(), make_test()], [PASS, FAIL], label="Nightly", requested_by=person)

    assert (notify_finished(), notify_finished()) == (1, 0)
    notification = Notification.objects.get(recipient=person)
    assert notification.title == "Nightly is done"
    assert "50% passed (1 of 2)" in notification.text


def test_a_live_run_notifies_nobody():
    make_run(requested_by=make_user("maintainer"))

    assert notify_finished() == 0


def test_users_who_control_runs_are_notified_of_a_regression():
    person, viewer = make_user("maintainer"), make_user("viewer")
    tests = [make_test() for _ in range(12)]
    suite = Suite.objects.create(name="s")
    suite.baselines.add(run_of(tests, [PASS] * 12, suite=suite, label="Old"))
    run_of(tests, [FAIL] * 12, suite=suite, label="New")
    notify_finished()
    notifications = Notification.objects.filter(kind=NotificationKind.REGRESSION)

    assert [notification.recipient for notification in notifications] == [person]
    assert notifications[0].title == "New fails the gate against Old"
    assert "Judges rate it worse: lost 12, won 0 of the same 12 tests." in (notifications[0].text)
    assert not Notification.objects.filter(recipient=viewer).exists()


def test_without_a_baseline_a_regression_is_since_the_previous_run(monkeypatch):
    sent = []
    monkeypatch.setattr("reports.notifications.notify", lambda event, to: sent.append(event))
    make_user("maintainer")
    tests = [make_test() for _ in range(12)]
    suite = Suite.objects.create(name="s")
    for label, votes in (("Old", PASS), ("New", FAIL)):
        run_of(tests, [votes] * 12, suite=suite, label=label)
    notify_finished()

    (event,) = (event for event in sent if event.kind == NotificationKind.REGRESSION)
    assert event.title == "New fails the gate against Old"
    (rule,) = [one for one in event.facts["rules"] if one["rule"] == "conclusion"]
    assert (rule["n"], rule["p"], rule["method"]) == (12, pytest.approx(1 / 2**12), METHOD_BY_ISSUE)


def test_a_run_that_is_as_good_as_its_baseline_is_no_regression():
    make_user("maintainer")
    tests = [make_test() for _ in range(12)]
    suite = Suite.objects.create(name="s")
    suite.baselines.add(run_of(tests, [PASS] * 12, suite=suite))
    run_of(tests, [PASS] * 12, suite=suite)
    notify_finished()

    assert not Notification.objects.filter(kind=NotificationKind.REGRESSION).exists()


def test_another_jury_alone_is_no_regression(monkeypatch):
    """The same answers, passed by the baseline's jury and failed by a stricter one."""
    person = make_user("maintainer")
    tests = [make_test() for _ in range(20)]
    suite = Suite.objects.create(name="s")
    suite.baselines.add(run_of(tests, [PASS] * 20, suite=suite, label="Old"))
    stern = make_jury(make_model())
    run = run_of(tests, [FAIL] * 20, suite=suite, label="New", jury=stern, requested_by=person)
    sent = []
    monkeypatch.setattr("reports.notifications.notify", lambda event, to: sent.append(event))
    notify_finished()

    (event,) = (event for event in sent if event.title.startswith("New"))
    assert event.kind == NotificationKind.RUN_FINISHED
    assert "Not comparable with Old: different juries judged these runs." in event.text
    assert event.facts["comparability"] == "after_rejudging"
    assert event.facts["rejudge"] == rejudge_url(run.pk, suite.baselines.get().pk)
