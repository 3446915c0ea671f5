"""Claims of an analyst: each names a cell of the table, whose figure the program writes. Pure.

A claim states the figure as well. It is not shown, but compared with the cell: an analyst that
misread the table, or swapped two models or tags, is found out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from evalhub.display.formatting import counted
from reports.summaries.figure_table import FigureCell, FigureTable, Measure, Place, printed
from reports.summaries.key import Key, Variant

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


class Bound(NamedTuple):
    """The cell that a claim is about; of a difference, the other one is taken off it."""

    measure: Measure
    cell: Place
    other: Place | None = None

    @property
    def is_of_models(self) -> bool:
        """It is the difference of two variants on the same tests."""
        return self.other is not None and self.cell.group == self.other.group

    @property
    def is_rate(self) -> bool:
        """It is the pass rate of one cell, which has an interval."""
        return self.measure in (Measure.PASS_RATE, Measure.PASSED)


@dataclass(frozen=True)
class CheckedClaim:
    """A claim and what is wrong with it, by ids.

    Attributes:
        bound: None: it names no cell.
        figure: Of the cell, in percent, points, or as it is; None: there is none.
        problem: A sentence; "" where the cell confirms the claim.
    """

    claim: Claim
    bound: Bound | None = None
    figure: float | None = None
    problem: str = ""


def checked(claim: Claim, key: Key, table: FigureTable) -> CheckedClaim:
    """Check a claim against exactly the cell that it names."""
    bound = _bound(claim, key, table)
    if isinstance(bound, str):
        return CheckedClaim(claim, problem=f"{claim.id}: {bound}")
    figures = [_cell(place, table).figure(_measured(bound.measure)) for place in _places(bound)]
    if any(figure is None for figure in figures):
        return CheckedClaim(claim, bound, problem=f"{claim.id}: nothing is scored there.")
    if bound.other and not all(_cell(place, table).is_enough for place in _places(bound)):
        return CheckedClaim(claim, bound, problem=f"{claim.id}: less than 95 % is scored there.")
    known = [figure for figure in figures if figure is not None]
    figure = known[0] - known[1] if bound.other else known[0]
    # A difference may have been taken of the rates as the table prints them.
    as_printed = round(round(known[0], 1) - round(known[1], 1), 1) if bound.other else figure
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
    rows = key.matching(ids) if ids else []
    if "model" not in ids or not rows:
        return f"{model[:60] or 'nothing'} is no model of the table."
    if len(rows) > 1:
        return f"{model[:60]} has several rows: name its sys and temp too."
    if group not in key.groups:
        return f"{group[:60] or 'nothing'} is no group of the table."
    place = Place(list(key.variants).index(rows[0]), group)
    return place if table.get(place) else f"{model[:60]} has no row in {group}."


def _places(bound: Bound) -> Sequence[Place]:
    return (bound.cell, bound.other) if bound.other else (bound.cell,)


def _cell(place: Place, table: FigureTable) -> FigureCell:
    return table.cells[place]


def _measured(measure: Measure) -> Measure:
    return Measure.PASS_RATE if measure == Measure.DIFFERENCE else measure


def _is_printed(value: float, figure: float, measure: Measure) -> bool:
    """Return whether the figure prints as this value, at the value's own decimals."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    decimals = max(0, -exponent) if isinstance(exponent, int) else 0
    if value == int(value):
        decimals = 0
    if measure == Measure.MEAN_SCORE:
        decimals = max(decimals, SCORE_DECIMALS)
    return abs(value - figure) <= 0.5 * 0.1**decimals + _TOLERANCE


# Written out -------------------------------------------------------------------------------------


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


def variants_of(bound: Bound, key: Key) -> list[Variant]:
    return [key.variants[place.variant] for place in _places(bound)]


def figure_text(bound: Bound, key: Key, table: FigureTable, evidence: Evidence | None) -> str:
    """Return the figure of a cell with its number of results, its group, and its evidence."""
    cell = _cell(bound.cell, table)
    group = _of(bound.cell.group, key)
    if bound.other is not None:
        return _difference(bound, bound.other, key, table, evidence)
    figure = cell.figure(bound.measure)
    shown = "nothing scored" if figure is None else printed(figure, bound.measure)
    missing = cell.total - cell.scored
    of = f"{cell.scored:,}" + (f" scored, {missing:,} not" if missing else "")
    forms = {
        Measure.PASS_RATE: f"{shown} of {of} passed",
        Measure.PASSED: f"{shown} of {of} passed",
        Measure.MEAN_SCORE: f"mean score {shown} of {of}",
        Measure.SCORED: f"{shown} of {cell.total:,} scored",
        Measure.ERRORS: f"{shown} of {cell.total:,} ended in errors",
        Measure.UNSCORED: f"{shown} of {cell.total:,} unscored",
    }
    return forms[bound.measure] + group


def _difference(
    bound: Bound, other: Place, key: Key, table: FigureTable, evidence: Evidence | None
) -> str:
    places, cells = (bound.cell, other), (_cell(bound.cell, table), _cell(other, table))
    rates = [100 * cell.share for cell in cells if cell.share is not None]
    if len(rates) < 2 or not all(cell.is_enough for cell in cells):
        return "not enough scored to compare"
    if bound.is_of_models and (evidence is None or evidence.p is None):
        return "not comparable"
    shown = [
        f"{printed(rate, Measure.PASS_RATE)} of {cell.scored:,}"
        + ("" if bound.is_of_models else _of(place.group, key))
        for rate, cell, place in zip(rates, cells, places, strict=True)
    ]
    change = printed(rates[0] - rates[1], Measure.DIFFERENCE)
    text = f"{change}: {shown[0]} against {shown[1]}"
    if evidence is None or evidence.p is None:
        intervals = " and ".join(interval_text(cell) for cell in cells)
        methods = ", ".join(dict.fromkeys(cell.method for cell in cells))
        return f"{text}; not tested, 95 % intervals {intervals}, {methods}"
    p = "p < 0.001" if evidence.p < 0.001 else f"p = {evidence.p:.3f}"
    return (
        f"{text}{_of(bound.cell.group, key)}; {p}, {evidence.rule} on {evidence.tests:,} tests, "
        f"corrected for {counted(evidence.comparisons, 'possible comparison')}"
        + (f". {evidence.caveat.removesuffix('.')}" if evidence.caveat else "")
    )


def interval_text(cell: FigureCell) -> str:
    if cell.interval is None:
        return "unknown"
    low, high = cell.interval
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _of(group: str, key: Key) -> str:
    title = key.groups.get(group, group)
    return "" if group == next(iter(key.groups), "") else f" on “{title}”"
