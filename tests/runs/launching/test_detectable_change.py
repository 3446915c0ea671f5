"""Detectable change of a planned run."""

import pytest
from django.http import QueryDict

from evalhub.models import LanguageModel
from evalhub.statistics.changes.detectable_change import Plan
from reports.compare.page import COMPARE
from reports.documents.reading import Reading
from reports.gate.formats import as_json
from reports.gate.query import gate_result
from runs.launching.estimate import detectable
from runs.models import Suite
from tests.factories import make_jury, make_model, make_test, make_user
from tests.reports.judged_runs import judged
from tests.reports.scored_runs import as_judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def tests():
    return [make_test(f"Question {n}?") for n in range(20)]


def suite_of(*runs, **fields):
    suite = Suite.objects.create(name=f"suite of {runs}", **fields)
    for run in runs:
        run.suite = suite
        run.save()
    return suite


def run_of(tests, passed, **fields):
    model = LanguageModel.objects.filter(name="Planned").first() or make_model(name="Planned")
    votes = [[float(n < passed)] for n in range(len(tests))]
    return judged(*votes, tests=tests, **{"model": model, **fields})


def test_without_earlier_runs_the_usual_share_is_assumed():
    planned = detectable(range(200), None)

    assert planned.found.change == pytest.approx(0.08, abs=0.005)
    assert planned.note == "Shown in 80% if 15% of 200 tests change (assumed), each by itself."


def test_the_launch_form_compare_and_the_gate_plan_with_the_same_earlier_pair(tests):
    runs = [run_of(tests, n, label=label) for n, label in ((20, "March"), (8, "April"))]
    suite = suite_of(*runs)
    planned = detectable([test.issue_id for test in tests], suite)
    may = run_of(tests, 8, label="May", suite=suite)

    form = COMPARE.form(QueryDict(f"runs={runs[1].pk}&runs={may.pk}"))
    document = COMPARE.build(form.filters, Reading(make_user("viewer")))
    gated = as_json(gate_result(may, runs[1]))

    assert planned.found.is_measured
    assert "measured from March to April" in planned.note
    assert any(one.endswith(planned.note) for one in document.sentences)
    assert (gated["detectable"], gated["detectable_note"]) == (planned.found.change, planned.note)


def test_repeats_change_by_the_share_of_answers_that_pass(tests):
    runs = [judged(*[[1.0]] * 40, tests=tests, repeats=2) for _ in range(2)]
    runs[1].results.filter(repeat=1).update(**as_judged(0))

    planned = detectable(range(100), suite_of(*runs))

    assert planned.found == Plan.of([1] * 100, [-0.5] * 20).detectable()


def test_the_baseline_goes_before_the_run_before(tests):
    runs = [run_of(tests, n) for n in (20, 10, 10)]

    suite = suite_of(*runs)
    suite.baselines.add(runs[0])
    assert detectable(range(100), suite).found.changed == 0.5


def test_flips_are_measured_between_the_last_comparable_runs(tests):
    first, second = run_of(tests, 10, label="March"), run_of(tests, 5, label="April")
    other = run_of(tests, 20, label="May", jury=make_jury(make_model()))

    planned = detectable(range(400), suite_of(first, second, other))

    assert "25% of 400 tests change (measured from March to April)" in planned.note
    assert planned.found.change == pytest.approx(0.075, abs=0.005)
    # Runs under different juries tell nothing.
    assert not detectable(range(100), suite_of(second, other)).found.is_measured


def test_too_few_scored_tests_tell_nothing(tests):
    few = [run_of(tests[:5], n) for n in (5, 0)]

    assert not detectable(range(100), suite_of(*few)).found.is_measured


def test_a_suite_of_one_issue_and_few_tests_shows_nothing_and_no_tests_plan_nothing():
    assert detectable([1] * 4, None).found.points == "none"
    assert detectable([], None) is None
