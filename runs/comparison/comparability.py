"""How runs are scored, and which of them may therefore be compared."""

from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import FilteredRelation, Q, QuerySet
from django.urls import reverse

from runs.answering.endings import Handling
from runs.comparison.comparability_rule import (
    Comparable,
    Scoring,
    comparability,
    comparability_by_test,
)
from runs.comparison.scoring_versions import Parts
from runs.judging.jury import jury_identity
from runs.models import JudgeRun, Run


def comparability_of(first: Run, second: Run) -> Comparable:
    """Tell whether the scores of two runs may be compared; one query."""
    return comparability_of_pairs([(first.pk, second.pk)])[first.pk, second.pk]


def comparability_by_test_of(first: Run, second: Run) -> tuple[Comparable, Comparable]:
    """Tell whether scores of two runs may be compared test by test, and all of them; one query.

    Where only the first is true, ask `runs.comparison.provenance.parts_by_test` which tests may.
    """
    found = scorings_of({first.pk, second.pk})
    scorings = found[first.pk], found[second.pk]
    return comparability_by_test(*scorings), comparability(*scorings)


def comparability_of_pairs(
    pairs: Iterable[tuple[int, int]],
) -> dict[tuple[int, int], Comparable]:
    """Tell for each pair of runs whether their scores may be compared; one query for all."""
    pairs = list(pairs)
    found = scorings_of({run for pair in pairs for run in pair})
    return {pair: comparability(found[pair[0]], found[pair[1]]) for pair in pairs}


def scorings_of(runs: Collection[int]) -> dict[int, Scoring]:
    """Return how each of these runs is scored; one query."""
    if not runs:
        return {}
    rows = with_active(Run.objects.filter(pk__in=runs)).order_by()
    return {pk: scoring(*row) for pk, *row in rows.values_list("pk", *SCORING)}


def with_active(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Join the active judge run of each run as `active`, for `SCORING` and other columns of it."""
    condition = Q(judge_runs__is_active=True)
    return runs.annotate(active=FilteredRelation("judge_runs", condition=condition))


OWN_SCORING = (
    *("similarity_weight", "score_by_similarity", "similarity_endpoint"),
    *("cut_off_answers", "broken_off_answers", "provenance_parts"),
)
"""Columns of a run that `scoring_of` takes, beside those of its active judge run."""
SCORING = (
    *OWN_SCORING,
    *("active__whole_fingerprint", "active__rubric_fingerprint", "active__provenance_parts"),
)
"""Columns of `with_active` that `scoring` takes, in its order."""
NOT_JUDGED = jury_identity({}, on_rubric=False)
DEFAULT_HANDLING = (Handling.JUDGED, Handling.ERROR)


def scoring(
    weight: float,
    by_similarity: bool,
    embedder: dict[str, Any],
    cut_off: str,
    broken_off: str,
    answered_with: Parts,
    whole: str | None,
    rubric: str | None,
    judged_with: Parts | None,
) -> Scoring:
    """Return how a run is scored, from its `SCORING`.

    The fingerprints and `judged_with` are None without an active judge run.
    """
    similarity: tuple[Any, ...] = ()
    if weight > 0 or by_similarity:
        similarity = weight, by_similarity, embedder
    return Scoring(
        NOT_JUDGED if whole is None else whole,
        NOT_JUDGED if rubric is None else rubric,
        similarity,
        () if (cut_off, broken_off) == DEFAULT_HANDLING else (cut_off, broken_off),
        {**answered_with, **(judged_with or {})},
    )


def scoring_of(run: Run, active: JudgeRun | None) -> Scoring:
    """Return how a run with this active judge run is scored; no query."""
    judged = [
        getattr(active, name, None)
        for name in ("whole_fingerprint", "rubric_fingerprint", "provenance_parts")
    ]
    return scoring(*(getattr(run, name) for name in OWN_SCORING), *judged)


def rejudge_url(run: int, like: int) -> str:
    """Return the page that confirms re-judging a run with the jury of another one."""
    return f"{reverse('admin:runs_run_rejudge', args=[run])}?like={like}"
