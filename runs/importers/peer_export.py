"""Export of tests and runs in the formats of peers, of what the reader may read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from evalhub.models import ItemState, User
from issues.models import Test
from issues.rubrics.scoring import WHOLE_TEST
from runs.importers.formats import inspect_ai, openai_evals, otlp, promptfoo
from runs.importers.formats.records import PeerAnswer, PeerRun, PeerScore, PeerTest
from runs.launching.imported_answers import SCORER
from runs.limits import MAX_PEER_TESTS
from runs.models import Judgment, JudgmentState, Result, Run

Reader = User | AnonymousUser
DATASETS = ("inspect", "openai_evals", "promptfoo")
RUNS = ("inspect", "otlp")
OWN_SCORE = "evalhub"


class TooMany(ValueError):
    """More than a file of a peer may hold."""


class RunFile(NamedTuple):
    """A run in a peer's form; `withheld` counts results whose text the reader may not read."""

    content: Any
    withheld: int


# Tests -------------------------------------------------------------------------------------------


def write_tests(peer: str, title: str, tests: Iterable[Test]) -> tuple[Any, list[str]]:
    """Return tests as a data set of a peer, and notes on what has no equal there."""
    found = [_of_test(test) for test in tests]
    if peer == "promptfoo":
        return promptfoo.write_tests(title, found)
    write = inspect_ai.write_dataset if peer == "inspect" else openai_evals.write_tests
    rubrics = sum(bool(test.criteria) for test in found)
    lost = [f"Left out: the rubrics of {rubrics} tests."] if rubrics else []
    return write(found), lost


def _of_test(test: Test) -> PeerTest:
    content = {"messages": test.messages, "reference": test.reference}
    criteria = [one.as_content() for one in test.criteria.all()]
    return _peer_test(test, content, test.pass_threshold, criteria)


def _peer_test(
    test: Test, content: Mapping[str, Any], threshold: float | None, criteria: Sequence[Any] = ()
) -> PeerTest:
    return PeerTest(
        key=test.source_id or str(test.pk),
        messages=content["messages"],
        reference=content.get("reference", ""),
        criteria=list(criteria),
        texts={"note": test.note},
        pass_threshold=threshold,
        extras=test.extras,
    )


# Runs --------------------------------------------------------------------------------------------


def write_run(peer: str, run: Run, reader: Reader, address: str) -> RunFile:
    """Return a run as a peer's log or traces, with the scores of its active judge run.

    Imported scores keep their names; others are one score, `evalhub`.

    Raises:
        TooMany: The run has more results than a file holds.
    """
    readable = Result.objects.readable_by(reader).filter(run=run).exclude(state=ItemState.PENDING)
    results = list(
        readable.select_related("test", "revision", "answer").order_by("pk")[: MAX_PEER_TESTS + 1]
    )
    if len(results) > MAX_PEER_TESTS:
        raise TooMany(f"The run has more than {MAX_PEER_TESTS:,} results: use results/export/.")
    tests = {  # as the run's model was asked them
        one.test_id: _peer_test(one.test, one.revision.content, one.revision.pass_threshold)
        for one in results
    }
    scores = _scores(run, results)
    answers = [_answer(result, tests[result.test_id].key, scores) for result in results]
    found = PeerRun(run.label, run.model_name, run.system_prompt, run.params, answers)
    if peer == "otlp":
        times = [_time(result, run) for result in results]
        content = otlp.write_run(found, list(tests.values()), ended=times, address=address)
    else:
        created = run.created_at.isoformat()
        content = inspect_ai.write_run(found, list(tests.values()), created=created)
    return RunFile(content, run.n_results - len(results))


def _time(result: Result, run: Run) -> datetime:
    answer = getattr(result, "answer", None)
    return answer.created_at if answer else run.finished_at or timezone.now()


def _answer(result: Result, test: str, scores: Mapping[int, list[PeerScore]]) -> PeerAnswer:
    answer = getattr(result, "answer", None)
    return PeerAnswer(
        test=test,
        text=answer.said()[-1].words if answer else "",
        repeat=result.repeat + 1,
        error="" if answer else result.error_message or "There is no answer.",
        tool_calls=[call for turn in (answer.said() if answer else []) for call in turn.tool_calls],
        latency_ms=result.latency_ms,
        cost_usd=None if result.cost_usd is None else float(result.cost_usd),
        input_tokens=result.input_tokens,
        output_tokens=result.output_tokens,
        scores=scores.get(result.pk, []),
    )


def _scores(run: Run, results: Sequence[Result]) -> dict[int, list[PeerScore]]:
    imported = _imported_scores(run, [result.pk for result in results])
    return {
        result.pk: imported.get(result.pk) or [PeerScore(OWN_SCORE, result.score, result.passed)]
        for result in results
        if imported.get(result.pk) or result.score is not None
    }


def _imported_scores(run: Run, results: Sequence[int]) -> dict[int, list[PeerScore]]:
    judgments = Judgment.objects.filter(
        judge_run__run=run,
        judge_run__is_active=True,
        judge__language_model__litellm_model__startswith=SCORER,
        result__in=results,
        criterion__key=WHOLE_TEST,
        state=JudgmentState.OK,
    )
    found = defaultdict(list)
    rows = judgments.select_related("judge__language_model").order_by("pk")
    for one in rows:
        name = one.judge.language_model.litellm_model.removeprefix(SCORER)  # type: ignore[union-attr]
        found[one.result_id].append(PeerScore(name, one.value, None, one.justification))
    return found
