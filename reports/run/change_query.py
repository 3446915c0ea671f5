"""A run against its predecessor, in one line."""

from dataclasses import dataclass

from evalhub.models import User
from reports.compare.conclusion_words import headline
from reports.compare.query import comparison_of, sides_of
from reports.compare.two_runs.state import TwoRuns
from reports.documents.links import page_url
from reports.documents.reading import Reading
from runs.comparison.baselines import opponent_of
from runs.models import Run


@dataclass(frozen=True)
class RunChange:
    """The conclusion on a run and the run before it, and where to read how it came about."""

    net: str
    before: str
    conclusion: str
    url: str


def change_of(run: Run, reader: User) -> RunChange | None:
    """Return the change from the baseline or the previous run; None where there is neither."""
    before = opponent_of(run)
    if before is None:
        return None
    two = TwoRuns(comparison_of(*sides_of([before, run])), {}, Reading(reader))
    name = before.label if before.release in ("", run.release) else before.release
    url = page_url("compare", runs=[before, run])
    if not two.comparison.is_conclusive or two.found is None:
        cause = two.comparison.comparable.cause or "too little of them is scored"
        return RunChange("", name, f"Not compared: {cause}.", url)
    net = two.tally.better - two.tally.worse
    more = f"{abs(net):,} {'more' if net > 0 else 'fewer'} passed" if net else "As many passed"
    return RunChange(more, name, headline(two.found.conclusion, two.tally), url)
