"""Incomplete runs: ended, but with too few scores to conclude anything from them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from evalhub.outcomes import OUTCOMES
from runs.completeness import scored_words
from runs.control import retryable_of
from runs.figures.tallies import Counts, groups_of, tallies_of_runs
from runs.models import Run
from runs.models.run import RunQuerySet


@dataclass(frozen=True)
class IncompleteRun:
    """A run that is left out of every conclusion.

    `retryable` results ended in an error, or a judgment on them did.
    """

    run: Run
    counts: Counts
    retryable: int

    @property
    def warning(self) -> str:
        """A warning for pages that show it nevertheless, since the reader chose it."""
        scored = scored_words(self.counts.scored, self.counts.total)
        return (
            f"{self.run.label} is incomplete, {scored}: what is scored may be the easier part. "
            "Retry what failed before you conclude anything."
        )

    @property
    def lacks(self) -> str:
        """The results without a score, such as "3 errors, 1 unscored"."""
        excluded = self.counts.excluded.items()
        return ", ".join(OUTCOMES[outcome].counted(n) for outcome, n in excluded if n)


def incomplete_runs(runs: RunQuerySet) -> tuple[IncompleteRun, ...]:
    """Return those of these runs that `Run.objects.inconclusive` names, newest first.

    One query, and three more where there are any.
    """
    fields = ("label", "release", "model_name", "language_model_id", "suite__name", "launch_id")
    rows = runs.inconclusive().select_related("suite").only(*fields, "created_at", "started_at")
    found = list(rows.order_by("-created_at", "-pk"))
    if not found:
        return ()
    counts = groups_of(tallies_of_runs(found), lambda tally: [tally.run_id])
    retryable = retryable_of(found)
    return tuple(IncompleteRun(run, counts[run.pk], retryable[run.pk]) for run in found)


def newer_than(
    runs: Iterable[Run], incomplete: Iterable[IncompleteRun]
) -> tuple[IncompleteRun, ...]:
    """Return the incomplete runs that none of these runs of the same model replaces."""
    newest: dict[int, datetime] = {}
    for run in runs:
        at = newest.get(run.language_model_id, run.created_at)
        newest[run.language_model_id] = max(at, run.created_at)
    return tuple(
        one
        for one in incomplete
        if one.run.language_model_id not in newest
        or one.run.created_at > newest[one.run.language_model_id]
    )
