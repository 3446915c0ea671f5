"""Runs of imported answers: judged like any other run, and labelled as imported.

Scores that answers already have are a judge run of their own: each name of a score is a judge that
cannot be asked. Without a jury, these scores count.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalhub.llm.completion import AnswerTurn
from evalhub.llm.errors import CallErrorKind
from evalhub.models import BatchState, ItemState, LanguageModel, User
from evalhub.work.database import update_locked
from evalhub.work.processes.queue import request_worker
from issues.content.message_form import turns_to_generate
from issues.content.revisions import freeze, scale_of
from issues.judge_templates.prompts import turn_text
from issues.models import FrozenCriterion
from issues.rubrics.scales import passes
from issues.rubrics.scoring import WHOLE_TEST
from runs.answering.endings import Handling
from runs.answering.work import documents_in, end_without_answer, ending_of
from runs.judging.activation import set_active
from runs.launching.answer_files import ImportedAnswer, ImportedAnswerBody, ImportedScore
from runs.launching.launch import BATCH_SIZE, add_judge_run, fill, make_launch, make_run, variants
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.launching.launch_selection import Selection, select
from runs.launching.number_lists import joined
from runs.models import (
    Answer,
    Approach,
    Judge,
    Judgment,
    JudgmentState,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.agreement import statistics_of
from runs.scoring.coverage_rule import IMPORTED_ERROR
from runs.scoring.score import score_result_scores

MEASURED = ("latency_ms", "cost_usd", "input_tokens", "output_tokens")


def import_answers(spec: LaunchSpec, answers: Sequence[ImportedAnswer], *, by: User | None) -> Run:
    """Make a run with these answers, which its jury judges like any others.

    Args:
        spec: One model, the one that answered, and at most one system prompt. Tests and
            repeats are taken from the answers; a suite must be answered as a whole.

    Raises:
        LaunchRefused: See `select`; or answers are missing, duplicate or of other turns.
    """
    tests = sorted({answer.body.test for answer in answers})
    repeats = max((answer.body.repeat for answer in answers), default=1)
    named = {"tests": tests, "issues": [], "tags": [], "repeats": repeats}
    spec = spec.model_copy(update=named)
    selection = _selected(spec, answers)
    bodies = {(answer.body.test, answer.body.repeat - 1): answer.body for answer in answers}
    with transaction.atomic():
        (variant,) = variants(spec, selection.models)
        run = make_run(spec, selection, make_launch(spec, by), variant, by)
        run.has_imported_answers = True
        fill(run, spec, selection, freeze(selection.tests))
        _save(run, bodies)
        save_scores(run, {key: body.scores for key, body in bodies.items()})
        request_worker()
    return run


def _save(run: Run, bodies: dict[tuple[int, int], ImportedAnswerBody]) -> None:
    results = list(run.results.all())
    answers = []
    for result in results:
        body = bodies[result.test_id, result.repeat]
        for name in MEASURED:
            setattr(result, name, getattr(body, name))
        if body.error.strip():
            result.state = ItemState.ERROR
            result.error_kind, result.error_message = IMPORTED_ERROR, body.error
        else:
            turns = body.stored_turns()
            result.state, result.ending = ItemState.DONE, ending_of(turns)
            if run.handling(result.ending) == Handling.ERROR:
                result.state, result.error_kind = ItemState.ERROR, CallErrorKind.BROKEN_OFF.value
                result.error_message = f"The answer was {result.ending.words}."
            answers.append(_answer(result, turns))
    changed = ["state", "ending", "error_kind", "error_message", *MEASURED]
    update_locked(results, changed)
    Answer.objects.bulk_create(answers, batch_size=BATCH_SIZE)
    end_without_answer([one.pk for one in results if one.state == ItemState.ERROR])


def _answer(result: Result, turns: list[dict[str, Any]]) -> Answer:
    """Return an answer without provenance: EvalHub neither asked for it nor read a reply."""
    last = turns[-1]
    return Answer(
        result=result,
        text=turn_text(AnswerTurn.of(last)),
        turns=turns,
        tool_calls=last.get("tool_calls", []),
        documents=documents_in(turns),
        reasoning=last.get("reasoning", ""),
    )


def _selected(spec: LaunchSpec, answers: Sequence[ImportedAnswer]) -> Selection:
    problems: list[str] = []
    if len(spec.models) != 1 or len(spec.system_prompts) != 1 or len(spec.temperatures) > 1:
        problems.append("Imported answers belong to one model, system prompt and temperature.")
    problems += _answer_problems(spec, answers)
    try:
        selection = select(spec, asks=False)
    except LaunchRefused as refused:
        raise LaunchRefused([*problems, *refused.problems]) from refused
    problems += _turn_problems(answers, selection)
    if missing := [test.pk for test in selection.tests if test.pk not in spec.tests]:
        problems.append(
            f"These tests of the suite have no answer: {joined(missing)}. Send each answer, or the "
            "error in its place."
        )
    if problems:
        raise LaunchRefused(problems)
    return selection


def _turn_problems(answers: Iterable[ImportedAnswer], selection: Selection) -> list[str]:
    expected = {test.pk: len(turns_to_generate(test.messages)) for test in selection.tests}
    problems = []
    for place, body in answers:
        wanted, given = expected.get(body.test, 1), len(body.turns) or 1
        if wanted != given and not body.error.strip():
            problems.append(
                f"{place}: test {body.test} has {wanted} turns to generate, but {given} "
                f"{'is' if given == 1 else 'are'} given: send all of them as turns."
            )
    return problems


def _answer_problems(spec: LaunchSpec, answers: Iterable[ImportedAnswer]) -> list[str]:
    problems = []
    given: Counter[tuple[int, int]] = Counter()
    for place, body in answers:
        key = (body.test, body.repeat)
        given[key] += 1
        if given[key] == 2:
            repeated = f", repeat {body.repeat}" if spec.repeats > 1 else ""
            problems.append(f"{place}: test {body.test}{repeated} already has an answer.")
    for test in spec.tests:
        missing = [n for n in range(1, spec.repeats + 1) if (test, n) not in given]
        if missing:
            numbers = ", ".join(map(str, missing))
            problems.append(f"Test {test} has no answer for repeat {numbers} of {spec.repeats}.")
    return problems


# Scores -------------------------------------------------------------------------------------------


JURY = "Imported scores"
SCORER = "imported-score/"
"""Beginning of the id of a model that stands for a score's name."""

