"""The claims of a statement as rows: what each is about, its figure, and how sure that is. Pure."""

from typing import NamedTuple

from reports.summaries.claims import CheckedClaim, variants_of
from reports.summaries.content import Restored
from reports.summaries.figure_table import FigureTable, Measure, Place, printed
from reports.summaries.key import Key
from reports.summaries.restore import named, variant_piece


class ClaimLine(NamedTuple):
    """A claim, names restored.

    Attributes:
        figure: Of the cell: rates in percent, differences in points; None: there is none, or the
            two may not be compared.
        stated: As the analyst wrote it; None: it wrote none.
        n: Scored results of the cell; of a difference, tests that both have scored where it was
            tested. None without a cell.
        low, high: The 95 % interval of a pass rate, in percent; None for other figures.
        p: Of a difference of models, corrected; None if it was not tested.
        method: Of the interval or the p; "" without.
        problem: Why it is not supported; "" if the cell confirms it.
    """

    model: str
    group: str
    measure: str
    other_model: str
    other_group: str
    stated: float | None
    problem: str
    figure: float | None = None
    n: int | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    method: str = ""

    @property
    def figure_text(self) -> str:
        """The figure with its unit; "" without."""
        return "" if self.figure is None else printed(self.figure, Measure(self.measure))

    @property
    def interval_text(self) -> str:
        return "" if self.low is None else f"{self.low:.1f} to {self.high:.1f} %"


def claim_lines(statement: Restored, key: Key, table: FigureTable) -> list[ClaimLine]:
    """Return the claims of a statement, in order."""
    return [_line(claim, statement, key, table) for claim in statement.claims.values()]


def _line(claim: CheckedClaim, statement: Restored, key: Key, table: FigureTable) -> ClaimLine:
    written, bound = claim.claim, claim.bound
    problem = named(claim.problem, key)
    if bound is None:
        return ClaimLine(
            model=named(written.model, key),
            group=named(written.group, key),
            measure=written.measure,
            other_model=named(written.other_model, key),
            other_group=named(written.other_group, key),
            stated=written.value,
            problem=problem,
        )
    cell = table.cells[bound.cell]
    evidence = statement.evidence.get(written.id)
    low, high = cell.interval if bound.is_rate and cell.interval else (None, None)
    models = [variant_piece(variant, key).text for variant in variants_of(bound, key)]
    is_compared = not bound.is_of_models or (evidence is not None and evidence.p is not None)
    return ClaimLine(
        model=models[0],
        group=_title(bound.cell, key),
        measure=str(bound.measure),
        other_model=models[1] if bound.other else "",
        other_group=_title(bound.other, key) if bound.other else "",
        figure=claim.figure if is_compared else None,
        stated=written.value,
        n=evidence.tests if evidence else cell.scored,
        low=None if low is None else 100 * low,
        high=None if high is None else 100 * high,
        p=evidence.p if evidence else None,
        method=evidence.rule if evidence else cell.method if bound.is_rate else "",
        problem=problem,
    )


def _title(place: Place, key: Key) -> str:
    return key.groups.get(place.group, place.group)
