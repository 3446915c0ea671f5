"""Attempts: the complete runs of one release and variant in a suite, which are one side.

Whoever runs a release again until it passes is judged by all attempts together.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import apnumber, ordinal

from evalhub.display.formatting import counted, listed
from runs.comparison.comparability import SCORING, scoring, with_active
from runs.comparison.comparability_rule import Scoring, comparability
from runs.models import Run

Runs = tuple[int, ...]
"""A side of a comparison: runs whose results are pooled test by test, the newest first."""

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class Attempts:
    """A run with all attempts at its release, newest first.

    Attributes:
        pooled: The run itself, and the complete ones that are scored as it is.
        apart: Complete ones that are scored otherwise: they are pooled with nothing.
    """

    run: int
    release: str
    pooled: Runs
    apart: Runs = ()

    @property
    def are_several(self) -> bool:
        return len(self.pooled) > 1

    @property
    def words(self) -> str:
        """How many are pooled, such as "all 3 runs of 1.4"."""
        return f"all {counted(len(self.pooled), 'run')} of {self.release}"

    def name_of(self, run: int) -> str:
        """Return the place of an attempt, such as "third"."""
        place = len(self.pooled) - self.pooled.index(run)
        return ORDINALS[place - 1] if place <= len(ORDINALS) else str(ordinal(place))

    def after(self, failed: Collection[int]) -> str:
        """Return what came before, such as "third run of 1.4; the first two failed".

        Args:
            failed: Which of the other attempts fail alone.
        """
        places = [run for run in self.pooled[::-1] if run in failed]
        names = [self.name_of(run) for run in places]
        if places and tuple(places) == self.pooled[::-1][: len(places)]:
            names = ["first"] if len(places) == 1 else [f"first {apnumber(len(places))}"]
        said = f"the {listed(names)} failed" if names else "no other failed"
        left = (
            f" {counted(len(self.apart), 'run')} scored otherwise: left out." if self.apart else ""
        )
        which = f"{self.name_of(self.run).capitalize()} run of {self.release}"
        return f"{which}; {said}. They are judged together.{left}"


def attempts_of(runs: Iterable[Run]) -> dict[int, Attempts]:
    """Return the attempts of each of these runs, by its id; one query."""
    runs = list(runs)
    rivals: dict[tuple[object, ...], dict[int, Scoring]] = defaultdict(dict)
    for pk, *key, how in _rivals([run for run in runs if run.release]):
        rivals[tuple(key)][pk] = how
    return {run.pk: _attempts(run, rivals.get(_key(run), {})) for run in runs}


def _attempts(run: Run, rivals: dict[int, Scoring]) -> Attempts:
    if run.pk not in rivals:
        return Attempts(run.pk, run.release, (run.pk,))
    mine = rivals[run.pk]
    pooled = tuple(pk for pk, how in rivals.items() if pk == run.pk or comparability(mine, how))
    return Attempts(run.pk, run.release, pooled, tuple(pk for pk in rivals if pk not in pooled))


def _key(run: Run) -> tuple[object, ...]:
    return run.suite_id, run.variant_key, run.release


def _rivals(runs: Collection[Run]) -> Iterable[tuple[Any, ...]]:
    """Yield id, suite, variant, release and scoring of the complete runs like these."""
    if not runs:
        return
    like = Run.objects.conclusive().filter(
        release__in={run.release for run in runs},
        variant_key__in={run.variant_key for run in runs},
    )
    columns = ("pk", "suite_id", "variant_key", "release")
    rows = with_active(like).order_by("-created_at", "-pk").values_list(*columns, *SCORING)
    for row in rows:
        yield *row[: len(columns)], scoring(*row[len(columns) :])
