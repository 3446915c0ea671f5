import pytest

from runs import tallies
from runs.tallies import cells_of, counts_of, rate_of
from tests.factories import make_issue, make_jury, make_model, make_run, make_test
from tests.reports.rows import answer, fail, judge

pytestmark = pytest.mark.django_db


def judged_run(*values, tests=None, **fields):
    """A run of one judge that gave these values, in the order of the results."""
    tests = tests or [make_test() for _ in range(len(values))]
    run = make_run(*tests, jury=make_jury(make_model()), **fields)
    answer(run)
    judge(run, [[value] for value in values])
    return run


def rate(run):
    return rate_of(cells_of([run.pk]), repeats=run.repeats)


def test_only_decided_results_are_in_the_rate():
    run = judged_run(1, 1, 0, None, 1)
    fail(run, run.results.last())

    counts = counts_of(cells_of([run.pk]))

    assert counts.as_dict() == {"passed": 2, "failed": 1, "unjudged": 1, "error": 1, "pending": 0}
    assert (rate(run).passed, rate(run).n) == (2, 3)
    assert rate(run).share == pytest.approx(2 / 3)


def test_single_answers_of_equal_weight_have_wilsons_interval():
    found = rate(judged_run(1, 1, 1, 0))

    # z = 1.96, p = 3/4, n = 4: centre 0.62745, half 0.32725.
    assert found.interval == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert not found.is_resampled


def test_a_rate_of_nothing_is_not_measured():
    found = rate(make_run(make_test()))

    assert (found.n, found.share, found.interval) == (0, None, None)


def test_weights_that_differ_weigh_and_are_resampled_by_issue():
    tests = [make_test(weight=3), make_test(weight=1), make_test(weight=1)]
    found = rate(judged_run(1, 0, 0, tests=tests))

    assert found.share == pytest.approx(3 / 5)
    assert found.is_weighted
    assert found.is_resampled
    assert found.interval is not None


def test_equal_weights_other_than_one_change_nothing():
    found = rate(judged_run(1, 0, tests=[make_test(weight=2), make_test(weight=2)]))

    assert (found.share, found.is_weighted, found.is_resampled) == (0.5, False, False)


def test_repeats_are_not_counted_as_independent_answers():
    run = judged_run(1, 1, 0, 0, tests=[make_test(), make_test()], repeats=2)

    assert rate(run).is_resampled


def test_one_issue_alone_gives_no_resampled_interval():
    issue = make_issue()
    run = judged_run(1, 0, 1, 1, tests=[make_test(issue=issue), make_test(issue=issue)], repeats=2)

    assert rate(run).interval is None


def test_an_interval_is_resampled_once(monkeypatch):
    run = judged_run(1, 0, 1, 0, tests=[make_test(), make_test()], repeats=2)
    first = rate(run).interval
    monkeypatch.setattr(tallies, "clustered_interval", lambda *args, **kwargs: pytest.fail("again"))

    assert rate(run).interval == first


def test_several_runs_are_counted_in_one_query(django_assert_num_queries):
    runs = [make_run(make_test()), make_run(make_test())]

    with django_assert_num_queries(1):
        cells = cells_of([run.pk for run in runs])

    assert {cell.run_id for cell in cells} == {run.pk for run in runs}
