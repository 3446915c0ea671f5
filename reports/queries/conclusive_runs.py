"""Conclusive runs, and sums over their scores.

A run is conclusive if it is complete, at least 95 % of its results passed or failed (`is_enough` of
`runs.comparison.completeness`), and as many of its expected judgments were given.
"""

from collections.abc import Collection

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from reports.leaderboard.rule import Sums
from runs.comparison.comparability import with_active
from runs.figures.run_tallies import JUDGES, OUTCOMES, summed
from runs.models import Run


def conclusive_runs_with_times() -> QuerySet[Run]:
    """Return conclusive runs with `began_at` and their active judge run, as `active`."""
    return with_active(Run.objects.conclusive(with_judgments=True)).annotate(
        began_at=Coalesce("started_at", "created_at")
    )


def sums_of(
    runs: Collection[int],
    own_betas: dict[int, float],
    *,
    tag_sets: Collection[int] | None = None,
    is_remixed: bool = False,
) -> dict[int, Sums]:
    """Return sums over what judges scored of each run; runs without any are missing.

    Args:
        own_betas: Share of similarity in the scores, by run id.
        tag_sets: Count only results with one of these; None: all results.
        is_remixed: Add the sums that another share of similarity needs.
    """
    which = None if tag_sets is None else Q(tag_set__in=tag_sets)
    wanted = SUMS + REMIXED if is_remixed else SUMS
    n_outcomes = len(OUTCOMES)
    return {
        run: Sums(n, weight, weighted, own_betas[run], sum(more[:n_outcomes]), *more[n_outcomes:])
        for run, n, weight, weighted, *more in summed(runs, ("run_id",), wanted, which)
        if n
    }


SUMS = tuple(JUDGES + name for name in ("with_score", "weights", "weighted_score", *OUTCOMES))
REMIXED = ("mixed_weight", "mixed", "similarities")
"""Together they follow the fields of `Sums`, without `own_beta`, and with `total` by outcome."""
