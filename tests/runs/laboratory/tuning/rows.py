"""Answers with human and judge verdicts, for judge tuning."""

from collections.abc import Sequence

from django.utils import timezone

from evalhub.models import ItemState
from issues.models import Test
from runs.laboratory.tuning.labelled_answers import Selection
from runs.laboratory.tuning.models import Tuning
from runs.laboratory.tuning.start import start
from runs.models import HumanEvaluation, Judge, Judgment, JudgmentState, Result, ResultScore, Run
from runs.scoring.score import score_result_scores
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.reports.judged_runs import answer, finish

Verdicts = tuple[float | None, float | None]
"""Verdicts of annotator and judge on an answer; 1 passes, None is missing."""

AGREED: list[Verdicts] = [(1, 1), (0, 0)] * 4
MIXED: list[Verdicts] = [(1, 1), (0, 1), (1, 1), (0, 0), (1, 0), (0, 1), (1, 1), (0, 0)] * 2


def scored(
    said: Sequence[Verdicts] = MIXED, *, model=None, template=None, annotator=None, **fields
) -> Run:
    """Make a run with an answer per pair, of its own test and issue, judged by one judge."""
    template = template or make_template()
    tests = [
        make_test(f"Question {n}?", template=template, issue=make_issue()) for n in range(len(said))
    ]
    run = make_run(*tests, jury=make_jury(model or make_model()), **fields)
    for result, (annotators, judge) in zip(answer(run), said, strict=True):
        result.answer.text = f"Answer {result.test_id}."
        result.answer.save()
        judged(run, result, judge)
        if annotators is not None:
            say(result, annotators, annotator=annotator)
    finish(run)
    return run


def judged(run: Run, result: Result, value: float | None) -> None:
    """Save the verdict of the run's only judge."""
    judge_run = run.judge_runs.get()
    Judgment.objects.create(
        judge_run=judge_run,
        result=result,
        criterion=result.revision.criteria.get(key=""),
        judge_id=judge_run.jury["judges"][0]["judge"],
        template=result.revision.template,
        state=JudgmentState.FAILED if value is None else JudgmentState.OK,
        option="" if value is None else str(int(value)),
        value=value,
        justification="" if value is None else f"The judge says {value} of {result.test_id}.",
        failure="unreadable" if value is None else "",
        created_at=timezone.now(),
    )
    result_scores = ResultScore.objects.filter(judge_run=judge_run, result=result)
    result_scores.update(state=ItemState.DONE)
    score_result_scores(list(result_scores))


def say(result: Result, value: float | None, *, annotator=None, **fields) -> HumanEvaluation:
    """Save a human verdict on the answer as a whole."""
    defaults = {
        "criterion": result.revision.criteria.get(key=""),
        "annotator": annotator or make_user("annotator"),
        "value": value,
        "option": str(int(value or 0)),
        "justification": f"Human: {value} of {result.test_id}.",
    }
    return HumanEvaluation.objects.create(result=result, **(defaults | fields))


def judge_of(run: Run) -> Judge:
    return Judge.objects.get(pk=run.judge_runs.first().jury["judges"][0]["judge"])


def template_of(run: Run):
    return Test.objects.get(pk=run.results.order_by("pk")[0].test_id).template


def selection_of(run: Run, **fields) -> Selection:
    return Selection(template_of(run), judge_of(run), **fields)


def tuning_of(run: Run, *, seed: int = 1, by=None, **fields) -> Tuning:
    return start(selection_of(run, **fields), by=by, seed=seed)
