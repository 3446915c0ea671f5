"""Names of the issues and runs of answers, and the results that a reader may open."""

from collections.abc import Collection
from dataclasses import dataclass

from evalhub.models import User
from issues.models import Issue
from runs.models import Result, Run


@dataclass(frozen=True)
class Names:
    """Issue titles and run labels by id, and the results open to the reader."""

    issues: dict[int, str]
    runs: dict[int, str]
    open_to: frozenset[int]


def names_of(
    *, results: Collection[int], issues: Collection[int], runs: Collection[int], reader: User
) -> Names:
    """Return the names; three queries."""
    readable = Result.objects.filter(pk__in=results).readable_by(reader).order_by()
    named = Run.objects.filter(pk__in=runs).only("label", "model_name")
    return Names(
        issues=dict(Issue.objects.filter(pk__in=issues).values_list("pk", "title")),
        runs={run.pk: str(run) for run in named},
        open_to=frozenset(readable.values_list("pk", flat=True)),
    )
