"""The earlier runs that a run is compared with. Pure."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from runs.comparison.release_order_rule import ReleaseOrder


class ReleasedRun(NamedTuple):
    """A run with what it tested; `family` and `release` are "" without one."""

    run: int
    suite: int | None
    launch: int | None
    variant: str
    model: int
    family: str
    release: str
    at: datetime


def _variant(run: ReleasedRun) -> Hashable:
    return run.variant


def _model(run: ReleasedRun) -> Hashable:
    return run.model


def _family(run: ReleasedRun) -> Hashable:
    return run.family or run.model


Kind = Callable[[ReleasedRun], Hashable]
KINDS: tuple[tuple[Kind, Kind], ...] = ((_variant, _variant), (_model, _variant), (_family, _model))
"""What two runs share, and what one of them alone has: the prompt, the parameters or the model."""


def counterparts(
    run: ReleasedRun, beside: Sequence[ReleasedRun], before: Sequence[ReleasedRun]
) -> list[ReleasedRun]:
    """Return those of the earlier runs that are the run's own, newest first.

    These are of the same variant. Where it is new they are of the same model, else of the same
    family, as far as no run beside it carries them on.

    Args:
        beside: The runs of the same suite and release.
        before: Those of the release before, newest first.
    """
    for shared, own in KINDS:
        carried_on = {own(one) for one in beside} if own is not shared else set()
        found = [one for one in before if shared(one) == shared(run) and own(one) not in carried_on]
        if len({own(one) for one in found if shared is _family}) > 1:
            return []  # which of several models it replaces cannot be told
        if found:
            return found
    return []


def opponents(
    run: ReleasedRun, others: Sequence[ReleasedRun], order: ReleaseOrder
) -> Iterator[ReleasedRun]:
    """Yield the earlier runs that this one may be compared with, the best first.

    Those of its predecessor, then of the release before that; last the earlier runs without a
    release. One without a release meets all earlier runs. Another attempt at its release is none.

    Args:
        others: The runs of its suite, newest first.
    """
    if run.release:
        beside = [one for one in others if one.release == run.release]
        for name in order.predecessors(run.release):
            yield from counterparts(run, [run, *beside], [o for o in others if o.release == name])
    earlier = [
        one
        for one in others
        if not (run.release and one.release)
        and (one.at, one.run) < (run.at, run.run)
        and (run.launch is None or one.launch != run.launch)
    ]
    yield from (one for one in earlier if one.variant == run.variant)
    if not run.release:
        yield from (o for o in earlier if o.model == run.model and o.variant != run.variant)
