"""Results judged criterion by criterion, made without calling anything."""

from collections.abc import Mapping, Sequence

from django.utils import timezone

from evalhub.models import BatchState, ItemState
from issues.rubrics.scales import FIVE_CLASSES
from runs.judging.jury import frozen_jury_of
from runs.models import (
    Answer,
    Approach,
    JudgeRun,
    Judgment,
    JudgmentState,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.score import score_result_scores
from tests.factories import make_jury, make_model, make_run, make_test

Votes = Sequence[float | Sequence[float | None] | None]
"""One value for each judge, or one for each of its samples; None: that verdict failed."""

FAILED = {"state": JudgmentState.FAILED, "failure": "unreadable"}
NO_VERDICT = "No verdict was found in the reply."


def jury_of(judges, **fields):
    """Judges of models of their own, each asked about a criterion while it sees the prompt."""
    models = [make_model(name=f"judge {n} of {make_model().pk}") for n in range(judges)]
    return make_jury(*models, approaches=(Approach.PROMPT_AWARE,), **fields)


def rubric_run(criteria, votes: Mapping[str, Votes], *, answer="Four.", jury=None, **fields) -> Run:
    """A finished run of one test; `votes` by the text of a criterion, or the name of its check."""
    judges = max([len(given) for given in votes.values()] or [1])
    fields.setdefault("tests", (make_test(criteria=criteria),))
    run = make_run(*fields.pop("tests"), jury=jury or jury_of(judges), **fields)
    judge_rubrics(run, votes, answer=answer)
    return run


def judge_rubrics(run, votes: Mapping[str, Votes], *, answer="Four."):
    """Answer everything, and let judges and checks of its only judging vote."""
    judge_run = run.judge_runs.get()
    for result in run.results.select_related("revision"):
        Answer.objects.create(result=result, text=answer, turns=[])
        rows = []
        for criterion in result.revision.criteria.exclude(key=""):
            rows += _votes(judge_run, result, criterion, votes)
        Judgment.objects.bulk_create(rows)
    Result.objects.filter(run=run).update(state=ItemState.DONE, latency_ms=1500)
    result_scores = ResultScore.objects.filter(judge_run=judge_run)
    result_scores.update(state=ItemState.DONE)
    score_result_scores(list(result_scores))
    Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
    JudgeRun.objects.filter(pk=judge_run.pk).update(state=BatchState.DONE)


def _votes(judge_run, result, criterion, votes):
    given = votes.get(criterion.text or criterion.check_name, ())
    if criterion.check_name:
        return [_row(judge_run, result, criterion, value, judge=None) for value in given]
    panel = frozen_jury_of(judge_run.jury)
    frozen_judges = [*panel.frozen_judges, *([panel.backup] if panel.backup else [])]
    return [
        _row(judge_run, result, criterion, value, judge=frozen_judge, sample=sample)
        for frozen_judge, each in zip(frozen_judges, given, strict=False)
        for sample, value in enumerate(each if isinstance(each, list | tuple) else [each])
    ]


def _row(judge_run, result, criterion, value, *, judge, sample=0):
    option = next((o for o in FIVE_CLASSES.options if o.value == value), None)
    backup = judge_run.jury.get("backup")
    failed = (
        {**FAILED, "failure_message": NO_VERDICT}
        if judge
        else {
            "state": JudgmentState.FAILED,
            "failure": "check_error",
            "failure_message": "It took too long.",
        }
    )
    given = {"state": JudgmentState.OK, "justification": f"Because of {value} in {criterion}."}
    return Judgment(
        judge_run=judge_run,
        result=result,
        criterion=criterion,
        judge_id=judge.judge_id if judge else None,
        template_id=judge.rubric.template_id if judge else None,
        is_backup=bool(judge and backup and backup["judge"] == judge.judge_id),
        sample=sample,
        option=option.label if judge and option else "",
        value=value,
        created_at=timezone.now(),
        **(failed if value is None else given),
    )
