"""Activity: what changed in a period, with who, when and a link."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from evalhub.history import sign
from issues.models import IssueState, TestState
from reports.activity.page import ACTIVITY
from reports.activity.rule import Event, Kind, feed, issue_step
from reports.documents.reading import Reading
from reports.queries.periods import NEW_VISIT, SEEN, VISIT, record_visit, since_of
from runs.models import Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_test,
    make_user,
)
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 2, 12, tzinfo=timezone.get_current_timezone())


def document_of(reader=None, **state):
    form = ACTIVITY.form(QueryDict(urlencode(state)))
    assert not form.problems
    return ACTIVITY.build(form.filters, Reading(reader or make_user("maintainer")))


def events(reader=None, **state):
    rows = document_of(reader, **state).table("events").as_rows()
    return [(row["what"], row["subject"].text, row["who"]) for row in rows]


def moved(row, state, by, why=""):
    row.state = state
    sign(row, by, why)
    row.save()


# Order and grouping ------------------------------------------------------------------------------


def event(hours, subject="Words", who="ann"):
    return Event(Kind.TEST, NOON + timedelta(hours=hours), "Test approved", subject, "/i/1", who)


def test_the_feed_is_newest_first_and_equal_events_of_a_day_are_one():
    found = feed([event(0), event(1), event(2, "Dates"), event(3), event(-30), event(1, who="bob")])

    assert [(one.subject, one.who, one.n) for one in found] == [
        ("Words", "ann", 3),
        ("Dates", "ann", 1),
        ("Words", "bob", 1),
        ("Words", "ann", 1),
    ]


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [
        (None, "draft", "opened"),
        ("in_review", "approved", "approved"),
        ("approved", "resolved", "resolved"),
        ("resolved", "approved", "reopened"),
        ("approved", "deprecated", "deprecated"),
        ("draft", "in_review", "sent to review"),
    ],
)
def test_a_state_of_an_issue_has_its_verb(before, after, verb):
    assert issue_step(before, after) == verb


# What is listed ----------------------------------------------------------------------------------


def test_issues_are_opened_resolved_and_reopened_with_who_and_why():
    boss = make_user("maintainer", username="boss")
    issue = make_issue(title="Words")
    moved(issue, IssueState.RESOLVED, boss, "Passed three releases.")
    issue.title = "Words, renamed"
    issue.save()
    moved(issue, IssueState.APPROVED, boss)

    assert events(kind="issue") == [
        ("Issue reopened", "Words, renamed", "boss"),
        ("Issue resolved", "Words", "boss"),
        ("Issue opened", "Words", "the system"),
    ]
    issue.delete()
    assert events(kind="issue") == []


def test_approved_tests_of_an_issue_are_one_line():
    boss, issue = make_user("maintainer", username="boss"), make_issue(title="Words")
    for test in (make_test(issue=issue, state=TestState.DRAFT) for _ in range(3)):
        moved(test, TestState.APPROVED, boss)

    assert events(kind="test") == [("Test approved", "Words", "boss")]


def test_runs_that_are_done_and_verdicts_that_are_overturned_are_listed():
    run, ann = judged([0], [1]), make_user("annotator", username="ann")
    first, second = run.results.order_by("pk")
    evaluate(first, HumanVerdict("1", "The source exists."), by=ann)
    evaluate(second, HumanVerdict("1", "Right."), by=ann)
    judged([1], done=False)
    found = events()

    assert [one for one in found if one[0] == "Run done"] == [
        ("Run done", f"{run.model_name}, {run.label}", "the system")
    ]
    assert [one for one in found if one[0].startswith("Verdict")] == [
        (
            "Verdict overturned from failed to passed",
            f"{first.issue.title}, {run.model_name}",
            "ann",
        )
    ]


def test_the_news_are_told_in_a_sentence():
    tests, ann = [make_test(), make_test()], make_user("annotator")
    for model in (make_model(), make_model()):
        run = judged([0], [1], tests=tests, model=model, release="1.4")
    judged([1], release="1.3")
    evaluate(first_result(run), HumanVerdict("1", "The source exists."), by=ann)
    issue = make_issue(title="Returns", state=IssueState.RESOLVED)
    moved(issue, IssueState.APPROVED, make_user("maintainer"), "It fails again.")

    (said,) = document_of(make_user("viewer")).sentences
    *releases, counts, reopened = said.split("; ")
    assert set(releases) == {
        "Release 1.4 was tested: 2 runs of 2 models",
        "Release 1.3 was tested: 1 run of 1 model",
    }
    assert counts.startswith("1 verdict overturned")
    assert "1 issue reopened" in counts
    assert reopened == "reopened: Returns."


def test_baselines_and_juries_are_listed_as_they_change():
    boss, run = make_user("maintainer", username="boss"), judged([1])
    suite = Suite.objects.create(name="Nightly")
    for baselines in ([run], []):
        sign(suite, boss, "")
        suite.baselines.set(baselines)
    suite.description = "Renewed."
    suite.save()
    jury = make_jury(make_model())

    assert events(kind="baseline") == [
        ("Baseline of Nightly removed", str(run), "boss"),
        ("Baseline of Nightly set", str(run), "boss"),
    ]
    assert ("Jury created", jury.name, "the system") in events(kind="jury")


# Periods -----------------------------------------------------------------------------------------


def test_only_what_is_in_the_period_is_listed():
    old, new = judged([1], release="1.0"), judged([1], release="1.1")
    before = timezone.now() - timedelta(days=20)
    Run.objects.filter(pk=old.pk).update(finished_at=before, created_at=before)

    def labels(period):
        return [subject for _, subject, _ in events(period=period, kind="run")]

    assert len(labels("7d")) == 1
    assert labels("7d") == labels("release:1.1") == [f"{new.model_name}, {new.label}"]
    assert len(labels("30d")) == len(labels("release:1.0")) == len(labels("all")) == 2


def test_a_visit_begins_after_half_an_hour_away():
    user = make_user("viewer")
    record_visit(user)
    assert VISIT not in user.preferences
    left = timezone.now() - NEW_VISIT - timedelta(minutes=1)
    user.preferences = {SEEN: left.isoformat(), "home": ["judges"]}
    record_visit(user)
    record_visit(user)
    user.refresh_from_db()

    assert since_of("visit", user) == left
    assert user.preferences["home"] == ["judges"]


def test_without_a_visit_before_the_period_is_a_week():
    since = since_of("visit", make_user("viewer"))

    assert abs(timezone.now() - timedelta(days=7) - since) < timedelta(minutes=1)


def test_a_week_begins_at_midnight_of_each_day(monkeypatch):
    now = timezone.localtime()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    assert since_of("7d", None) == midnight - timedelta(days=7)
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=1))
    assert since_of("7d", None) == midnight - timedelta(days=6)


# Readers -----------------------------------------------------------------------------------------


def test_the_reason_of_a_verdict_on_a_sealed_test_is_hidden_from_a_viewer(client):
    run = judged([0], tests=[make_test(sealed=True)])
    evaluate(run.results.get(), HumanVerdict("1", "Quotes the test."), by=make_user("annotator"))
    client.force_login(make_user("viewer"))

    page = client.get(reverse("reports:activity")).content.decode()
    assert "Verdict overturned" in page
    assert "Quotes the test." not in page


def test_the_reason_of_a_change_is_hidden_where_a_sealed_test_hides_the_issue():
    issue = make_issue(state="draft")
    make_test(issue=issue, sealed=True)
    moved(issue, IssueState.APPROVED, make_user("maintainer"), "It quotes the sealed prompt.")
    told = {role: document_of(make_user(role)) for role in ("viewer", "annotator")}

    assert "sealed prompt" not in str(told["viewer"])
    assert "sealed prompt" in str(told["annotator"])


def test_each_line_leads_to_its_subject_and_more_events_need_no_more_queries(client):
    user = make_user("maintainer")
    client.force_login(user)

    def count():
        with CaptureQueriesContext(connection) as queries:
            response = client.get(reverse("reports:activity"))
        return len(queries), response.context["document"].table("events").as_rows()

    def happen():
        run = judged([0])
        evaluate(run.results.get(), HumanVerdict("1", "So."), by=make_user("annotator"))
        Suite.objects.create(name=run.label).baselines.add(run)

    happen()
    count()
    few, rows = count()
    assert {client.get(row["subject"].url).status_code for row in rows} == {200}
    for _ in range(3):
        happen()
    count()  # records what is shown for the first time

    assert count()[0] == few
