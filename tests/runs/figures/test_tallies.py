import pytest

from evalhub.statistics.rates.rate_interval import Method
from evalhub.statistics.rates.wilson import wilson_interval
from runs.figures.tallies import Score, cells_of, group_of, score_of, tallies_of_runs
from tests.factories import make_jury, make_model, make_run, make_test
from tests.reports.judged_runs import answer, fail, judge

pytestmark = pytest.mark.django_db


def judged_run(*values, tests=None, **fields):
    """A run of one judge that gave these values, in the order of the results."""
    tests = tests or [make_test() for _ in range(len(values))]
    run = make_run(*tests, jury=make_jury(make_model()), **fields)
    answer(run)
    judge(run, [[value] for value in values])
    return run


def rate(run):
    return group_of(cells_of([run.pk])).rate(answers=run.repeats)


def score(run):
    return score_of(cells_of([run.pk]))


def test_only_scored_results_are_in_the_rate():
    run = judged_run(1, 1, 0, None, 1)
    fail(run, run.results.last())

    counts = group_of(cells_of([run.pk]))

    assert counts.as_dict() == {"passed": 2, "failed": 1, "unscored": 1, "error": 1, "pending": 0}
    assert (rate(run).passed, rate(run).n) == (2, 3)
    assert rate(run).share == pytest.approx(2 / 3)


def test_single_answers_of_equal_weight_have_wilsons_interval():
    found = rate(judged_run(1, 1, 1, 0))

    # z = 1.96, p = 3/4, n = 4: centre 0.62745, half 0.32725.
    assert found.interval == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert found.method == "Wilson by test, does not account for issues"


def test_of_nothing_neither_rate_nor_score_is_measured():
    run = make_run(make_test())
    found = rate(run)

    assert (found.n, found.share, found.interval) == (0, None, None)
    assert score(run) == Score(None, 0, None, total=1)


def test_weights_change_the_score_and_no_pass_rate():
    tests = [make_test(weight=3), make_test(weight=1), make_test(weight=1)]
    run = judged_run(1, 0, 0, tests=tests)

    assert (rate(run).passed, rate(run).n, rate(run).share) == (1, 3, pytest.approx(1 / 3))
    # (3 · 1 + 1 · 0 + 1 · 0) / 5
    assert score(run).mean == pytest.approx(3 / 5)
    assert score(run).interval is None  # of 3 issues


def test_the_score_is_of_those_that_have_one():
    run = judged_run(1, 0.25, None, tests=[make_test(weight=2), make_test(), make_test(weight=9)])

    # (2 · 1 + 1 · 0.25) / 3
    assert (score(run).mean, score(run).n) == (pytest.approx(0.75), 2)


def test_repeats_are_not_counted_as_independent_answers():
    run = judged_run(1, 1, 0, 0, tests=[make_test(), make_test()], repeats=2)

    assert rate(run).interval == wilson_interval(1, 2)


def test_from_five_issues_on_intervals_account_for_them():
    run = judged_run(1, 0, 1, 1, 1, 0)

    assert rate(run).method == Method.BY_ISSUE
    assert score(run).interval is not None


def test_several_runs_are_counted_in_two_queries(django_assert_num_queries):
    runs = [make_run(make_test()), make_run(make_test())]

    with django_assert_num_queries(2):
        cells = cells_of([run.pk for run in runs])

    assert {cell.run_id for cell in cells} == {run.pk for run in runs}


@pytest.mark.parametrize("repeats", [1, 3])
def test_in_brief_a_run_has_the_same_figures(repeats):
    tests = [make_test(weight=weight) for weight in (3, 1, 1, 1)]
    run = judged_run(*[1, 0, 1, None] * repeats, tests=tests, repeats=repeats)
    fail(run, run.results.first())

    brief, full = tallies_of_runs([run]), cells_of([run.pk])

    assert group_of(brief) == group_of(full)
    assert group_of(brief).rate(answers=repeats) == group_of(full).rate(answers=repeats)
    assert score_of(brief).mean == pytest.approx(score_of(full).mean)
