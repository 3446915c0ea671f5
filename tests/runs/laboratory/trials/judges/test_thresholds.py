"""Thresholds of metrics: entered, or chosen on the development claims."""

import pytest
from django.urls import reverse

from evalhub.refusals import Refused
from runs.laboratory.trials.judges.thresholds import best_threshold
from runs.laboratory.trials.judges.trial_control import start, tuning_claims
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.trials.judges.verdicts import ended_verdicts
from runs.laboratory.trials.models import ClaimKind, Trial
from runs.laboratory.tuning.models import Split
from tests.factories import make_user
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark


@pytest.mark.parametrize(
    ("true", "false", "threshold"),
    [
        ([0.8, 0.9], [0.1, 0.2], 0.5),
        ([0.5, 0.6, 0.9], [0.1, 0.7], 0.3),  # all true ones, and one of two false ones
        ([0.5], [], None),
        ([0.5, 0.5], [0.5], None),
    ],
)
def test_the_threshold_tells_true_from_false_claims_best(true, false, threshold):
    scores = [(score, True) for score in true] + [(score, False) for score in false]
    assert best_threshold(scores) == (None if threshold is None else pytest.approx(threshold))


@pytest.mark.django_db(transaction=True)
def test_a_chosen_threshold_is_stored_and_measured_on_held_out_claims(work):
    benchmark = make_benchmark(topics=3, ideas=4)
    third = list(benchmark.claims.values_list("pk", flat=True))[::3]
    benchmark.claims.update(split=Split.HELD_OUT)
    benchmark.claims.filter(pk__in=third).update(split=Split.DEVELOPMENT)
    judge = TrialJudge(metric="token_overlap", tunes_threshold=True)

    (trial,) = start(benchmark, [judge], by=None)
    default, pending = trial.threshold, trial.method
    work()

    trial.refresh_from_db()
    assert trial.threshold != default
    assert trial.tuned_on == tuning_claims(benchmark).count() > 0
    assert trial.method == TrialJudge(metric=trial.metric, metric_threshold=trial.threshold).method
    assert trial.method != pending
    held_out = trial.judgments.filter(claim__split=Split.HELD_OUT)
    assert len(ended_verdicts(trial)) == held_out.count() < trial.judgments.count()


@pytest.mark.django_db
def test_without_both_kinds_of_development_claims_the_start_says_what_to_do():
    benchmark = make_benchmark(topics=2, ideas=1, languages=("java",))
    benchmark.claims.exclude(kind=ClaimKind.RANK).update(split=Split.HELD_OUT)
    with pytest.raises(Refused, match="no true development claim to choose thresholds on"):
        start(benchmark, [TrialJudge(metric="chrf", tunes_threshold=True)], by=None)
    with pytest.raises(Refused, match=r"its threshold cannot be 1\.5"):
        start(benchmark, [TrialJudge(metric="chrf", metric_threshold=1.5)], by=None)


@pytest.mark.django_db
def test_a_threshold_is_entered_where_the_trial_starts_and_shown_with_it(client):
    client.force_login(make_user("maintainer"))
    sent = {"benchmark": make_benchmark().pk, "metrics": ["chrf"], "threshold_chrf": "0.612"}
    address = reverse("admin:trials_trial_add")
    wrong = client.post(address, sent | {"threshold_chrf": "7"}).content.decode()
    assert "less than or equal to 1" in wrong

    client.post(address, sent | {"start": "0"})

    trial = Trial.objects.get()
    assert trial.threshold == 0.612
    assert "0.612" in client.get(trial.get_absolute_url()).content.decode()
