"""Detectable change of a planned run."""

import pytest

from runs.launching.detectable_change import DEFAULT_DISCORDANCE, detectable
from runs.models import Run, Suite
from tests.factories import make_test
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def tests():
    return [make_test(f"Question {n}?") for n in range(20)]


def suite_of(*runs, **fields):
    suite = Suite.objects.create(name="s", **fields)
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(suite=suite)
    return suite


def run_of(tests, passed, **fields):
    return judged(*([float(n < passed)] for n in range(len(tests))), tests=tests, **fields)


def test_without_earlier_runs_the_usual_discordance_is_assumed():
    # Published for 200 tests of which 15 % flip: 8 points.
    found = detectable(200, None)

    assert (found.discordance, found.source) == (DEFAULT_DISCORDANCE, "assumed")
    assert found.change == pytest.approx(0.08, abs=0.0026)


def test_earlier_runs_of_the_suite_tell_how_many_flip(tests):
    first, second = run_of(tests, 10, label="March"), run_of(tests, 5, label="April")

    found = detectable(400, suite_of(first, second))

    assert (found.discordance, found.source) == (0.25, "measured from March to April")
    assert found.change == pytest.approx(0.075, abs=0.005)  # told to half a point


def test_the_baseline_goes_before_the_run_before(tests):
    runs = [run_of(tests, n) for n in (20, 10, 10)]

    assert detectable(100, suite_of(*runs, baseline=runs[0])).discordance == 0.5


def test_too_few_scored_tests_tell_nothing(tests):
    few = [run_of(tests[:5], n) for n in (5, 0)]

    assert detectable(100, suite_of(*few)).discordance == DEFAULT_DISCORDANCE


def test_a_small_suite_finds_hardly_anything():
    assert detectable(10, None).change is None


def test_no_tests_find_nothing():
    assert detectable(0, None) is None
