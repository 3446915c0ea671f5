"""The pass rate of issues in one run of a chosen model, for lists of issues."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from evalhub.models import LanguageModel
from runs.comparison.baselines import is_baseline, newest_baseline, newest_baseline_of
from runs.comparison.comparability import comparability_of
from runs.comparison.release_order import newest_first
from runs.models import Outcome, Result, Run

MAX_TRIED = 10
"""Newest runs of the model that are tried for comparability with their suite's baseline."""


class IssueRate(NamedTuple):
    """Results of an issue: passed, scored, and all."""

    passed: int
    scored: int
    total: int


@dataclass(frozen=True)
class RateRun:
    """The run whose pass rates a list of issues shows.

    Attributes:
        model: None where no model has a conclusive run.
        run: None where the model has none that is comparable.
    """

    model: LanguageModel | None
    run: Run | None

    @cached_property
    def is_baseline(self) -> bool:
        return self.run is not None and is_baseline(self.run)

    @property
    def name(self) -> str:
        """Such as "GPT-5, Nightly 12 (baseline)"; "" without a model."""
        if self.model is None:
            return ""
        if self.run is None:
            return f"{self.model}, no complete run"
        return f"{self.model}, {self.run.label}{' (baseline)' if self.is_baseline else ''}"


def models_with_runs() -> QuerySet[LanguageModel]:
    """Return the models with a conclusive run, by name."""
    has_runs = Exists(Run.objects.conclusive().filter(language_model=OuterRef("pk")))
    return LanguageModel.objects.filter(has_runs).order_by("name", "pk")


def rate_run_of(model: int | None) -> RateRun:
    """Return the run to show: the model's baseline, else its newest conclusive comparable run.

    A run is comparable if it is so with its suite's newest baseline, whichever model's that is.

    Args:
        model: Id of the model; None or unknown: that of the newest baseline, else the first by
            name. Never that of whichever run ended last.
    """
    chosen = LanguageModel.objects.filter(pk=model).first() if model else None
    pinned = newest_baseline(chosen)
    if pinned is not None:
        return RateRun(pinned.language_model, pinned)
    chosen = chosen or models_with_runs().first()
    runs = Run.objects.conclusive().filter(language_model=chosen).select_related("suite")
    newest = [one.run for one in newest_first(runs)[:MAX_TRIED]]
    rows = runs.in_bulk(newest)
    return RateRun(chosen, next((rows[pk] for pk in newest if _is_comparable(rows[pk])), None))


def _is_comparable(run: Run) -> bool:
    baseline = newest_baseline_of(run.suite)
    return baseline is None or bool(comparability_of(baseline, run))


def counted(run: Run | None) -> QuerySet[Any]:
    """Return `issue_id`, `passed`, `scored` and `total` of each issue with a score in the run."""
    rows = Result.objects.filter(run=run) if run else Result.objects.none()
    passed = Q(outcome=Outcome.PASSED)
    rates = rows.order_by().values("issue_id")
    counts: QuerySet[Any] = rates.annotate(
        passed=Count("pk", filter=passed),
        scored=Count("pk", filter=passed | Q(outcome=Outcome.FAILED)),
        total=Count("pk"),
    )
    return counts.filter(scored__gt=0)


def rates_in(run: Run | None, issues: Collection[int] | None = None) -> dict[int, IssueRate]:
    """Return the rates by issue; None: of all issues of the run."""
    rows = counted(run) if issues is None else counted(run).filter(issue__in=issues)
    columns = rows.values_list("issue_id", "passed", "scored", "total")
    return {issue: IssueRate(*rate) for issue, *rate in columns}
