"""The timeline of an issue, and the acceptance of proposals."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evalhub.statistics.rates.behaviour_outcome import FalseFails
from issues.models import Feedback, IssueState, Source
from reports.documents.document import Link
from reports.documents.reading import Reading
from reports.issue_timeline.page import ISSUE_TIMELINE
from reports.queries.issue_outcomes import false_fails, run_infos
from runs.figures.rate import Rate
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.reports.issue_proposals.test_proposals import ready_issue, released, run_of
from tests.reports.judge_reliability.trust.test_page import say
from tests.reports.judged_runs import judged
from tests.reports.workspaces import make_workspace

pytestmark = pytest.mark.django_db


def document_of(issue, reader=None, **asked):
    state = {"issue": issue, "points": 20, "family": False, **asked}
    return ISSUE_TIMELINE.build(state, Reading(reader or make_user("annotator")))


def rows(document, key):
    return document.table(key).as_rows()


def texts(row):
    return {name: v.text if isinstance(v, Link) else v for name, v in row.items()}


def test_each_run_tells_how_the_issue_went():
    # Of the first issue's two tests "shaky" passes one in its first release and none in its second.
    ledger = make_workspace()
    found = [row for row in rows(document_of(ledger.issues[0]), "runs") if "shaky" in row["line"]]

    assert [(row["release"], row["outcome"]) for row in found] == [
        ("1.1", "fails"),
        ("1.0", "cannot tell"),
    ]
    assert [(row["rate"].passed, row["rate"].n) for row in found] == [(0, 2), (1, 2)]
    assert all(isinstance(row["rate"], Rate) and row["rate"].interval for row in found)


def test_what_broke_lies_between_two_runs():
    ledger = make_workspace(releases=3)
    (row,) = [r for r in rows(document_of(ledger.issues[0]), "turns") if "steady" in r["line"]]

    assert texts(row) | {"streak": 0, "why": ""} == {
        "line": "steady 3",
        "before": "steady 3, release 1",
        "first_failed": "steady 3, release 2",
        "passed_again": None,
        "now": "fails",
        "why": "",
        "streak": 0,
        "newest": "steady 3, release 2",
        "left_out": 0,
    }
    assert row["why"].startswith("2 of 2 answers fail, in 2 of 2 tests (assumed: judges fail")


def test_another_jury_breaks_nothing():
    test = make_test()
    judged([1], tests=[test], label="March")
    judged([0], tests=[test], label="April", jury=make_jury(make_model()))

    (row,) = rows(document_of(test.issue), "turns")

    assert (row["before"], row["newest"].text, row["left_out"]) == (None, "April", 1)


def test_fewer_runs_of_a_line_are_shown_than_counted():
    ledger = make_workspace(releases=4)
    document = document_of(ledger.issues[0], points=2)

    assert len(rows(document, "runs")) == 4
    assert any("4 earlier runs" in sentence for sentence in document.sentences)
    assert "steady 4, release 2" in [texts(row)["first_failed"] for row in rows(document, "turns")]


def test_its_tests_come_with_the_hardest_first():
    ledger = make_workspace()
    found = rows(document_of(ledger.issues[2]), "tests")

    assert [row["prompt"] for row in found] == ["Question 4?", "Question 5?"]
    assert [row["rate"].n for row in found] == [4, 4]


def test_text_of_a_sealed_test_its_feedback_and_reasons_are_told_to_those_who_may_read_it():
    issue = make_issue(state="draft")
    make_test("Do not tell.", issue=issue, sealed=True)
    Feedback.objects.create(issue=issue, comment="Secret words.")
    issue.state, issue._change_reason = IssueState.APPROVED, "It quotes the sealed prompt."
    issue.save()
    viewers, annotators = (str(document_of(issue, make_user(r))) for r in ("viewer", "annotator"))

    for words in ("Secret words.", "It quotes the sealed prompt."):
        assert words not in viewers
        assert words in annotators
    assert "Do not tell." not in viewers


def test_its_states_are_listed_with_who_changed_them():
    issue, _ = ready_issue()
    person = make_user("maintainer", username="Ada")
    issue.state = IssueState.DEPRECATED
    issue._history_user, issue._change_reason = person, "Deprecate"
    issue.save()
    newest, first = rows(document_of(issue), "states")

    assert (newest["from"], newest["to"], newest["who"]) == ("approved", "deprecated", "Ada")
    assert (first["from"], first["to"]) == (None, "approved")


def test_an_issue_without_runs_says_what_to_do_and_no_issue_offers_some():
    issue = make_issue(title="Invents sources")
    runs = document_of(issue).table("runs")

    assert runs.rows == []
    assert "Launch a run" in runs.empty
    assert "Invents sources" in str(document_of(None))


def test_models_failing_now_are_models_whether_shown_or_not(monkeypatch):
    monkeypatch.setattr("reports.issue_timeline.query.MAX_LINES", 1)
    issue, model = make_issue(), make_model()
    tests = [make_test(f"Question {n}?", issue=issue) for n in range(2)]
    for key in ("cold", "warm"):
        judged([0], [0], tests=tests, model=model, variant_key=key)
    judged([1], [1], tests=tests, model=make_model(), variant_key="other")
    (fact,) = [fact for fact in document_of(issue).facts if fact.name == "failing"]

    assert (fact.value, fact.note) == (1, "of 2")


def test_an_unknown_issue_shows_no_other(client):
    issue = make_workspace().runs[0].results.first().issue
    client.force_login(make_user("maintainer"))

    page = client.get(f"/reports/issue_timeline/?issue={issue.pk + 999}").content.decode()

    assert "There is no such issue." in page
    assert f"Results of “{issue}” over time" not in page


def test_families_have_one_line():
    ledger = make_workspace()
    for run in ledger.runs:
        run.language_model.family = "One family"
        run.language_model.save()

    assert [row["line"] for row in rows(document_of(ledger.issues[0], family=True), "turns")] == [
        "One family"
    ]


# Proposals ---------------------------------------------------------------------------------------


def proposed():
    issue, tests = ready_issue()
    released(tests, [0, 1])
    return issue


def accept(client, issue, role, **sent):
    client.force_login(make_user(role))
    response = client.post(reverse("reports:accept_proposal", args=[issue.pk]), sent, follow=True)
    issue.refresh_from_db()
    return response


def test_one_click_resolves_what_is_proposed(client):
    issue = proposed()
    assert any("suggest resolving it" in s for s in document_of(issue).sentences)
    client.force_login(make_user("maintainer"))
    page = client.get(reverse("reports:issue_timeline"), {"issue": issue.pk}).content.decode()
    assert "Resolve issue" in page
    response = accept(client, issue, "maintainer", act="resolve")

    assert issue.state == IssueState.RESOLVED
    assert "resolved." in response.content.decode()


def test_who_may_not_decide_sees_the_proposal_without_its_button(client):
    issue = proposed()
    client.force_login(make_user("viewer"))
    page = client.get(reverse("reports:issue_timeline"), {"issue": issue.pk}).content.decode()

    assert "Passes in release 1.1" in page
    assert "Resolve issue" not in page
    assert accept(client, issue, "annotator", act="resolve").status_code == 403
    assert issue.state == IssueState.APPROVED


def test_accepting_a_proposal_names_what_the_issue_lacks(client):
    issue = proposed()
    Source.objects.all().delete()
    response = accept(client, issue, "maintainer", act="resolve")

    assert issue.state == IssueState.APPROVED
    assert "Add feedback or a source" in response.content.decode()


def test_pages_of_an_issue_and_of_its_tests_lead_to_its_life(client):
    issue = proposed()
    life = f"{reverse('reports:issue_timeline')}?issue={issue.pk}"
    client.force_login(make_user("maintainer"))
    pages = [
        client.get(row.get_absolute_url()).content.decode() for row in (issue, issue.tests.first())
    ]

    assert all(life in page for page in pages)
    assert "Resolve as proposed" in pages[0]


def test_an_issues_page_without_the_right_to_runs_says_nothing_of_them(client):
    issue = proposed()
    user = make_user()
    user.user_permissions.add(Permission.objects.get(codename="view_issue"))
    client.force_login(user)
    page = client.get(issue.get_absolute_url()).content.decode()

    assert issue.title in page
    assert "Passes in" not in page


def test_a_proposal_can_be_dismissed(client):
    issue = proposed()
    response = accept(client, issue, "maintainer", act="resolve", dismiss="1")

    assert issue.state == IssueState.APPROVED
    assert "was dismissed" in response.content.decode()
    assert "Resolve issue" not in response.content.decode()
    assert "Dismiss proposal" not in client.get(issue.get_absolute_url()).content.decode()


# Releases ----------------------------------------------------------------------------------------


def test_each_release_shows_the_evidence_of_its_outcome():
    issue, tests = ready_issue()
    released(tests, [1, 0])
    document = document_of(issue)
    newest, first = rows(document, "releases")

    assert (newest["outcome"], first["outcome"]) == ("fails", "passes")
    assert (newest["rate"], newest["tests"], newest["failing"]) == (0.8, 5, 4)
    assert (newest["false_fails"], newest["basis"], newest["limit"]) == (0.1, "assumed", 0.5)
    said = "In release 1.1 it fails: 4 of 5 answers fail, in 4 of 5 tests (assumed: judges fail"
    assert any(text.startswith(said) for text in document.sentences)


def test_what_is_needed_to_resolve_an_issue_is_said():
    issue, tests = ready_issue()
    run_of(tests[:3], [1, 1, 1])
    document = document_of(issue)

    assert "its 3 questions pass; 2 more would show it." in document.sentences[1]
    assert [fact.value for fact in document.facts if fact.name == "needed"] == [2]


@pytest.mark.parametrize(
    ("failed", "verdicts", "word"),
    [
        pytest.param(1, [1.0], "passes", id="people clear what judges failed"),
        pytest.param(1, [0.0], "fails", id="people confirm it"),
        pytest.param(3, [], "fails", id="nobody looked"),
        pytest.param(3, [0.0, 1.0], "cannot tell", id="disputed until adjudicated"),
    ],
)
def test_a_persons_verdict_takes_the_place_of_the_judges(failed, verdicts, word):
    issue, tests = ready_issue()
    run = run_of(tests, [0] * failed + [1] * (5 - failed))
    for verdict in verdicts:
        say(run, [verdict, *[None] * 4])

    assert rows(document_of(issue), "releases")[0]["outcome"] == word


def test_false_fails_are_measured_by_humans():
    truth = [k % 12 > 0 for k in range(36)]
    tests = [make_test(f"Question {k}?") for k in range(36)]
    run = judged(*[[int(k % 12 > 2)] for k in range(36)], tests=tests)
    say(run, [float(one) for one in truth])

    # Of 33 passes of humans the jury fails 6.
    rates = false_fails(run_infos(), Reading(make_user("viewer")))
    assert rates[run.pk] == FalseFails.measured(6, 33)
    assert 6 / 33 < rates[run.pk].bound < 0.4