Scores = Mapping[tuple[int, int], Sequence[ImportedScore]]


def save_scores(run: Run, scores: Scores) -> None:
    """Add a judge run with these scores, by test and repeat; active if the run has no jury.

    Raises:
        LaunchRefused: A score is of a criterion that its test does not have.
    """
    names = dict.fromkeys(score.name for found in scores.values() for score in found)
    if not names:
        return
    has_jury = bool(run.judge_runs.get().jury["judges"])
    judges = {
        name: Judge.objects.given(_scorer(name), approach=Approach.TEMPLATE) for name in names
    }
    judge_run = add_judge_run(run, list(judges.values()), name=JURY, active=False)
    results = list(run.results.select_related("revision__template"))
    judgments = list(_judgments(results, scores, judges))
    for judgment in judgments:
        judgment.judge_run = judge_run
    Judgment.objects.bulk_create(judgments, batch_size=BATCH_SIZE)
    rows = ResultScore.objects.filter(judge_run=judge_run)
    rows.filter(state=ItemState.PENDING).update(state=ItemState.DONE)
    score_result_scores(list(rows))
    judge_run.state, judge_run.finished_at = BatchState.DONE, timezone.now()
    judge_run.statistics = statistics_of(judge_run.pk)
    judge_run.save(update_fields=["state", "finished_at", "statistics"])
    if not has_jury:
        set_active(judge_run)


def _scorer(name: str) -> LanguageModel:
    defaults = {"litellm_model": f"{SCORER}{name}"[:200], "is_active": False}
    return LanguageModel.objects.get_or_create(name=f"{name} (imported)", defaults=defaults)[0]


def _judgments(
    results: Sequence[Result], scores: Scores, judges: Mapping[str, Judge]
) -> Iterator[Judgment]:
    revisions = {result.revision_id for result in results}
    frozen = FrozenCriterion.objects.filter(revision__in=revisions)
    criteria = {(one.revision_id, one.key): one.pk for one in frozen.only("revision_id", "key")}
    problems = []
    for result in results:
        options = {o.value: o.label for o in scale_of(result.revision.template).options}
        samples: Counter[tuple[str, str]] = Counter()
        for score in scores[result.test_id, result.repeat]:
            criterion = criteria.get((result.revision_id, score.criterion or WHOLE_TEST))
            if criterion is None:
                problems.append(f"Test {result.test_id} has no criterion {score.criterion!r}.")
                continue
            value = value_of(score, result)
            yield Judgment(
                result=result,
                criterion_id=criterion,
                judge=judges[score.name],
                sample=samples[score.name, score.criterion],
                state=JudgmentState.OK,
                value=value,
                option=options.get(value, ""),
                justification=score.explanation,
                created_at=timezone.now(),
            )
            samples[score.name, score.criterion] += 1
    if problems:
        raise LaunchRefused(list(dict.fromkeys(problems)))


def value_of(score: ImportedScore, result: Result) -> float:
    """Return the value of a score, or 1 or 0 where it would not pass or fail as it did."""
    if score.passed is None and score.value is not None:
        return score.value
    revision = result.revision
    as_valued = passes(score.value, revision.pass_threshold, revision.pass_rule)
    if score.value is not None and as_valued == score.passed:
        return score.value
    return float(bool(score.passed))
