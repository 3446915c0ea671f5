"""Claims of an analyst: each names a cell of the table, whose figure the program writes. Pure.

A claim states the figure as well. It is not shown, but compared with the cell: an analyst that
misread the table, or swapped two models or tags, is found out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from evalhub.display.formatting import counted, in_hundredths
from reports.summaries.analyst.key import (
    FigureCell,
    FigureTable,
    Key,
    Measure,
    Place,
    Variant,
    printed,
)

KINDS = ("findings", "strengths", "weaknesses", "patterns")
"""The kinds of statements, as the reply's keys."""

MEASURES = ", ".join(Measure)
_IDS = {"MK": "developer", "MD": "model", "S": "system", "T": "temperature"}
_ID = re.compile(r"(?<![^\W_])(MK|MD|S|T)_\d+(?!\w)")
_TOLERANCE = 1e-9
SCORE_DECIMALS = 2
"""Mean scores are compared at least to so many decimals; percentages may be rounded."""


class Claim(NamedTuple):
    """A claim as the analyst wrote it, by ids; "" or None where it wrote nothing.

    `other_model` and `other_group` are those of a difference; "" the same as `model` or `group`.
    """

    id: str
    model: str
    group: str
    measure: str
    value: float | None
    other_model: str = ""
    other_group: str = ""


class Statement(NamedTuple):
    """A text with ids and places of claims, and its claims."""

    text: str
    claims: tuple[Claim, ...] = ()


class Bound(NamedTuple):
    """The cell that a claim is about; of a difference, the other one is taken off it."""

    measure: Measure
    cell: Place
    other: Place | None = None

    @property
    def places(self) -> Sequence[Place]:
        return (self.cell, self.other) if self.other else (self.cell,)

    @property
    def is_of_models(self) -> bool:
        """It is the difference of two variants on the same tests."""
        return self.other is not None and self.cell.group == self.other.group

    @property
    def is_rate(self) -> bool:
        """It is the pass rate of one cell, which has an interval."""
        return self.measure in (Measure.PASS_RATE, Measure.PASSED)

    def variants(self, key: Key) -> list[Variant]:
        return [key.variants[place.variant] for place in self.places]


class Evidence(NamedTuple):
    """The test of a difference between two models on the tests that both have scored.

    `p` is corrected for all `comparisons` that can be claimed; None: it could not be computed.
    `caveat` is a sentence on what it does not account for; "" without.
    """

    p: float | None
    rule: str
    comparisons: int
    tests: int
    caveat: str = ""


@dataclass(frozen=True)
class CheckedClaim:
    """A claim and what is wrong with it, by ids.

    Attributes:
        bound: None: it names no cell.
        figure: Of the cell, in percent, points, or as it is; None: there is none.
        problem: A sentence; "" where the cell confirms the claim.
        evidence: Of a difference of models; None if it was not tested.
    """

    claim: Claim
    bound: Bound | None = None
    figure: float | None = None
    problem: str = ""
    evidence: Evidence | None = None

    @property
    def is_compared(self) -> bool:
        """It is no difference of models, or one that could be tested."""
        is_of_models = self.bound is not None and self.bound.is_of_models
        return not is_of_models or bool(self.evidence and self.evidence.p is not None)


def checked(claim: Claim, key: Key, table: FigureTable) -> CheckedClaim:
    """Check a claim against exactly the cell that it names."""
    bound = _bound(claim, key, table)
    if isinstance(bound, str):
        return CheckedClaim(claim, problem=f"{claim.id}: {bound}")
    cells = [table.cells[place] for place in bound.places]
    figures = [one for cell in cells if (one := cell.figure(bound.measure)) is not None]
    if len(figures) < len(cells):
        return CheckedClaim(claim, bound, problem=f"{claim.id}: nothing is scored there.")
    if bound.other and not all(cell.is_enough for cell in cells):
        return CheckedClaim(claim, bound, problem=f"{claim.id}: less than 95 % is scored there.")
    figure = as_printed = figures[0]
    if bound.other:  # it may have been taken of the rates as the table prints them
        figure -= figures[1]
        as_printed = round(round(figures[0], 1) - round(figures[1], 1), 1)
    wrong = ""
    if claim.value is None:
        wrong = f"{claim.id} states no value."
    elif not any(_is_printed(claim.value, one, bound.measure) for one in (figure, as_printed)):
        wrong = f"{claim.id} says {claim.value:g}; the table says {printed(figure, bound.measure)}."
    return CheckedClaim(claim, bound, figure, wrong)


