from itertools import islice, product

import pytest

from evalhub.models import BatchState, ItemState
from runs.comparison.completeness import is_enough
from runs.figures.states import state_of
from runs.figures.tallies import cells_of, group_of
from runs.models import JudgeRun, Run
from tests.factories import make_model, make_run, make_test
from tests.reports.scored_runs import as_judged

pytestmark = pytest.mark.django_db


def test_runs_are_complete_where_their_state_is_done():
    """Each state of the run, of its current judging, and of one that is not current."""
    model, unjudged = make_model(), make_run()
    unjudged.judge_runs.all().delete()
    Run.objects.filter(pk=unjudged.pk).update(state=BatchState.DONE)
    states = list(product(BatchState, BatchState, BatchState))
    common = {"language_model": model, "model_name": model.name, "endpoint": unjudged.endpoint}
    made = Run.objects.bulk_create(
        Run(label="run", variant_key="v", suite_fingerprint="s", state=state, **common)
        for state, _, _ in states
    )
    JudgeRun.objects.bulk_create(
        JudgeRun(run=run, number=number, jury={}, state=state, is_active=number == 1)
        for run, (_, *judging) in zip(made, states, strict=True)
        for number, state in enumerate(judging, 1)
    )

    runs = Run.objects.prefetch_related("judge_runs")
    done = {run.pk for run in runs if state_of(run, run.judge_runs.all()) == BatchState.DONE}
    assert {run.pk for run in Run.objects.complete()} == done
    assert unjudged.pk in done  # Nobody judges it: it is complete once it is answered.
    assert 1 < len(done) < runs.count()


OUTCOMES = {
    "passed": {"state": ItemState.DONE, **as_judged(1)},
    "failed": {"state": ItemState.DONE, **as_judged(0)},
    "unscored": {"state": ItemState.DONE, **as_judged(None)},
    "error": {"state": ItemState.ERROR},
    "pending": {"state": ItemState.DONE},
}


def run_with(test=None, **counts):
    """A complete run with so many results of each outcome, as repeats of one test."""
    run = make_run(test or make_test(), repeats=max(1, sum(counts.values())))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)
    rows = iter(run.results.values_list("pk", flat=True))
    for outcome, n in counts.items():
        run.results.filter(pk__in=list(islice(rows, n))).update(**OUTCOMES[outcome])
    return run


def test_a_run_of_twenty_may_lack_one_score(subtests):
    test = make_test()
    for missing, lacking in product(("unscored", "error", "pending"), (0, 1, 2)):
        run = run_with(test, passed=10, failed=10 - lacking, **{missing: lacking})
        Run.objects.filter(pk=run.pk).update(has_imported_answers=missing == "unscored")
        mine, is_conclusive = Run.objects.filter(pk=run.pk), lacking < 2
        with subtests.test(missing, lacking=lacking):
            assert mine.conclusive().exists() == is_conclusive
            assert mine.inconclusive().exists() != is_conclusive
            assert group_of(cells_of([run.pk])).is_enough == is_conclusive


def test_the_query_and_the_rule_agree_on_every_count():
    test = make_test()
    sizes = [(1, 0), (1, 1), (19, 0), (19, 1), (20, 1), (20, 2), (21, 1), (21, 2), (39, 1)]
    sizes += [(39, 2), (40, 2), (40, 3), (41, 2), (41, 3), (60, 3), (60, 4)]
    runs = {
        run_with(test, passed=total - lacking, error=lacking).pk: is_enough(total - lacking, total)
        for total, lacking in sizes
    }

    conclusive = set(Run.objects.conclusive().values_list("pk", flat=True))
    assert conclusive == {pk for pk, enough in runs.items() if enough}
    assert {run.pk for run in Run.objects.inconclusive()} == runs.keys() - conclusive
    assert conclusive


def test_an_unfinished_run_is_neither(subtests):
    """A cancelled run is not incomplete: it was stopped on purpose, and can be resumed."""
    run_with(passed=20)
    assert Run.objects.conclusive().exists()
    for state in set(BatchState) - {BatchState.DONE}:
        with subtests.test(state):
            Run.objects.update(state=state)
            assert not Run.objects.conclusive().exists()
            assert not Run.objects.inconclusive().exists()
    Run.objects.update(n_results=0, state=BatchState.DONE)
    assert not Run.objects.conclusive().exists()
    assert not is_enough(0, 0)


def test_what_annotators_alone_scored_is_compared_with_nothing():
    run = run_with(pending=20)
    run.results.update(is_judged=True, passed=True, score=1, is_overridden=True)

    assert not Run.objects.conclusive().exists()
