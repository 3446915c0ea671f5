"""Results by the exposure of their tests, with and without tallies of the runs."""

from collections import Counter

import pytest

from reports.queries.exposure import CHOICES, counts_of_tests, only
from runs.figures.count_rows import counts_of, version_of
from runs.figures.run_tallies import count_run
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

    found = counts_of_tests([run.pk], tests)

    rows = only(Result.objects.filter(run=run), tests)
    assert added_up(found) == added_up(counts_of(rows))
    sums = ("n", "test_ids")
    found = counts_of_tests([run.pk], tests, sums=sums)
    assert version_of(found) == version_of(counts_of(rows, sums))


def added_up(counts):
    """Add up the rows of each group; those of OPEN are counted and taken off again."""
    groups: Counter[tuple[int, ...]] = Counter()
    for *group, n in counts.tolist():
        groups[tuple(group)] += n
    return +groups
