from itertools import islice, product

import pytest

from evalhub.models import BatchState, ItemState
from runs.completeness import is_enough
from runs.figures.states import state_of
from runs.figures.tallies import cells_of, group_of
from runs.models import JudgeRun, Run
from tests.factories import make_run, make_test

pytestmark = pytest.mark.django_db


def test_runs_are_complete_where_their_state_is_done():
    """Each state of the run, of its current judging, and of one that is not current."""
    test = make_test()
    for run_state, current, other in product(BatchState, BatchState, BatchState):
        run = make_run(test)
        run.judge_runs.update(state=current)
        JudgeRun.objects.create(run=run, number=2, jury={}, state=other)
        Run.objects.filter(pk=run.pk).update(state=run_state)
    runs = Run.objects.prefetch_related("judge_runs")
    done = {run.pk for run in runs if state_of(run, run.judge_runs.all()) == BatchState.DONE}
    assert {run.pk for run in Run.objects.complete()} == done
    assert 0 < len(done) < runs.count()


def test_run_that_nobody_judges_is_complete_once_it_is_answered():
    run = make_run()
    run.judge_runs.all().delete()
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    assert list(Run.objects.complete()) == [run]


OUTCOMES = {
    "passed": {"state": ItemState.DONE, "is_judged": True, "passed": True},
    "failed": {"state": ItemState.DONE, "is_judged": True, "passed": False},
    "unscored": {"state": ItemState.DONE, "is_judged": True},
    "error": {"state": ItemState.ERROR},
    "pending": {"state": ItemState.DONE},
}


def run_with(**counts):
    """A complete run with so many results of each outcome, as repeats of one test."""
    run = make_run(make_test(), repeats=max(1, sum(counts.values())))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)
    rows = iter(run.results.values_list("pk", flat=True))
    for outcome, n in counts.items():
        run.results.filter(pk__in=list(islice(rows, n))).update(**OUTCOMES[outcome])
    return run


@pytest.mark.parametrize("missing", ["unscored", "error", "pending"])
@pytest.mark.parametrize(("lacking", "is_conclusive"), [(0, True), (1, True), (2, False)])
def test_a_run_of_twenty_may_lack_one_score(missing, lacking, is_conclusive):
    run = run_with(passed=10, failed=10 - lacking, **{missing: lacking})

    assert Run.objects.conclusive().exists() == is_conclusive
    assert Run.objects.inconclusive().exists() != is_conclusive
    assert group_of(cells_of([run.pk])).is_enough == is_conclusive


def test_the_query_and_the_rule_agree_on_every_count():
    sizes = [(total, lacking) for total in (1, 19, 20, 21, 39, 40, 41, 60) for lacking in range(5)]
    runs = {
        run_with(passed=total - lacking, error=lacking).pk: is_enough(total - lacking, total)
        for total, lacking in sizes
        if lacking <= total
    }

    conclusive = set(Run.objects.conclusive().values_list("pk", flat=True))
    assert conclusive == {pk for pk, enough in runs.items() if enough}
    assert {run.pk for run in Run.objects.inconclusive()} == runs.keys() - conclusive


def test_a_run_without_results_concludes_nothing():
    Run.objects.filter(pk=run_with(passed=1).pk).update(n_results=0)

    assert not Run.objects.conclusive().exists()
    assert not is_enough(0, 0)


@pytest.mark.parametrize("state", sorted(set(BatchState) - {BatchState.DONE}))
def test_an_unfinished_run_is_neither(state):
    """A cancelled run is not incomplete: it was stopped on purpose, and can be resumed."""
    run = run_with(passed=20)
    Run.objects.filter(pk=run.pk).update(state=state)

    assert not Run.objects.conclusive().exists()
    assert not Run.objects.inconclusive().exists()


def test_a_run_without_judges_concludes_once_annotators_scored_it():
    run = run_with(pending=20)
    assert not Run.objects.conclusive().exists()

    run.results.update(**OUTCOMES["passed"])
    assert Run.objects.conclusive().exists()


def test_imported_answers_count_like_others():
    run = run_with(passed=1, unscored=19)
    Run.objects.filter(pk=run.pk).update(has_imported_answers=True)

    assert not Run.objects.conclusive().exists()
