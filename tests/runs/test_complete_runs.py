from itertools import product

import pytest

from evalhub.models import BatchState
from runs.figures.states import state_of
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
