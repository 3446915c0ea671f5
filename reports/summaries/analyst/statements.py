"""Statements of an analyst with their checked claims, and what in them nothing supports. Pure.

Nothing is dropped: a claim that its cell contradicts, and a figure that is no claim, stay where
they stand and are flagged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports.summaries.analyst.claims import (
    Bound,
    CheckedClaim,
    Claim,
    Evidence,
    Statement,
    checked,
    figure_text,
)
from reports.summaries.analyst.free_text import Mark, Span, comparisons_in, figures_in, sentences
from reports.summaries.analyst.key import FigureTable, Key, Measure, Variant
from reports.summaries.analyst.restore import (
    BARE_ID,
    NO_CLAIM,
    ClaimLine,
    Target,
    named,
    placed,
    plain,
    variant_piece,
)

DifferenceTest = Callable[[Bound], Evidence | str]
"""Return the evidence for a difference of two models on the same tests, or why there is none."""


@dataclass(frozen=True)
class CheckedStatement:
    """A text, its claims by id, and what nothing supports in `plain(text)`."""

    text: str
    claims: Mapping[str, CheckedClaim]
    flagged: Sequence[Mark]

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "flagged": [list(mark) for mark in self.flagged],
            "claims": [
                {
                    **one.claim._asdict(),
                    "problem": one.problem,
                    "evidence": one.evidence and one.evidence._asdict(),
                }
                for one in self.claims.values()
            ],
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any], key: Key, table: FigureTable) -> "CheckedStatement":
        """Restore a statement from `to_json`; the reasons of its marks have names."""
        claims = {}
        for entry in line["claims"]:
            claim = Claim(**{name: entry[name] for name in Claim._fields})
            evidence = Evidence(**entry["evidence"]) if entry["evidence"] else None
            found = checked(claim, key, table)
            claims[claim.id] = replace(found, problem=entry["problem"], evidence=evidence)
        flagged = [Mark(start, end, named(reason, key)) for start, end, reason in line["flagged"]]
        return cls(line["text"], claims, flagged)


def check_statement(
    statement: Statement, key: Key, table: FigureTable, test: DifferenceTest
) -> CheckedStatement:
    """Check a statement's claims against their cells, and its text for figures that are none."""
    claims: dict[str, CheckedClaim] = {}
    for claim in statement.claims:
        if claim.id in claims:
            claims[claim.id] = replace(claims[claim.id], problem=f"{claim.id} is given twice.")
            continue
        found = checked(claim, key, table)
        if found.bound and found.bound.is_of_models:
            tested = test(found.bound)
            if isinstance(tested, str):
                found = replace(found, problem=found.problem or tested)
            else:
                found = replace(found, evidence=tested)
        claims[claim.id] = found
    return CheckedStatement(statement.text, claims, unsupported(statement.text, claims, key))


def unsupported(text: str, claims: Mapping[str, CheckedClaim], key: Key) -> list[Mark]:
    """Return what nothing supports in `plain(text)`, in order."""
    source = plain(text)
    found = list(placed(source, key))
    known = [span for piece, span in found if piece.target or BARE_ID.fullmatch(piece.text)]
    marks = figures_in(source, known)
    compared = comparisons_in(source, known)
    targets = [(piece.target, span) for piece, span in found if piece.target]
    for start, end in sentences(source):
        inside = [(target, span) for target, span in targets if start <= span[0] < end]
        marks += _in_sentence(inside, claims, key)
        bounds = [claims[target.id].bound for target, _ in inside if target.id in claims]
        if not any(bound and bound.measure == Measure.DIFFERENCE for bound in bounds):
            marks += [one for one in compared if start <= one.start < end]
    return _apart(marks)


def _apart(marks: Iterable[Mark]) -> list[Mark]:
    """Return marks that do not overlap: of two the first counts."""
    apart: list[Mark] = []
    for mark in sorted(marks):
        if not apart or mark.start >= apart[-1].end:
            apart.append(mark)
    return apart


def _in_sentence(
    inside: Sequence[tuple[Target, Span]], claims: Mapping[str, CheckedClaim], key: Key
) -> list[Mark]:
    """Return the claims of a sentence that are wrong, or about another model than it names."""
    marks = []
    last: Target | None = None
    bounds = {id: claim.bound.variants(key) for id, claim in claims.items() if claim.bound}
    of_claims = [variant for target, _ in inside for variant in bounds.get(target.id, ())]
    for target, span in inside:
        if target.kind == "claim":
            claim = claims.get(target.id)
            problem = (
                claim.problem if claim else f"{NO_CLAIM}: {target.id} is not among the claims."
            )
            if not problem and last and not _is_of(last, bounds[target.id]):
                problem = "The sentence names another model before this figure."
            if problem:
                marks.append(Mark(*span, problem))
        elif target.kind in ("model", "developer"):
            last = target
            if of_claims and not _is_of(target, of_claims):
                marks.append(Mark(*span, "The sentence names it beside figures of others."))
    return marks


def _is_of(target: Target, variants: Iterable[Variant]) -> bool:
    """Return whether a reference is to one of the variants, or to all there are of its model."""
    if target.variant is not None:
        return target.variant in variants
    return any(target.id in (variant.model, variant.developer) for variant in variants)


def problems_of(statements: Iterable[Statement], key: Key, table: FigureTable) -> list[str]:
    """Return all that would be flagged, quoted; differences of models are not tested."""
    found = []
    for statement in statements:
        one, source = (
            check_statement(statement, key, table, lambda bound: ""),
            plain(statement.text),
        )
        found += [f"“{source[start:end]}”: {reason}" for start, end, reason in one.flagged]
    return found


# Claims as rows ----------------------------------------------------------------------------------


def claim_line(claim: CheckedClaim, key: Key, table: FigureTable) -> ClaimLine:
    """Return what a claim is about, its figure, and how sure that is."""
    stated, bound, evidence = claim.claim, claim.bound, claim.evidence
    line = ClaimLine(
        model=named(stated.model, key),
        group=named(stated.group, key),
        measure=stated.measure,
        other_model=named(stated.other_model, key),
        other_group=named(stated.other_group, key),
        stated=stated.value,
        problem=named(claim.problem, key),
    )
    if bound is None:
        return line
    cell, variants = table.cells[bound.cell], bound.variants(key)
    models = [variant_piece(variant, key).text for variant in variants]
    groups = [key.groups[place.group] for place in bound.places]
    low, high = cell.interval if bound.is_rate and cell.interval else (None, None)
    return line._replace(
        model=models[0],
        group=groups[0],
        other_model=models[1] if bound.other else "",
        other_group=groups[1] if bound.other else "",
        figure=claim.figure if claim.is_compared else None,
        n=evidence.tests if evidence else cell.scored,
        low=None if low is None else 100 * low,
        high=None if high is None else 100 * high,
        p=evidence.p if evidence else None,
        method=evidence.rule if evidence else cell.method if bound.is_rate else "",
        variants=tuple(dict.fromkeys(variants)),
        text=figure_text(claim, key, table),
    )
