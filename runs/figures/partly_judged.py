"""Answers that lack judgments that were expected, counted by how many they have."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count

from evalhub.display.formatting import count, counted
from runs.models import PARTLY_JUDGED, ResultScore


class PartlyJudged(NamedTuple):
    """`answers` with `answered` of the `expected` judgments, and `replaced` by a backup judge."""

    expected: int
    answered: int
    replaced: int
    answers: int

    @property
    def judged_by(self) -> str:
        """The judgments in words, such as "judged by 2 of 3"."""
        several = f" ({count(self.replaced)} times)" if self.replaced > 1 else ""
        backup = f" and the backup{several}" if self.replaced else ""
        return f"judged by {count(self.answered)} of {count(self.expected)}{backup}"

    def __str__(self) -> str:
        return f"{self.judged_by}: {counted(self.answers, 'answer')}"


def partly_judged(judge_runs: Iterable[int]) -> dict[int, list[PartlyJudged]]:
    """Count such answers of each judge run by its id, the most frequent kind first; one query."""
    found: dict[int, list[PartlyJudged]] = defaultdict(list)
    rows = ResultScore.objects.filter(PARTLY_JUDGED, judge_run__in=judge_runs).order_by()
    kinds = rows.values_list("judge_run_id", "expected", "answered", "replaced")
    for judge_run, *kind in kinds.annotate(n=Count("pk")).order_by("-n", "expected", "answered"):
        found[judge_run].append(PartlyJudged(*kind))
    return found
