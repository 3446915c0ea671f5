"""The comparability of two runs: asked before anything is concluded from both."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Exists, OuterRef

from issues.models import FrozenCriterion
from issues.rubrics.scoring import WHOLE_TEST
from runs.judging.jury import jury_identity
from runs.models import JudgeRun, Result, Run


class Comparability(StrEnum):
    COMPARABLE = "comparable"
    AFTER_REJUDGING = "after_rejudging"
    NOT = "not_comparable"


@dataclass(frozen=True)
class Comparable:
    """An answer of `comparability_of`.

    Attributes:
        reason: Why the scores cannot be compared, as a sentence; "" if they can.
    """

    verdict: Comparability
    reason: str = ""

    def __bool__(self) -> bool:
        return self.verdict == Comparability.COMPARABLE


def comparability_of(first: Run, second: Run) -> Comparable:
    """Tell whether the scores of two runs may be compared; three queries at most.

    Their revisions are compared test by test, and with them texts, criteria, templates and pass
    rules (`reports.compare.matching_rule`). Here are the two things left that change a score: the
    judges of the active judge runs, with models, parameters and prompts, and the share of
    similarity. Judges count only where a test of both runs needs them: checks alone are comparable.
    """
    if similarity_of(first) != similarity_of(second):
        return Comparable(
            Comparability.NOT,
            "Similarity to the reference answer counts differently in the scores of these runs.",
        )
    rows = JudgeRun.objects.filter(run__in=(first, second), is_active=True).defer("statistics")
    judge_runs = {judge_run.run_id: judge_run for judge_run in rows}
    juries = [judge_runs[run.pk].jury if run.pk in judge_runs else {} for run in (first, second)]
    if any(
        jury_identity(juries[0], on_rubric=on_rubric)
        != jury_identity(juries[1], on_rubric=on_rubric)
        and _share_tests(first, second, on_rubric=on_rubric)
        for on_rubric in (False, True)
    ):
        return Comparable(
            Comparability.AFTER_REJUDGING,
            "Different juries judged these runs: re-judge one with the jury of the other.",
        )
    return Comparable(Comparability.COMPARABLE)


def similarity_of(run: Run) -> tuple[Any, ...]:
    """Return how similarity to the reference enters the run's scores."""
    if not run.wants_similarity:
        return ()
    return run.similarity_weight, run.score_by_similarity, run.similarity_endpoint


def _share_tests(first: Run, second: Run, *, on_rubric: bool) -> bool:
    """Tell whether judges score a test of both runs: criteria of its rubric, or all of it."""
    criteria = FrozenCriterion.objects.filter(revision=OuterRef("revision")).exclude(key=WHOLE_TEST)
    is_judged = Exists(criteria.filter(check_name="")) if on_rubric else ~Exists(criteria)
    return Result.objects.filter(is_judged, run=first, test__results__run=second).exists()
