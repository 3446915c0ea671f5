"""Pause, resume, cancel, retry, re-judge: effects and refusals."""

import pytest
from django.utils import timezone

from evalhub.models import BatchState, ItemState
from evalhub.refusals import NotPossible
from evalhub.work.progress import counts
from runs.judging.tasks import RETRY
from runs.lifecycle import control
from runs.models import NO_ANSWER, Judge, JudgeRun, Run
from tests.factories import make_jury, make_model, make_run, make_test

pytestmark = pytest.mark.django_db


def run_with(*, judges=1, state=BatchState.LIVE, tests=2, **fields):
    jury = make_jury(*[make_model() for _ in range(judges)])
    run = make_run(*[make_test(f"Question {k}") for k in range(tests)], jury=jury, **fields)
    Run.objects.filter(pk=run.pk).update(state=state)
    run.refresh_from_db()
    return run


def states(run):
    run.refresh_from_db()
    return [run.state, *run.judge_runs.order_by("number").values_list("state", flat=True)]


def with_error(run):
    """The first result has ended in an error, as a worker leaves it."""
    result = run.results.order_by("pk").first()
    run.results.filter(pk=result.pk).update(state=ItemState.ERROR, error_kind="timed_out")
    result.result_scores.update(state=ItemState.ERROR, error_kind=NO_ANSWER)
    return result


def test_pause_and_resume_take_the_judge_run_along():
    run = run_with()
    control.pause_run(run)
    assert states(run) == [BatchState.PAUSED] * 2
    control.resume_run(run)
    assert states(run) == [BatchState.LIVE] * 2


@pytest.mark.parametrize(
    ("act", "state"),
    [
        (control.pause_run, BatchState.DONE),
        (control.cancel_run, BatchState.DONE),
        (control.resume_run, BatchState.LIVE),
    ],
)
def test_act_that_cannot_be_done_says_why(act, state):
    run = run_with(state=state)
    run.judge_runs.update(state=state)
    with pytest.raises(NotPossible, match=run.label):
        act(run)


def test_cancel_marks_what_was_not_done_and_resume_does_it_after_all():
    run = run_with()
    done = run.results.order_by("pk").first()
    run.results.filter(pk=done.pk).update(state=ItemState.DONE)
    control.cancel_run(run)
    assert counts(run.results.all()) == {"pending": 0, "done": 1, "error": 0, "cancelled": 1}
    control.resume_run(run)
    assert counts(run.results.all()) == {"pending": 1, "done": 1, "error": 0, "cancelled": 0}
    assert states(run) == [BatchState.LIVE] * 2


def test_retry_reopens_the_error_and_its_result_score():
    run = run_with(state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)
    result = with_error(run)

    assert control.retry_errors(run) == 1

    assert states(run) == [BatchState.LIVE] * 2
    assert result.result_scores.get().state == ItemState.PENDING


def test_retry_lets_every_judge_run_wait_for_the_answer():
    run = run_with(state=BatchState.DONE)
    control.rejudge(run, None, by=None)
    run.judge_runs.update(state=BatchState.DONE)
    result = with_error(run)

    control.retry_errors(run)

    assert set(result.result_scores.values_list("state", flat=True)) == {ItemState.PENDING}
    assert states(run) == [BatchState.LIVE] * 3


def test_retry_does_not_resume_what_was_paused():
    run = run_with(state=BatchState.PAUSED)
    with_error(run)
    assert control.retry_errors(run) == 1
    assert states(run)[0] == BatchState.PAUSED


def test_retry_without_an_error_says_so():
    with pytest.raises(NotPossible, match="no errors"):
        control.retry_errors(run_with())


def test_result_score_to_be_retried_says_so_until_it_is_done():
    run = run_with(tests=1)
    run.results.update(state=ItemState.DONE)
    run.judge_runs.get().result_scores.update(state=ItemState.ERROR, error_kind="internal")
    assert control.retry_errors(run) == 1
    result_score = run.judge_runs.get().result_scores.get()
    assert (result_score.state, result_score.error_kind) == (ItemState.PENDING, RETRY)


# Judging again -----------------------------------------------------------------------------------


def test_judge_run_again_stands_beside_the_current_one():
    run = run_with()
    second = control.rejudge(run, make_jury(make_model()), by=None)
    assert (second.number, second.is_active) == (2, False)
    assert second.result_scores.count() == 2


def test_same_judges_are_asked_where_no_jury_is_named():
    run = run_with(judges=2)
    second = control.rejudge(run, None, by=None)
    assert [j["judge"] for j in second.jury["judges"]] == [
        j["judge"] for j in run.judge_runs.first().jury["judges"]
    ]


def test_run_does_not_judge_itself_without_consent():
    candidate = make_model()
    run = run_with(model=candidate)
    with pytest.raises(NotPossible, match="its own answers"):
        control.rejudge(run, make_jury(candidate), by=None)
    Run.objects.filter(pk=run.pk).update(self_evaluation_allowed=True)
    run.refresh_from_db()
    control.rejudge(run, make_jury(candidate), by=None)


@pytest.mark.parametrize(
    ("jury", "run_fields", "why"),
    [
        (list, {}, "no judge"),
        (lambda: [make_model(is_active=False)], {}, "inactive"),
        (lambda: [make_model()], {"cost_limit_usd": 1}, "prices"),
    ],
)
def test_jury_that_cannot_judge_is_refused_in_words(jury, run_fields, why):
    run = run_with(**run_fields)
    with pytest.raises(NotPossible, match=why):
        control.rejudge(run, make_jury(*jury()), by=None)
    assert JudgeRun.objects.count() == 1


def test_test_without_template_is_refused_where_judges_go_by_it():
    run = run_with(tests=1)
    revision = run.results.get().revision
    type(revision).objects.filter(pk=revision.pk).update(template=None)
    with pytest.raises(NotPossible, match="without a judge template"):
        control.rejudge(run, None, by=None)


def test_judge_run_again_without_a_jury_keeps_the_backup():
    backup = Judge.objects.given(make_model())
    run = make_run(jury=make_jury(make_model(), backup=backup))

    judge_run = control.rejudge(run, None, by=None)

    assert judge_run.jury["backup"]["judge"] == backup.pk
    assert judge_run.jury_fingerprint == run.judge_runs.get(number=1).jury_fingerprint


def test_a_backup_that_is_the_candidate_judges_nothing_again():
    model = make_model()
    run = make_run(model=model, jury=make_jury(make_model()))
    jury = make_jury(make_model(), backup=Judge.objects.given(model))

    with pytest.raises(NotPossible, match="its own answers"):
        control.rejudge(run, jury, by=None)


def test_what_a_retry_leaves_is_not_counted_as_retryable():
    assert control.retryable(Run(has_imported_answers=True), 3, 2) == 2
    assert control.retryable(Run(texts_removed_at=timezone.now()), 3, 2) == 3