def _bound(claim: Claim, key: Key, table: FigureTable) -> Bound | str:
    """Return the cell that a claim names, or why there is none."""
    if claim.measure not in list(Measure):
        return f"“{claim.measure[:40]}” is no measure: choose one of {MEASURES}."
    measure = Measure(claim.measure)
    cell = _place(claim.model, claim.group, key, table)
    if isinstance(cell, str) or measure != Measure.DIFFERENCE:
        return cell if isinstance(cell, str) else Bound(measure, cell)
    if not claim.other_model and not claim.other_group:
        return "a difference needs another model or another group."
    other = _place(claim.other_model or claim.model, claim.other_group or claim.group, key, table)
    if isinstance(other, str):
        return other
    if (other.variant == cell.variant) == (other.group == cell.group):
        return "a difference needs two models in one group, or one model in two groups."
    return Bound(measure, cell, other)


def _place(model: str, group: str, key: Key, table: FigureTable) -> Place | str:
    ids = {_IDS[match[1]]: match[0] for match in _ID.finditer(model)}
    rows = key.matching(ids) if "model" in ids else []
    if not rows:
        return f"{model[:60] or 'nothing'} is no model of the table."
    if len(rows) > 1:
        return f"{model[:60]} has several rows: name its sys and temp too."
    if group not in key.groups:
        return f"{group[:60] or 'nothing'} is no group of the table."
    place = Place(list(key.variants).index(rows[0]), group)
    return place if place in table.cells else f"{model[:60]} has no row in {group}."


def _is_printed(value: float, figure: float, measure: Measure) -> bool:
    """Return whether the figure prints as this value, at the value's own decimals."""
    fraction = f"{Decimal(repr(value)):f}".partition(".")[2]
    decimals = len(fraction) if value % 1 else 0
    if measure == Measure.MEAN_SCORE:
        decimals = max(decimals, SCORE_DECIMALS)
    if measure == Measure.PASS_RATE and 0 < figure < 100:
        if value in (0, 100):  # of all and of none only, as the table prints them
            return False
        figure = min(max(figure, 0.1), 99.9)
    return abs(value - figure) <= 0.5 * 0.1**decimals + _TOLERANCE


# Written out -------------------------------------------------------------------------------------


def figure_text(claim: CheckedClaim, key: Key, table: FigureTable) -> str:
    """Return the figure of a claim's cell with its number of results, its group, and evidence.

    "" where it names no cell.
    """
    if claim.bound is None:
        return ""
    if claim.bound.other is not None:
        return _difference(claim, claim.bound, key, table)
    cell, measure = table.cells[claim.bound.cell], claim.bound.measure
    figure = cell.figure(measure)
    shown = "nothing scored" if figure is None else printed(figure, measure)
    missing = cell.total - cell.scored
    of = f"{cell.scored:,}" + (f" scored, {missing:,} not" if missing else "")
    forms = {
        Measure.MEAN_SCORE: f"mean score {shown} of {of}",
        Measure.SCORED: f"{shown} of {cell.total:,} scored",
        Measure.ERRORS: f"{shown} of {cell.total:,} ended in errors",
        Measure.UNSCORED: f"{shown} of {cell.total:,} unscored",
    }
    return forms.get(measure, f"{shown} of {of} passed") + _of(claim.bound.cell, key)


def _difference(claim: CheckedClaim, bound: Bound, key: Key, table: FigureTable) -> str:
    cells = [table.cells[place] for place in bound.places]
    rates = [100 * cell.share for cell in cells if cell.share is not None]
    if len(rates) < 2 or not all(cell.is_enough for cell in cells):
        return "not enough scored to compare"
    if not claim.is_compared:
        return "not comparable"
    shown = [
        f"{printed(rate, Measure.PASS_RATE)} of {cell.scored:,}"
        + ("" if bound.is_of_models else _of(place, key))
        for rate, cell, place in zip(rates, cells, bound.places, strict=True)
    ]
    text = f"{printed(rates[0] - rates[1], bound.measure)}: {shown[0]} against {shown[1]}"
    evidence = claim.evidence
    if evidence is None or evidence.p is None:
        intervals = " and ".join(interval_text(cell) for cell in cells)
        methods = ", ".join(dict.fromkeys(cell.method for cell in cells))
        return f"{text}; not tested, 95 % intervals {intervals}, {methods}"
    p = "p < 0.001" if evidence.p < 0.001 else f"p = {evidence.p:.3f}"
    return (
        f"{text}{_of(bound.cell, key)}; {p}, {evidence.rule} on {evidence.tests:,} tests, "
        f"corrected for {counted(evidence.comparisons, 'possible comparison')}"
        + (f". {evidence.caveat.removesuffix('.')}" if evidence.caveat else "")
    )


def interval_text(cell: FigureCell) -> str:
    if cell.interval is None:
        return "unknown"
    low, high = cell.interval
    return f"{in_hundredths(low)} to {in_hundredths(high)} %"


def _of(place: Place, key: Key) -> str:
    return "" if place.group == next(iter(key.groups), "") else f" on “{key.groups[place.group]}”"
