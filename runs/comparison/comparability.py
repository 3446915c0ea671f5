"""The comparability of two runs: asked before anything is concluded from both."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from django.db.models import FilteredRelation, Q, QuerySet
from django.urls import reverse

from evalhub.values.digest import digest
from runs.judging.jury import jury_identity
from runs.models import JudgeRun, Run


class Comparability(StrEnum):
    COMPARABLE = "comparable"
    AFTER_REJUDGING = "after_rejudging"
    NOT = "not_comparable"


@dataclass(frozen=True)
class Comparable:
    """An answer of `comparability_of`.

    Attributes:
        cause: Why the scores cannot be compared, as a clause; "" if they can.
    """

    verdict: Comparability
    cause: str = ""

    def __bool__(self) -> bool:
        return self.verdict == Comparability.COMPARABLE

    @property
    def reason(self) -> str:
        """Why the scores cannot be compared, as a sentence; "" if they can."""
        return f"{self.cause[0].upper()}{self.cause[1:]}." if self.cause else ""

    def reason_against(self, name: str) -> str:
        """Return the sentence that refuses a comparison with the run of this name."""
        return f"Not comparable with {name}: {self.cause}." if self.cause else ""

    @property
    def is_repairable(self) -> bool:
        """Re-judging one of the runs with the jury of the other makes them comparable."""
        return self.verdict == Comparability.AFTER_REJUDGING


class Scoring(NamedTuple):
    """The way a run is scored, apart from its tests.

    Attributes:
        whole: Fingerprint of what judges its tests without a rubric; "" if nothing has to.
        rubric: Fingerprint of what judges its criteria; "" if nothing has to.
        similarity: How similarity to the reference enters the scores; () if it does not.
    """

    whole: str
    rubric: str
    similarity: tuple[Any, ...]

    @property
    def key(self) -> str:
        """A digest, equal for runs of the same tests if and only if they are comparable."""
        if self.similarity:
            return digest(list(self))
        return _key_of_judges(self.whole, self.rubric)


@lru_cache(maxsize=1000)
def _key_of_judges(whole: str, rubric: str) -> str:
    """Return the key without similarity: thousands of runs share a few."""
    return digest([whole, rubric, ()])


COMPARABLE = Comparable(Comparability.COMPARABLE)
OTHER_SIMILARITY = Comparable(
    Comparability.NOT,
    "similarity to the reference answer counts differently in their scores",
)
OTHER_JURY = Comparable(Comparability.AFTER_REJUDGING, "different juries judged these runs")


def comparability(first: Scoring, second: Scoring) -> Comparable:
    """Tell whether scores made in these ways may be compared: the rule.

    Revisions are compared test by test, and with them texts, criteria, templates and pass rules
    (`reports.compare.matching_rule`). Here are the two things left that change a score: the judges
    of the active judge runs, with models, approaches, parameters and prompts, and the share of
    similarity. Judges count only where both runs have tests that need them: checks alone are
    comparable.
    """
    if first.similarity != second.similarity:
        return OTHER_SIMILARITY
    if _differ(first.whole, second.whole) or _differ(first.rubric, second.rubric):
        return OTHER_JURY
    return COMPARABLE


def _differ(first: str, second: str) -> bool:
    return bool(first and second and first != second)


def comparability_of(first: Run, second: Run) -> Comparable:
    """Tell whether the scores of two runs may be compared; one query."""
    return comparability_of_pairs([(first.pk, second.pk)])[first.pk, second.pk]


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


OWN_SCORING = ("similarity_weight", "score_by_similarity", "similarity_endpoint")
"""Columns of a run that `scoring_of` takes, beside those of its active judge run."""
SCORING = (*OWN_SCORING, "active__whole_fingerprint", "active__rubric_fingerprint")
"""Columns of `with_active` that `scoring` takes, in its order."""
NOT_JUDGED = jury_identity({}, on_rubric=False)


def scoring(
    weight: float,
    by_similarity: bool,
    embedder: dict[str, Any],
    whole: str | None,
    rubric: str | None,
) -> Scoring:
    """Return how a run is scored, from its `SCORING`.

    The fingerprints are None without an active judge run.
    """
    similarity: tuple[Any, ...] = ()
    if weight > 0 or by_similarity:
        similarity = weight, by_similarity, embedder
    return Scoring(
        NOT_JUDGED if whole is None else whole, NOT_JUDGED if rubric is None else rubric, similarity
    )


def scoring_of(run: Run, active: JudgeRun | None) -> Scoring:
    """Return how a run with this active judge run is scored; no query."""
    fingerprints = (active.whole_fingerprint, active.rubric_fingerprint) if active else (None, None)
    return scoring(*(getattr(run, name) for name in OWN_SCORING), *fingerprints)


def rejudge_url(run: int, like: int) -> str:
    """Return the page that confirms re-judging a run with the jury of another one."""
    return f"{reverse('admin:runs_run_rejudge', args=[run])}?like={like}"
