"""Missing judgments of a result: none requested twice, none forgotten."""

from decimal import Decimal

import pytest
from django.utils import timezone

from evalhub.models import Call, ItemState
from issues.judge_templates.lifecycle import load_builtin_templates
from runs.judging.tasks import RETRY, judging_tasks
from runs.models import Approach, Judge, Judgment
from tests.factories import make_model
from tests.runs.rubric_runs import jury_of, rubric_run

pytestmark = pytest.mark.django_db

CHECK = {"check_name": "contains", "arguments": {"text": "Four"}}


@pytest.fixture(autouse=True)
def prompt_templates():
    load_builtin_templates()


def jury(judges=2):
    backup = Judge.objects.given(make_model(), approach=Approach.PROMPT_AWARE)
    return jury_of(judges, backup=backup)


def judged(*votes):
    """A run on one criterion with these votes of its two judges and their backup."""
    return rubric_run([{"text": "Is right."}], {"Is right.": [*votes]}, jury=jury())


def criterion_tasks(run, *, is_retry=False):
    """Return the tasks of each criterion, for a worker that claims the result score now."""
    judge_run = run.judge_runs.get()
    asked = {"error_kind": RETRY, "error_message": timezone.now().isoformat()} if is_retry else {}
    judge_run.result_scores.update(state=ItemState.PENDING, **asked)
    (judging_task,) = judging_tasks(judge_run, [judge_run.result_scores.get().pk])
    return judging_task.criterion_tasks


def asked(criterion_task):
    """Return the number of judges called, and whether the backup is or will be."""
    return (
        len(criterion_task.judge_requests),
        criterion_task.backup is not None,
        criterion_task.has_failed,
    )


@pytest.mark.parametrize(
    ("votes", "is_retry", "expected"),
    [
        ([1], False, (1, True, False)),  # a worker died between two judgments
        ([1, None], False, (0, True, True)),  # or before the backup
        ([1, None, 1], False, (0, False, True)),
        ([1, None, None], False, (0, False, True)),
        ([1, None, None], True, (1, True, False)),
    ],
)
def test_only_what_is_missing_is_asked_and_in_a_retry_what_failed(votes, is_retry, expected):
    (criterion_task,) = criterion_tasks(judged(*votes), is_retry=is_retry)
    assert asked(criterion_task) == expected


def test_retry_asks_what_failed_and_keeps_the_backup_that_answered():
    run = judged(1, None, 1)
    (criterion_task,) = criterion_tasks(run, is_retry=True)
    assert asked(criterion_task) == (1, False, False)
    assert criterion_task.judge_requests[0].judgment_id == Judgment.objects.get(value=None).pk


def test_retry_asks_for_the_samples_that_failed_only():
    often = jury_of(1)
    judge = often.judges.get()
    thrice = Judge.objects.given(judge.language_model, approach=judge.approach, samples=3)
    often.judges.set([thrice])
    run = rubric_run([{"text": "Is right."}], {"Is right.": [[1, None, 1]]}, jury=often)
    (criterion_task,) = criterion_tasks(run, is_retry=True)
    assert [judge_request.sample for judge_request in criterion_task.judge_requests] == [1]


@pytest.mark.parametrize(
    ("value", "is_retry", "is_run"), [(1, True, False), (None, False, False), (None, True, True)]
)
def test_check_is_run_again_only_where_it_failed_and_is_retried(value, is_retry, is_run):
    run = rubric_run([CHECK], {"contains": [value]})
    (criterion_task,) = criterion_tasks(run, is_retry=is_retry)
    assert (criterion_task.check_task is not None) is is_run
    assert asked(criterion_task) == (0, False, False)


def test_calls_before_the_first_judgment_count_after_a_worker_died():
    run = rubric_run([{"text": "Four"}], {}, jury=jury())
    judge_run, model = run.judge_runs.get(), make_model()
    item = judge_run.result_scores.get()
    about = {"batch": judge_run.work_key, "item_id": item.pk, "started_at": timezone.now()}
    Call.objects.create(language_model=model, role="judge", cost_usd="0.25", **about)
    (judging_task,) = judging_tasks(judge_run, [item.pk])
    assert list(judging_task.earlier.values()) == [(Decimal("0.25"), False)]
