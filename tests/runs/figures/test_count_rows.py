"""Counts of many runs as one array, and the groups made of them."""

import numpy as np
import pytest
from django.db.models import Q

from evalhub.statistics.rates.rate_interval import Method, rate_interval
from runs.figures.count_rows import (
    OUTCOME,
    RUN,
    N,
    counts_of,
    counts_of_runs,
    grouped_counts,
    is_scored,
    mapped,
    spread,
    version_of,
    without,
)
from runs.figures.run_tallies import count_run, mark_changed
from runs.figures.tallies import OUTCOMES, Group
from runs.models import Result
from tests.factories import make_issue, make_test
from tests.reports.judged_runs import judged


def rows(*found):
    """Rows of (run, tag set, issue, outcome, n)."""
    places = [(run, tags, issue, OUTCOMES.index(name), n) for run, tags, issue, name, n in found]
    return np.array(places, dtype=np.int64).reshape(-1, 5)


ROWS = rows(
    (1, 7, 100, "passed", 3),
    (1, 7, 100, "failed", 1),
    (1, 8, 200, "error", 2),
    (2, 7, 100, "passed", 5),
    (2, 8, 100, "unscored", 1),
)


def by_run(counts):
    return grouped_counts(counts, mapped(counts[:, RUN], {1: 0, 2: 1}.__getitem__), ["a", "b"])


SUMS = ("n", "test_ids")


def seen(groups):
    return {key: (group.counts, group.rate(answers=1)) for key, group in groups.items()}


def test_a_group_is_what_its_rows_add_up_to():
    one_by_one = {"a": Group(), "b": Group()}
    for run, _, issue, outcome, n in ROWS.tolist():
        one_by_one["ab"[run - 1]].add(issue, OUTCOMES[outcome], n)

    assert seen(by_run(ROWS)) == seen(one_by_one)
    assert by_run(ROWS)["a"].rate(answers=1).passed == 3


def test_the_issues_of_a_group_make_its_interval():
    results = {100: (9, 1), 200: (1, 4), 300: (0, 0), 400: (5, 5), 500: (7, 0), 600: (0, 3)}
    found = rows(
        *((1, 7, issue, "passed", passed) for issue, (passed, _) in results.items()),
        *((1, 7, issue, "failed", failed) for issue, (_, failed) in results.items()),
    )

    rate = by_run(found)["a"].rate(answers=1)

    issues = [(passed, passed + failed) for passed, failed in results.values()]
    assert rate.interval == rate_interval(issues).interval
    assert rate.method is Method.BY_ISSUE


def test_a_key_without_results_has_no_group():
    assert by_run(ROWS[ROWS[:, RUN] == 2]).keys() == {"b"}
    assert by_run(rows()) == {}


def test_what_is_counted_twice_is_left_out():
    left = by_run(without(ROWS, ROWS[ROWS[:, RUN] == 1]))
    assert seen(left) == seen(by_run(ROWS[ROWS[:, RUN] == 2]))
    assert by_run(without(ROWS, ROWS)) == {}


def test_a_row_is_repeated_for_each_part_of_its_key():
    found = spread(np.array([7, 8, 7]), {7: [0, 4], 8: []})

    assert sorted(zip(*(part.tolist() for part in found), strict=True)) == [
        (0, 0),
        (0, 4),
        (2, 0),
        (2, 4),
    ]


def test_errors_and_unscored_results_are_not_scored():
    assert ROWS[is_scored(ROWS)][:, N].tolist() == [3, 1, 5]


@pytest.mark.django_db
@pytest.mark.parametrize("is_exact", [True, False])
def test_tallied_and_other_runs_are_counted_alike(is_exact):
    issues = make_issue(tags=("law",)), make_issue()
    tests = [make_test(issue=issues[n % 2]) for n in range(4)]
    first = judged([1], [0], [1], [None], tests=tests)
    second = judged([1], [1], [0], [0], tests=tests)
    assert count_run(first.pk)
    if not is_exact:
        mark_changed([first.pk])

    found = counts_of_runs([first, second])

    every = counts_of(Result.objects.filter(run__in=[first.pk, second.pk]))
    assert sorted(found.tolist()) == sorted(every.tolist())
    assert found[:, N].sum() == 8
    of_one = counts_of_runs([first, second], Q(issue=issues[1]))
    passed = OUTCOMES.index("passed")
    assert of_one[of_one[:, OUTCOME] == passed][:, N].sum() == 1


@pytest.mark.django_db
def test_a_version_tells_which_tests_passed_but_not_where_it_was_read():
    issue = make_issue()
    tests = [make_test(issue=issue) for _ in range(3)]
    run = judged([1], [1], [0], tests=tests)
    found = [version_of(counts_of_runs([run], sums=SUMS))]
    assert count_run(run.pk)
    found.append(version_of(counts_of_runs([run], sums=SUMS)))
    run.results.filter(test=tests[1]).update(passed=False)
    run.results.filter(test=tests[2]).update(passed=True)
    mark_changed([run.pk])

    assert found[0] == found[1] != version_of(counts_of_runs([run], sums=SUMS))
