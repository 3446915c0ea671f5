"""Which runs are complete, and which are scored and judged enough to conclude from."""

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.db import models
from django.db.models import Aggregate, Count, Exists, F, OuterRef, Q, Subquery, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.db.models.lookups import LessThanOrEqual

from evalhub.models import BatchState, LanguageModel
from runs.comparison.completeness import MIN_SCORED

if TYPE_CHECKING:
    from runs.models.run import Run  # noqa: F401 - it is named in quotes


class RunQuerySet(models.QuerySet["Run"]):
    def answered(self) -> Self:
        """Runs with every result answered or in error, judged or not."""
        return self.filter(state=BatchState.DONE)

    def complete(self) -> Self:
        """Runs with every result answered or in error, and judged: `states.state_of` is done.

        No judge run of theirs is live, and the active one, if there is any, is done.
        """
        return self.answered().filter(*_is_judged())

    def of_models(self, models: Collection[LanguageModel]) -> Self:
        """Runs of these models; all runs where none is chosen."""
        return self.filter(language_model__in=models) if models else self

    def conclusive(self, *, with_judgments: bool = False) -> Self:
        """Complete runs of which enough is scored: `completeness.is_enough`.

        Only these are compared, drawn as lines or taken as baselines.

        Args:
            with_judgments: Enough of the expected judgments were given, too. Only these are ranked
                or watched for drift.
        """
        return self.complete().filter(_is_enough(with_judgments))

    def with_conclusive(self, *, with_judgments: bool = False) -> Self:
        """Tell of each complete run as `is_conclusive` whether `conclusive` has it."""
        return self.annotate(is_conclusive=_is_enough(with_judgments))

    def inconclusive(self, *, with_judgments: bool = False) -> Self:
        """Complete runs that are left out by `conclusive`; pages list them as incomplete."""
        return self.complete().exclude(_is_enough(with_judgments))


@cache  # to write down such conditions takes longer than to ask the database
def _is_judged() -> tuple[Combinable, ...]:
    judge_runs = _rows("JudgeRun").filter(run=OuterRef("pk"))
    return (
        ~Exists(judge_runs.filter(state=BatchState.LIVE)),
        ~Exists(judge_runs.filter(is_active=True).exclude(state=BatchState.DONE)),
    )


@cache
def _is_enough(with_judgments: bool) -> Q:
    """Return the condition; without a tally it counts the rows that have or lack something."""
    lacking = _rows("Result").filter(
        run=OuterRef("pk"), judges_outcome__in=["unscored", "error", "pending"]
    )
    scored = Q(
        _may_lack(_tallied("lacking", lacking, Count("pk")), F("n_results")), n_results__gt=0
    )
    if not with_judgments:
        return scored
    scores = _rows("ResultScore").filter(judge_run__run=OuterRef("pk"), judge_run__is_active=True)
    expected = _tallied("expected", scores, Sum("expected"), "judge_run__run")
    answered = _tallied("answered", scores, Sum("answered"), "judge_run__run")
    return scored & Q(_may_lack(expected - answered, expected))


def _may_lack(lacking: Combinable, of: Combinable) -> LessThanOrEqual:
    most = of * (MIN_SCORED.denominator - MIN_SCORED.numerator)
    return LessThanOrEqual(lacking * MIN_SCORED.denominator, most)


def _tallied(
    name: str, rows: models.QuerySet[Any], counted: Aggregate, by: str = "run"
) -> Combinable:
    """Return this column of the run's exact tally, else what the rows of the run add up to."""
    tallied = _rows("RunTally").filter(run=OuterRef("pk"), version__isnull=False)
    added_up = rows.order_by().values(by).annotate(n=counted).values("n")
    found = (Subquery(tallied.values(name)), Subquery(added_up))
    return Coalesce(*found, 0, output_field=models.IntegerField())


def _rows(model: str) -> models.Manager[Any]:
    found: models.Manager[Any] = apps.get_model("runs", model)._default_manager
    return found
