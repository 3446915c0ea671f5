"""Results by the exposure of their tests, with and without tallies of the runs."""

import pytest

from reports.queries.exposure import CHOICES, only, tallies_of_tests
from runs.figures.run_tallies import count_run, mark_changed
from runs.figures.tallies import tallies_over
from runs.models import Result
from tests.factories import make_issue, make_test
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


def test_results_of_a_choice_are_counted_as_one_by_one(subtests):
    issues = make_issue(tags=("law",)), make_issue()
    some = [make_test(issue=issues[n % 2], sealed=n in (0, 3)) for n in range(6)]
    run = judged([1], [0], [1], [None], [1], [0], tests=some)
    for is_tallied in (True, False):
        if is_tallied:
            assert count_run(run.pk)
        else:
            mark_changed([run.pk])
        for tests, _ in CHOICES:
            with subtests.test(tests=tests, is_tallied=is_tallied):
                one_by_one = tallies_over(only(Result.objects.filter(run=run), tests))
                assert sorted(tallies_of_tests([run.pk], tests)) == sorted(one_by_one)
