"""Scores that imported answers already have, as a judge run of their own.

Each name of a score is a judge that cannot be asked. Without a jury, these scores count.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from django.utils import timezone

from evalhub.models import BatchState, ItemState, LanguageModel
from issues.content.revisions import scale_of
from issues.models import FrozenCriterion
from issues.rubrics.scales import passes
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.activation import set_active
from runs.launching.answer_files import ImportedScore
from runs.launching.launch import BATCH_SIZE, add_judge_run
from runs.launching.launch_options import LaunchRefused
from runs.models import (
    NO_ANSWER,
    Approach,
    Judge,
    Judgment,
    JudgmentState,
    Result,
    ResultScore,
    Run,
)
from runs.scoring.agreement import statistics_of
from runs.scoring.score import score_result_scores

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
    errors = rows.filter(result__state=ItemState.ERROR)
    errors.update(state=ItemState.ERROR, error_kind=NO_ANSWER)
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
