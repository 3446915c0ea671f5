"""The first steps on Home."""

import pytest
from django.urls import reverse

from reports.dashboard.cards import Home, cards_of
from reports.dashboard.tour import steps_of
from reports.documents.reading import Reading
from runs.models import Launch, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_test, make_user
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


def done(user):
    return [step.title for step in steps_of(user, None) if step.is_done]


def test_a_step_is_done_by_its_act():
    run, maintainer = judged([1], [0]), make_user("maintainer")
    assert done(maintainer) == []

    evaluate(run.results.first(), HumanVerdict("1", "The source exists."), by=maintainer)
    issue = make_issue(author=maintainer)
    make_test(issue=issue, author=maintainer)
    Launch.objects.create(label="mine", spec={}, requested_by=maintainer)

    assert done(maintainer) == [
        "Turn feedback into an issue",
        "Write a test",
        "Launch a run",
        "Override a verdict",
    ]


def test_what_needs_a_run_comes_first_once_there_is_one():
    maintainer = make_user("superuser")
    assert steps_of(maintainer, None)[0].title == "Add a language model"
    run = judged([1], [0])

    assert steps_of(maintainer, None)[0].title == "Turn feedback into an issue"
    assert steps_of(maintainer, run)[0].title == "Override a verdict"


def test_the_baseline_that_a_user_sets_is_a_step_done(client):
    run = judged([1], [0], suite=Suite.objects.create(name="all"))
    maintainer = make_user("maintainer")
    client.force_login(maintainer)
    client.post(reverse("reports:compare_baseline", args=[run.pk]), {"act": "pin"})

    assert done(maintainer) == ["Set a baseline"]


def test_every_step_leads_to_a_page_that_opens(client):
    judged([1], [0])
    maintainer = make_user("maintainer")
    client.force_login(maintainer)
    statuses = {step.url: client.get(step.url).status_code for step in steps_of(maintainer, None)}

    assert len(statuses) == 6
    assert set(statuses.values()) == {200}


def test_steps_are_those_that_a_role_may_do():
    assert steps_of(make_user("viewer"), None) == []
    assert "tour" not in [card.key for card in cards_of(make_user("viewer"))]
    assert len(steps_of(make_user("annotator"), None)) == 3


def test_the_steps_are_closed_for_good(client):
    judged([1], [0])
    annotator = make_user("annotator")
    client.force_login(annotator)
    assert 'id="tour-title"' in client.get(reverse("admin:index")).content.decode()
    client.post(reverse("reports:choose_cards"), {"drop": "tour"})

    html = client.get(reverse("admin:index")).content.decode()
    assert 'id="tour-title"' not in html
    assert 'id="card-to_do"' in html


def test_steps_that_are_all_done_are_left_out():
    run, annotator = judged([1], [0]), make_user("annotator")
    evaluate(run.results.first(), HumanVerdict("1", "The source exists."), by=annotator)
    make_test(issue=make_issue(author=annotator), author=annotator)

    shown = [card.key for card, _ in Home(Reading(annotator)).cards]
    assert "tour" not in shown
