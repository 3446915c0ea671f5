"""Names of the issues and runs of answers, and the results that a reader may open."""

from collections.abc import Sequence
from typing import NamedTuple

from evalhub.models import User
from reports.judge_reliability.accuracy_rule import Checked
from reports.queries.names import titles
from runs.models import Result, Run


class Names(NamedTuple):
    """Issue titles and run labels by id, and the results open to the reader."""

    issues: dict[int, str]
    runs: dict[int, str]
    open_to: set[int]


def names_of(rows: Sequence[Checked], reader: User) -> Names:
    """Return the names in these rows; three queries."""
    runs = Run.objects.filter(pk__in={row.run for row in rows}).only("label", "model_name")
    readable = Result.objects.filter(pk__in=[row.result for row in rows]).readable_by(reader)
    return Names(
        issues=titles({row.issue for row in rows}),
        runs={run.pk: str(run) for run in runs},
        open_to=set(readable.order_by().values_list("pk", flat=True)),
    )
