"""The offer to re-judge a run with the jury of another, beside every refusal to compare them."""

from evalhub.models import User
from reports.documents.document import Cell, Link
from runs.comparison.baselines import is_baseline
from runs.comparison.comparability import rejudge_url
from runs.comparison.comparability_rule import Comparable
from runs.models import Run


def refusal(run: Run, like: Run, comparable: Comparable, reader: User) -> Cell:
    """Return the cell that stands for a verdict: the reason, and the link to re-judge."""
    links = (Link("Re-judge", link.url) for link in rejudging(run, like, comparable, reader))
    return (f"not comparable: {comparable.cause}", *links)


def rejudging(run: Run, like: Run, comparable: Comparable, reader: User) -> tuple[Link, ...]:
    """Return the link to the page that re-judges the run; () if that does not help the reader."""
    if not comparable.is_repairable or not reader.has_perm("runs.control_run"):
        return ()
    whose = "the baseline's jury" if is_baseline(like) else f"the jury of {like.label}"
    return (
        Link(f"Re-judge {run.model_name}, {run.label}, with {whose}", rejudge_url(run.pk, like.pk)),
    )
