"""Import of GRAFITE runs: answers with votes of judges and annotators, scored like any other."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Model
from django.utils import timezone

from evalhub.models import ItemState, LanguageModel
from evalhub.values.digest import digest
from issues.content.revisions import freeze, scale_of
from issues.models import FrozenCriterion, JudgeTemplate, Test
from issues.rubrics.scoring import WHOLE_TEST
from runs.importers.accounts import Accounts
from runs.importers.grafite.records import ResultRecord, RunRecord, Tally, Vote
from runs.launching.launch import BATCH_SIZE, add_judge_run, add_results, variant_key
from runs.models import (
    NO_ANSWER,
    Answer,
    ChosenBy,
    HumanEvaluation,
    Judge,
    JudgeRun,
    Judgment,
    JudgmentState,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.agreement import statistics_of
from runs.scoring.coverage_rule import IMPORTED_ERROR
from runs.scoring.score import score_result_scores

JURY = "GRAFITE"


class Imported(NamedTuple):
    """A result with its source record."""

    result: Result
    record: ResultRecord
    criterion_id: int
    options: dict[float, str]
    """Labels of the test's scale, by value."""


def load_runs(
    records: Sequence[RunRecord], accounts: Accounts, templates: dict[str, JudgeTemplate]
) -> list[Tally]:
    """Add new runs."""
    new = new_among(records, Run)
    for record in new:
        _load_run(record, accounts, templates)
    found, added = (sum(map(_count, rows), Counter[str]()) for rows in (records, new))
    return [Tally(kind, found[kind], added[kind]) for kind in COUNTED]


def new_among(records: Iterable[Any], model: type[Model]) -> list[Any]:
    """Return the records of which there is no row yet."""
    rows = model._default_manager.exclude(source_id="")
    known = set(rows.values_list("source_id", flat=True))
    return [record for record in records if record.source_id not in known]


COUNTED = (
    "runs",
    "results",
    "judgments",
    "failed judgments",
    "human evaluations",
    "votes on a provider's error, left out",
)


def _count(record: RunRecord) -> Counter[str]:
    """Count the rows of a run, by kind."""
    votes = [vote for result in record.results if not result.error for vote in result.votes]
    return Counter(
        {
            "runs": 1,
            "results": len(record.results),
            "judgments": sum(not vote.is_human for vote in votes),
            "failed judgments": sum(vote.value is None for vote in votes),
            "human evaluations": sum(vote.is_human for vote in votes),
            COUNTED[-1]: sum(len(result.votes) for result in record.results if result.error),
        }
    )


def _load_run(record: RunRecord, accounts: Accounts, templates: dict[str, JudgeTemplate]) -> None:
    tests = _tests(record, templates)
    revisions = freeze(tests)
    run = _make_run(record, accounts)
    run.suite_fingerprint = digest(sorted([revisions[t.pk].digest, t.weight] for t in tests))
    run.save()
    add_results(run, tests, revisions)
    voters = [v.voter for result in record.results for v in result.votes if not v.is_human]
    names = dict.fromkeys([*record.judges, *voters])
    judges = {name: Judge.objects.given(_model(name)) for name in names}
    judge_run = add_judge_run(run, list(judges.values()), name=JURY if judges else "", active=True)
    _end(run, judge_run, record)
    imported = _imported(run, record)
    _answer(imported)
    _judge(judge_run, imported, judges, run.finished_at or run.created_at)
    _evaluate(imported, accounts, run.finished_at or run.created_at)
    score_result_scores(list(ResultScore.objects.filter(judge_run=judge_run)))
    JudgeRun.objects.filter(pk=judge_run.pk).update(statistics=statistics_of(judge_run.pk))


def _tests(record: RunRecord, templates: dict[str, JudgeTemplate]) -> list[Test]:
    """Return the run's tests as they were then, which may differ from now."""
    then = {result.test_id: result for result in record.results}
    rows = Test.objects.filter(source_id__in=then).select_related("issue", "template")
    tests = list(rows.prefetch_related("tags", "issue__tags").order_by("pk"))
    for test in tests:
        result = then[test.source_id]
        template = {"template": templates[result.template]} if result.template else {}
        for name, value in {**result.fields, **template}.items():
            setattr(test, name, value)
    return tests


# The run and its judging -------------------------------------------------------------------------


def _make_run(record: RunRecord, accounts: Accounts) -> Run:
    model = _model(record.model, record.provider)
    return Run(
        label=record.source_id,
        language_model=model,
        model_name=model.name,
        endpoint=model.endpoint().to_json(),
        params=record.params,
        variant_key=variant_key(model, "", record.params),
        has_imported_answers=True,
        is_scripted=model.is_scripted,
        **record.ended,
        requested_by=accounts.author(record.creator),
        source_id=record.source_id,
    )


