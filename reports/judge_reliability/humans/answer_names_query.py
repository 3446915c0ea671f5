"""What a row about an answer shows beside figures: its issue, its run, and who may open it."""

from collections.abc import Collection
from dataclasses import dataclass

from evalhub.models import User
from issues.models import Issue
from runs.models import Result, Run


@dataclass(frozen=True)
class Names:
    """Titles of issues and labels of runs by id, and the results that the reader may open."""

    issues: dict[int, str]
    runs: dict[int, str]
    open_to: frozenset[int]


def names_of(
    *, results: Collection[int], issues: Collection[int], runs: Collection[int], reader: User
) -> Names:
    """Three queries, however many there are."""
    readable = Result.objects.filter(pk__in=results).readable_by(reader).order_by()
    named = Run.objects.filter(pk__in=runs).only("label", "model_name")
    return Names(
        issues=dict(Issue.objects.filter(pk__in=issues).values_list("pk", "title")),
        runs={run.pk: str(run) for run in named},
        open_to=frozenset(readable.values_list("pk", flat=True)),
    )
