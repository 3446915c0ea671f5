"""The offer to re-judge a run with the jury of another, beside every refusal to compare them."""

from evalhub.models import User
from reports.documents.document import Cell, Link
from reports.documents.links import run_url
from runs.comparison.baselines import is_baseline
from runs.comparison.comparability import rejudge_url
from runs.comparison.comparability_rule import OTHER_CHECKS, OTHER_JUDGING, Comparable
from runs.comparison.scoring_versions import Part, Parts, earlier, judged_earlier
from runs.models import Run


def refusal(run: Run, like: Run, comparable: Comparable, reader: User) -> Cell:
    """Return the cell in the place of a conclusion: the reason, and the link to re-judge."""
    offered = rejudging(run, like, comparable, reader) if comparable.is_repairable else ()
    links = (Link("Re-judge", link.url) for link in offered)
    return (f"not comparable: {comparable.cause}", *links)


def rejudging(run: Run, like: Run, comparable: Comparable, reader: User) -> tuple[Link, ...]:
    """Return the links to what makes the runs comparable; () if nothing helps the reader.

    That is to re-judge the run with the jury of the other, or whichever an earlier version of
    EvalHub judged, or to run its checks again. `comparable` is of `like` with the run.
    """
    if not reader.has_perm("runs.control_run"):
        return ()
    pairs = ((run, like), (like, run))
    if comparable == OTHER_CHECKS:
        return tuple(
            Link(f"Run the checks of {one.model_name}, {one.label}, again", run_url(one))
            for one, _ in pairs
            if Part.CHECK in earlier(_parts_of(one))
        )
    if comparable.cause == OTHER_JUDGING.cause:
        return tuple(
            Link(f"Re-judge {one.model_name}, {one.label}", rejudge_url(one.pk, other.pk))
            for one, other in pairs
            if judged_earlier(_parts_of(one))
        )
    if not comparable.is_repairable:
        return ()
    run, like = comparable.to_rejudge(like, run)
    whose = "the baseline's jury" if is_baseline(like) else f"the jury of {like.label}"
    return (
        Link(f"Re-judge {run.model_name}, {run.label}, with {whose}", rejudge_url(run.pk, like.pk)),
    )


def _parts_of(run: Run) -> Parts:
    """Return what EvalHub itself did for its active judge run."""
    active = run.judge_runs.filter(is_active=True).first()
    return active.provenance_parts if active else {}