def _model(name: str, provider: str = "ollama") -> LanguageModel:
    """Return the language model of this name; create an inactive one if needed."""
    defaults = {"litellm_model": f"{provider}/{name}", "is_active": False}
    return LanguageModel.objects.get_or_create(name=name, defaults=defaults)[0]


def _end(run: Run, judge_run: JudgeRun, record: RunRecord) -> None:
    """Set the run's original dates and mark it as done."""
    run.created_at = run.started_at = record.created_at or timezone.now()
    if record.elapsed_s is not None:
        run.finished_at = run.created_at + timedelta(seconds=record.elapsed_s)
    for batch in (run, judge_run):
        type(batch)._default_manager.filter(pk=batch.pk).update(
            **record.ended,
            created_at=run.created_at,
            started_at=run.started_at,
            finished_at=run.finished_at,
        )
    # The judges' prompts differ from ours, so only judge runs with the same are comparable.
    prompts = sorted({digest(result.judge_prompt) for result in record.results})
    names = ("jury_fingerprint", "whole_fingerprint", "rubric_fingerprint")
    for name in names:
        if before := getattr(judge_run, name):
            setattr(judge_run, name, digest([before, record.judge_system_prompt, prompts]))
    judge_run.save(update_fields=names)


# Its results -------------------------------------------------------------------------------------


def _imported(run: Run, record: RunRecord) -> list[Imported]:
    results = Result.objects.filter(run=run).select_related("test", "revision__template")
    by_test = {result.test.source_id: result for result in results}
    revisions = [result.revision_id for result in by_test.values()]
    whole = FrozenCriterion.objects.filter(revision__in=revisions, key=WHOLE_TEST)
    criteria = dict(whole.values_list("revision_id", "pk"))
    imported = []
    for item in record.results:
        result = by_test[item.test_id]
        scale = scale_of(result.revision.template)
        options = {option.value: option.label for option in scale.options}
        imported.append(Imported(result, item, criteria[result.revision_id], options))
    return imported


def _answer(imported: Iterable[Imported]) -> None:
    answers, answered = [], []
    for result, record, *_ in imported:
        if record.error:
            Result.objects.filter(pk=result.pk).update(
                state=ItemState.ERROR, error_kind=IMPORTED_ERROR, error_message=record.error
            )
            ResultScore.objects.filter(result=result).update(
                state=ItemState.ERROR, error_kind=NO_ANSWER
            )
        else:
            turns = [{"content": record.answer, "call": None}]
            answers.append(Answer(result=result, text=record.answer, turns=turns))
            answered.append(result.pk)
    Answer.objects.bulk_create(answers, batch_size=BATCH_SIZE)
    Result.objects.filter(pk__in=answered).update(state=ItemState.DONE)
    ResultScore.objects.filter(result__in=answered).update(state=ItemState.DONE)


def _judge(
    judge_run: JudgeRun, imported: Iterable[Imported], judges: dict[str, Judge], at: datetime
) -> None:
    judgments = []
    for item in imported:
        samples: Counter[str] = Counter()
        for vote in item.record.votes:
            if not vote.is_human and not item.record.error:
                judgment = _judgment(item, vote, samples[vote.voter])
                judgment.judge_run, judgment.judge = judge_run, judges[vote.voter]
                judgment.created_at = at
                judgments.append(judgment)
                samples[vote.voter] += 1
    Judgment.objects.bulk_create(judgments, batch_size=BATCH_SIZE)


def _judgment(item: Imported, vote: Vote, sample: int) -> Judgment:
    judgment = Judgment(result=item.result, criterion_id=item.criterion_id, sample=sample)
    if vote.value is None:
        judgment.state, judgment.failure = JudgmentState.FAILED, IMPORTED_ERROR
        judgment.failure_message = vote.justification
    else:
        judgment.state, judgment.value = JudgmentState.OK, vote.value
        judgment.option = item.options.get(vote.value, "")
        judgment.justification = vote.justification
    return judgment


def _evaluate(imported: Iterable[Imported], accounts: Accounts, at: datetime) -> None:
    """Import annotators' votes with the run's date, for their own is unknown."""
    for item in imported:
        for vote in item.record.votes:
            if vote.is_human and not item.record.error:
                row = HumanEvaluation.objects.create(
                    result=item.result,
                    criterion_id=item.criterion_id,
                    annotator=accounts.account(vote.voter),
                    value=vote.value,
                    option=item.options.get(vote.value or 0.0, ""),
                    justification=vote.justification,
                    chosen_by=ChosenBy.IMPORTED,
                )
                HumanEvaluation.objects.filter(pk=row.pk).update(created_at=at)
