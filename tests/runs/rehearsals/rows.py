"""Answers that both people and a judge decided, for rehearsals."""

from collections.abc import Sequence

from django.utils import timezone

from evalhub.models import ItemState
from issues.models import Test
from runs.models import (
    Assessment,
    HumanEvaluation,
    Judge,
    Judgment,
    JudgmentState,
    Result,
    Run,
)
from runs.rehearsals.models import Rehearsal
from runs.rehearsals.starting import start
from runs.rehearsals.verdicts import Chosen
from runs.scoring import score_assessments
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.reports.rows import answer, finish

Said = tuple[float | None, float | None]
"""What people said of an answer, and what the judge did; 1 passes, None: they gave no verdict."""

AGREED: list[Said] = [(1, 1), (0, 0)] * 4
MIXED: list[Said] = [(1, 1), (0, 1), (1, 1), (0, 0), (1, 0), (0, 1), (1, 1), (0, 0)] * 2


def decided(
    said: Sequence[Said] = MIXED, *, model=None, template=None, person=None, **fields
) -> Run:
    """A run with one answer of one test and issue for each pair, judged by one judge and people."""
    template = template or make_template()
    tests = [
        make_test(f"Question {n}?", template=template, issue=make_issue()) for n in range(len(said))
    ]
    run = make_run(*tests, jury=make_jury(model or make_model()), **fields)
    for result, (people, judge) in zip(answer(run), said, strict=True):
        result.answer.text = f"Answer {result.test_id}."
        result.answer.save()
        judged(run, result, judge)
        if people is not None:
            say(result, people, person=person)
    finish(run)
    return run


def judged(run: Run, result: Result, value: float | None) -> None:
    """The run's only judge gives this verdict with the test's template."""
    judging = run.judgings.get()
    Judgment.objects.create(
        judging=judging,
        result=result,
        criterion=result.revision.criteria.get(key=""),
        judge_id=judging.jury["judges"][0]["judge"],
        template=result.revision.template,
        state=JudgmentState.FAILED if value is None else JudgmentState.OK,
        option="" if value is None else str(int(value)),
        value=value,
        justification="" if value is None else f"The judge says {value} of {result.test_id}.",
        failure="unreadable" if value is None else "",
        created_at=timezone.now(),
    )
    assessments = Assessment.objects.filter(judging=judging, result=result)
    assessments.update(state=ItemState.DONE)
    score_assessments(list(assessments))


def say(result: Result, value: float | None, *, person=None, **fields) -> HumanEvaluation:
    """A person's verdict on the answer as a whole."""
    defaults = {
        "criterion": result.revision.criteria.get(key=""),
        "annotator": person or make_user("annotator"),
        "value": value,
        "option": str(int(value or 0)),
        "justification": f"People say {value} of {result.test_id}.",
    }
    return HumanEvaluation.objects.create(result=result, **(defaults | fields))


def judge_of(run: Run) -> Judge:
    return Judge.objects.get(pk=run.judgings.first().jury["judges"][0]["judge"])


def template_of(run: Run):
    return Test.objects.get(pk=run.results.order_by("pk")[0].test_id).template


def chosen_of(run: Run, **fields) -> Chosen:
    return Chosen(template_of(run), judge_of(run), **fields)


def rehearsal_of(run: Run, *, seed: int = 1, by=None, **fields) -> Rehearsal:
    return start(chosen_of(run, **fields), by=by, seed=seed)
