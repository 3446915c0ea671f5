"""Results by the exposure of their tests, with and without tallies of the runs."""

import pytest

from reports.queries.exposure import CHOICES, only, tallies_by_issue
from runs.figures.run_tallies import count_run
from runs.figures.tallies import tallies_of
from runs.models import Result
from tests.factories import make_issue, make_test
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("tests", [key for key, _ in CHOICES])
@pytest.mark.parametrize("is_tallied", [True, False])
def test_results_of_a_choice_are_counted_as_one_by_one(tests, is_tallied):
    issues = make_issue(tags=("law",)), make_issue()
    some = [make_test(issue=issues[n % 2], sealed=n in (0, 3)) for n in range(6)]
    run = judged([1], [0], [1], [None], [1], [0], tests=some)
    if is_tallied:
        assert count_run(run.pk)

    found = tallies_by_issue([run.pk], tests, by_tags=True)

    rows = only(Result.objects.filter(run=run), tests)
    assert sorted(found) == sorted(tallies_of(rows, by_tags=True, by_issue=True))
