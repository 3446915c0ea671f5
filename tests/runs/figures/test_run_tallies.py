"""Tallies of runs: exact after every act that changes a result, never used while they are not."""

import io
import threading
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from evalhub.models import BatchState, ItemState
from runs.figures.run_tallies import (
    TALLIED,
    count_due,
    count_run,
    differences,
    summed,
    sums_over,
    uncounted,
    versions_of,
)
from runs.judging.activation import activate_when_done, set_active
from runs.lifecycle import control
from runs.lifecycle.deletion import delete_run
from runs.models import EvaluationKind, Judgment, Result, Run, RunTally, TallyRow
from runs.scoring.human_evaluation import (
    HumanVerdict,
    evaluate,
    evaluate_bulk,
    evaluate_each,
    evaluation_points_of,
    withdraw,
)
from runs.scoring.score import score_result_scores
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.reports.judged_runs import current, fail, finish, judge, judged

pytestmark = pytest.mark.django_db

BY = ("run_id", "issue_id", "tag_set_id")
NO = HumanVerdict("0", "It is wrong.")
YES = HumanVerdict("1", "It is right.")


def a_run():
    """Six results of two issues: passed, failed and without a score."""
    issues = make_issue(tags=("law",)), make_issue()
    tests = [make_test(issue=issues[n % 2], weight=1 + n % 3) for n in range(6)]
    run = judged([1], [0], [1], [None], [1], [1], tests=tests)
    run.results.update(input_tokens=3, cost_usd="0.25", latency_ms=40)
    return run


def result_of(run, n=0):
    return run.results.select_related("run", "revision", "test").order_by("pk")[n]


def retried(run):
    """The failed answer is asked for again, and given."""
    control.retry_errors(run)
    run.results.filter(state=ItemState.PENDING).update(state=ItemState.DONE, output_tokens=9)
    finish(run)


def judged_again(run):
    """A second jury fails all answers and becomes active."""
    second = control.rejudge(run, make_jury(make_model()), by=None)
    judge(run, [[0]] * 6, judge_run=second)
    finish(run)
    set_active(second)


def judged_like_another(run):
    """The jury of another run judges all answers, and becomes active when it is done."""
    other = judged(*[[1]] * 6, jury=make_jury(make_model()))
    control.rejudge_like(run, other, by=None)
    second = run.judge_runs.latest("number")
    judge(run, [[0]] * 6, judge_run=second)
    finish(run)
    activate_when_done(second.pk)


def reconsidered(run):
    """A judgment of the active judge run is replaced."""
    scores = current(run).result_scores.filter(result=result_of(run))
    Judgment.objects.filter(judge_run=current(run), result=result_of(run)).update(value=0)
    score_result_scores(scores)


def disputed_and_decided(run):
    result = result_of(run)
    evaluate(result, YES, by=make_user("annotator"))
    evaluate(result, NO, by=make_user("annotator"))
    evaluate(result, NO._replace(kind=EvaluationKind.ADJUDICATION), by=make_user("adjudicator"))


def withdrawn(run):
    by = make_user("annotator")
    evaluate(result_of(run), NO, by=by)
    evaluate(result_of(run, 1), YES, by=by)
    count_run(run.pk)
    withdraw(result_of(run), by=by)


def criterion_by_criterion(run):
    result = result_of(run)
    evaluate_each(result, [NO], evaluation_points_of(result), by=make_user("annotator"))


ACTS = {
    "a human evaluation": lambda run: evaluate(result_of(run), NO, by=make_user("annotator")),
    "human evaluations of criteria": criterion_by_criterion,
    "human evaluations in bulk": lambda run: evaluate_bulk(
        [result_of(run, n) for n in range(3)], NO, by=make_user("annotator")
    ),
    "a withdrawal": withdrawn,
    "a dispute and its final decision": disputed_and_decided,
    "another active judge run": judged_again,
    "a judge run that becomes active": judged_like_another,
    "a judgment of the active judge run": reconsidered,
    "retried answers and judgments": retried,
}


def test_a_tally_is_exact_and_has_another_version_after(subtests):
    other = a_run()
    assert count_run(other.pk)
    for act in ACTS:
        with subtests.test(act=act):
            run = a_run()
            fail(run, run.results.order_by("pk").last())
            assert count_run(run.pk)
            before = sorted(summed([run], BY, tuple(TALLIED)))
            versions = versions_of([run.pk]), versions_of([other.pk])

            ACTS[act](run)

            assert versions_of([run.pk]) is None
            assert versions_of([run.pk, other.pk]) is None
            assert versions_of([other.pk]) == versions[1]
            now = sorted(sums_over(run.results.all(), BY, tuple(TALLIED)))
            assert now != before
            assert sorted(summed([run], BY, tuple(TALLIED))) == now
            count_due()
            assert versions_of([run.pk]) not in (None, versions[0])
            assert differences(run.pk) == []
            assert sorted(summed([run, other], BY, tuple(TALLIED))) == sorted(
                sums_over(Result.objects.filter(run__in=[run, other]), BY, tuple(TALLIED))
            )


def test_a_run_at_work_is_not_counted():
    run = a_run()
    Run.objects.filter(pk=run.pk).update(state=BatchState.LIVE)
    assert not count_run(run.pk)
    assert not uncounted().exists()


@pytest.mark.django_db(transaction=True)
def test_a_result_that_is_just_being_changed_leaves_its_run_uncounted():
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite a transaction that writes is alone.")
    run, changed, go_on = a_run(), threading.Event(), threading.Event()

    def override():
        with transaction.atomic():
            evaluate(result_of(run), NO, by=make_user("annotator"))
            changed.set()
            go_on.wait(30)
        connection.close()

    thread = threading.Thread(target=override)
    thread.start()
    assert changed.wait(30)
    assert not count_run(run.pk)
    go_on.set()
    thread.join()
    assert count_run(run.pk)
    assert differences(run.pk) == []


def test_what_is_counted_tells_a_conclusive_run():
    run = a_run()
    assert not Run.objects.conclusive().filter(pk=run.pk).exists()
    count_run(run.pk)
    assert not Run.objects.conclusive().filter(pk=run.pk).exists()
    evaluate(result_of(run, 3), YES, by=make_user("annotator"))
    assert not Run.objects.conclusive().filter(pk=run.pk).exists()
    judged_again(run)
    assert Run.objects.conclusive().filter(pk=run.pk).exists()
    count_run(run.pk)
    assert Run.objects.conclusive().filter(pk=run.pk).exists()


def test_a_deleted_run_takes_its_tally_along():
    run = a_run()
    count_run(run.pk)
    delete_run(run)
    assert not TallyRow.objects.exists()
    assert not RunTally.objects.exists()


def test_the_command_finds_and_corrects_a_wrong_tally():
    run, out = a_run(), io.StringIO()
    recount = partial(call_command, "recount", stdout=out)
    recount()
    assert "counted 1 more" in out.getvalue()
    TallyRow.objects.filter(run=run, issue=run.results.earliest("pk").issue_id).update(
        weighted_score=77
    )

    for options in ({"check": True}, {}):
        with pytest.raises(CommandError, match="1 tally differed"):
            recount(**options)
    assert "weighted_score is 77.0, counted " in out.getvalue()

    recount(check=True)
    assert out.getvalue().endswith("Every tally and every cached figure equals its recount.\n")

    before = versions_of([run.pk])
    recount()
    assert versions_of([run.pk]) not in (None, before)
