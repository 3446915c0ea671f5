"""Marks of validated judges, on juries, and the pages on which trials start and are controlled."""

import pytest
from django.urls import reverse

from evalhub.models import BatchState
from evalhub.refusals import Refused
from issues.models import JudgeTemplate
from runs.laboratory.trials.judges.trial_control import start
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.trials.judges.validations import validate, validations_of, withdraw
from runs.laboratory.trials.models import Trial
from runs.models import Judge
from tests.factories import make_jury, make_model, make_user
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark

pytestmark = pytest.mark.django_db


@pytest.fixture
def similarity():
    return JudgeTemplate.objects.get(family="similarity")


@pytest.fixture
def model():
    return make_model(name="Judge Judy", is_scripted=True)


@pytest.fixture
def trial(model, similarity):
    return start(make_benchmark(name="Sorting"), [TrialJudge(model, similarity)], by=None)[0]


def test_a_mark_lapses_when_the_judge_changes(trial, model, similarity):
    judge = Judge.objects.given(model, template=similarity)
    mark = validate(trial, "similarity", by=make_user())
    assert validations_of([judge]) == {judge.pk: [mark]}

    warmer = Judge.objects.given(model, template=similarity, params={"temperature": 1})
    without_template = Judge.objects.given(model)
    assert validations_of([warmer, without_template]) == {warmer.pk: [], without_template.pk: []}
    model.api_base = "https://elsewhere.example.org/v1"
    model.save()
    judge.refresh_from_db()
    assert validations_of([judge]) == {judge.pk: []}
    trial.refresh_from_db()
    with pytest.raises(Refused, match="has changed since"):
        validate(trial, "rank", by=make_user())


def test_a_withdrawn_mark_stays_on_record_and_counts_no_more(trial, model, similarity):
    judge = Judge.objects.given(model, template=similarity)
    mark = validate(trial, "similarity", by=make_user())
    assert validate(trial, "similarity", by=make_user()) == mark

    withdraw(mark)

    assert validations_of([judge]) == {judge.pk: []}
    assert trial.validations.count() == 1


def test_juries_show_marks_with_date_and_benchmark(client, trial, model, similarity):
    client.force_login(make_user("maintainer"))
    jury = make_jury(model)
    jury.judges.set([Judge.objects.given(model, template=similarity)])
    address = reverse("admin:runs_jury_change", args=[jury.pk])
    assert "Validated judges" not in client.get(address).content.decode()

    mark = validate(trial, "similarity", by=make_user())

    shown = client.get(address).content.decode()
    said = f"similarity of two texts, {mark.created_at:%Y-%m-%d}, on Sorting"
    assert f"{said}, a scripted endpoint, not a model" in shown


def test_several_judges_start_from_one_page_after_an_estimate(client, model, similarity):
    client.force_login(make_user("maintainer"))
    benchmark = make_benchmark()
    address = reverse("admin:trials_trial_add")
    sent = {
        "benchmark": benchmark.pk,
        "models": [model.pk],
        "templates": [similarity.pk],
        "metrics": ["rouge_l", "chrf"],
    }
    claims = benchmark.claims.count()

    shown = client.post(address, sent).content.decode()
    assert f"Start ({2 * claims:,} calls)" in shown
    assert not Trial.objects.exists()

    client.post(address, {**sent, "start": 2 * claims})
    assert Trial.objects.count() == 3
    assert {one.judgments.count() for one in Trial.objects.all()} == {2 * claims}


def test_a_trial_is_cancelled_and_resumed_on_its_page(client, trial):
    client.force_login(make_user("maintainer"))
    address = reverse("admin:trials_trial_act", args=[trial.pk])

    assert "Cancelled" in client.post(address, {"act": "cancel"}, follow=True).content.decode()
    trial.refresh_from_db()
    assert trial.state == BatchState.CANCELLED

    shown = client.post(address, {"act": "resume"}, follow=True).content.decode()
    assert "Resumed" in shown
    assert "scripted endpoint, not a model" in shown
