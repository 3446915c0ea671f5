"""Each model of a release against a fixed reference, for slides that no single step shows."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evalhub.statistics.changes.slow_decay import LEVEL_OF_LOOKS, LOOKS
from reports.compare.attempts_query import attempts_of
from reports.compare.conclusion_words import in_line, said
from reports.compare.pair_changes_query import PairChange, pair_changes
from reports.documents.document import Column, Link, Table
from reports.documents.links import page_url
from reports.documents.reading import Reading
from runs.comparison.opponent_rule import ReleasedRun
from runs.comparison.references import Reference, references_of
from runs.comparison.release_order_rule import ReleaseOrder
from runs.models import Run


@dataclass(frozen=True)
class ReferenceLook:
    """A run against the reference of its model."""

    name: str
    run: int
    reference: Reference
    change: PairChange

    @property
    def said(self) -> str:
        """Return the number of the look, such as "look 12 of 20 at 1.0"."""
        of = f" of {LOOKS}" if self.reference.look <= LOOKS else f", {LOOKS} are meant,"
        return f"look {self.reference.look}{of} at {self.reference.release}"


def reference_looks(
    names: Sequence[tuple[int, str]],
    but: Collection[tuple[int, int]],
    reading: Reading,
    order: ReleaseOrder,
    every: Sequence[ReleasedRun] | None = None,
) -> tuple[ReferenceLook, ...]:
    """Compare each run with its reference at the level of looks; none while they are computed.

    All attempts at a release are one side.

    Args:
        names: Runs with the names of their models.
        but: Pairs of an earlier run and a run that are compared anyway.
        order, every: As `references_of` takes them.
    """
    found = references_of({run for run, _ in names}, order, every)
    looks = [(run, name, found[run]) for run, name in names if run in found]
    looks = [(run, name, one) for run, name, one in looks if (one.run, run) not in but]
    pairs = [(one.run, run) for run, _, one in looks]
    if not pairs:
        return ()
    attempts = attempts_of(Run.objects.filter(pk__in={run for pair in pairs for run in pair}))
    sides = [(attempts[one].pooled, attempts[run].pooled) for one, run in pairs]
    changes = reading.computed(
        "reference-looks",
        [sides, LEVEL_OF_LOOKS],
        list[PairChange],
        lambda: pair_changes(sides, level=LEVEL_OF_LOOKS),
        of={run for pair in sides for side in pair for run in side},
    )
    return tuple(
        ReferenceLook(name, run, reference, change)
        for (run, name, reference), change in zip(looks, changes or (), strict=False)
    )


def reference_sentences(looks: Sequence[ReferenceLook]) -> Iterator[str]:
    """Yield what was lost since the reference."""
    for one in looks:
        if one.change.conclusion.word.is_loss:
            found = in_line(one.change.conclusion, one.change.whole.tally)
            yield f"{one.name} since {one.reference.release} ({one.said}): {found}"


def references_table(looks: Sequence[ReferenceLook]) -> Iterator[Table]:
    """Yield the table of looks; nothing without any."""
    if looks:
        yield Table(
            key="references",
            title="Against a fixed reference",
            columns=(
                Column("model", "Model", "link"),
                Column("reference", "Reference"),
                Column("look", "Look", "count", f"Releases compared with it; {LOOKS} are meant"),
                Column("net", "Net change", "points", "On tests that are the same in both runs"),
                Column("tests", "Tests", "count"),
                Column("conclusion", "Conclusion"),
                Column("p", "p", "p", f"Sign flips; at most {LEVEL_OF_LOOKS:g} is sure"),
            ),
            rows=[
                (
                    Link(one.name, page_url("compare", runs=[one.reference.run, one.run])),
                    *(one.reference.release, one.reference.look),
                    *(one.change.whole.net, one.change.whole.tally.n),
                    *(said(one.change.conclusion), one.change.whole.p),
                )
                for one in looks
            ],
            note="The suite’s baseline release, else the first comparable one. Many small losses "
            "show here, each of which is too small for one step.",
        )
