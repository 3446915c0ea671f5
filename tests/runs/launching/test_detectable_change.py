"""Detectable change of a planned run."""

import pytest

from evalhub.statistics.changes.detectable import detectable_of
from reports.compare.evidence_rule import findings, sample_of
from reports.compare.query import comparison_of, sides_of
from runs.launching.estimate import detectable
from runs.models import Run, Suite
from tests.factories import make_jury, make_model, make_test
from tests.reports.judged_runs import judged
from tests.reports.scored_runs import as_judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def tests():
    return [make_test(f"Question {n}?") for n in range(20)]


def suite_of(*runs, **fields):
    suite = Suite.objects.create(name=f"suite of {runs}", **fields)
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(suite=suite)
    return suite


def run_of(tests, passed, **fields):
    return judged(*([float(n < passed)] for n in range(len(tests))), tests=tests, **fields)


def test_without_earlier_runs_the_usual_share_is_assumed():
    # Published for 200 tests of which 15 % flip: 8 points.
    planned = detectable(range(200), None)

    assert planned.found.change == pytest.approx(0.08, abs=0.0026)
    assert planned.note == "80% power if 15% of 200 tests change (assumed), independently."


def test_the_launch_form_and_compare_print_the_same_number_and_caveat(tests):
    runs = run_of(tests, 20, label="March"), run_of(tests, 8, label="April")
    comparison = comparison_of(*sides_of(runs))
    computed = findings(sample_of(comparison.rows, comparison.tags))

    planned = detectable([test.issue_id for test in tests], suite_of(*runs))

    assert planned.found == computed.detectable
    assert planned.found.is_measured


def test_repeats_change_by_the_share_of_answers_that_pass(tests):
    runs = [judged(*[[1.0]] * 40, tests=tests, repeats=2) for _ in range(2)]
    runs[1].results.filter(repeat=1).update(**as_judged(0))

    planned = detectable(range(100), suite_of(*runs))

    assert planned.found == detectable_of(range(100), [-0.5] * 20)


def test_the_baseline_goes_before_the_run_before(tests):
    runs = [run_of(tests, n) for n in (20, 10, 10)]

    assert detectable(range(100), suite_of(*runs, baseline=runs[0])).found.changed == 0.5


def test_flips_are_measured_between_the_last_comparable_runs(tests):
    first, second = run_of(tests, 10, label="March"), run_of(tests, 5, label="April")
    other = run_of(tests, 20, label="May", jury=make_jury(make_model()))

    planned = detectable(range(400), suite_of(first, second, other))

    assert f"25% of 400 tests change (measured from {first} to {second})" in planned.note
    assert planned.found.change == pytest.approx(0.075, abs=0.005)  # told to half a point
    # Runs under different juries tell nothing.
    assert not detectable(range(100), suite_of(second, other)).found.is_measured


def test_too_few_scored_tests_tell_nothing(tests):
    few = [run_of(tests[:5], n) for n in (5, 0)]

    assert not detectable(range(100), suite_of(*few)).found.is_measured


def test_a_small_suite_finds_hardly_anything_and_none_nothing():
    assert detectable(range(10), None).found.points == "none"
    assert detectable([], None) is None
