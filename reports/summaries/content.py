"""The content of a reply for its page: statements, their checked claims, and what is unsupported.

Nothing is dropped: a claim that its cell contradicts, and a figure that is no claim, stay where
they stand and are flagged.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from reports.summaries.claims import (
    Bound,
    CheckedClaim,
    Claim,
    Evidence,
    checked,
    figure_text,
    interval_text,
    variants_of,
)
from reports.summaries.figure_table import FigureTable, Measure
from reports.summaries.free_text import comparisons_in, figures_in, sentences
from reports.summaries.key import Key, Variant
from reports.summaries.parse import KINDS, Parsed, Statement
from reports.summaries.restore import (
    BARE_ID,
    NO_CLAIM,
    ClaimText,
    Mark,
    Piece,
    Span,
    Target,
    named,
    placed,
    plain,
)


class DifferenceResult(NamedTuple):
    """The evidence for a difference, or why the two may not be compared."""

    evidence: Evidence | None = None
    problem: str = ""


DifferenceTest = Callable[[Bound], DifferenceResult]
"""Of two models on the same tests."""


@dataclass(frozen=True)
class CheckedStatement:
    """A text, its claims by id, and what nothing supports in `plain(text)`."""

    text: str
    claims: Mapping[str, CheckedClaim]
    evidence: Mapping[str, Evidence]
    flagged: Sequence[Mark]


def check_statement(
    statement: Statement, key: Key, table: FigureTable, test: DifferenceTest
) -> CheckedStatement:
    """Check a statement's claims against their cells, and its text for figures that are none."""
    claims: dict[str, CheckedClaim] = {}
    evidence: dict[str, Evidence] = {}
    for claim in statement.claims:
        if claim.id in claims:
            claims[claim.id] = replace(claims[claim.id], problem=f"{claim.id} is given twice.")
            continue
        found = checked(claim, key, table)
        if found.bound and found.bound.is_of_models:
            tested = test(found.bound)
            found = replace(found, problem=found.problem or tested.problem)
            if tested.evidence:
                evidence[claim.id] = tested.evidence
        claims[claim.id] = found
    return CheckedStatement(
        statement.text, claims, evidence, unsupported(statement.text, claims, key)
    )


def unsupported(text: str, claims: Mapping[str, CheckedClaim], key: Key) -> list[Mark]:
    """Return what nothing supports in `plain(text)`, in order."""
    source = plain(text)
    found = list(placed(source, key))
    known = [span for piece, span in found if piece.target or BARE_ID.fullmatch(piece.text)]
    marks = [Mark(*one) for one in figures_in(source, known)]
    compared = [Mark(*one) for one in comparisons_in(source, known)]
    for start, end in sentences(source):
        inside = [(piece, span) for piece, span in found if start <= span[0] < end and piece.target]
        marks += _in_sentence(inside, claims, key)
        if not any(_is_difference(piece, claims) for piece, _ in inside):
            marks += [one for one in compared if start <= one.start < end]
    return _apart(marks)


def _apart(marks: Iterable[Mark]) -> list[Mark]:
    """Return marks that do not overlap: of two the first counts."""
    kept: list[Mark] = []
    for mark in sorted(marks):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def _is_difference(piece: Piece, claims: Mapping[str, CheckedClaim]) -> bool:
    claim = claims.get(piece.target.id) if piece.target and piece.target.kind == "claim" else None
    return bool(claim and claim.bound and claim.bound.measure == Measure.DIFFERENCE)


def _in_sentence(
    inside: Sequence[tuple[Piece, Span]], claims: Mapping[str, CheckedClaim], key: Key
) -> list[Mark]:
    """Return the claims of a sentence that are wrong, or about another model than it names."""
    marks = []
    last: Target | None = None
    of_claims = [
        variant
        for piece, _ in inside
        if piece.target and piece.target.kind == "claim"
        for variant in _variants(claims.get(piece.target.id), key)
    ]
    for piece, span in inside:
        target = piece.target
        if target is None or target.kind == "prompt":
            continue
        if target.kind != "claim":
            last = target if target.kind in ("model", "developer") else last
            if of_claims and last is target and not _is_of(target, of_claims):
                marks.append(Mark(*span, "The sentence names it beside figures of others."))
            continue
        claim = claims.get(target.id)
        problem = claim.problem if claim else f"{NO_CLAIM}: {target.id} is not among the claims."
        variants = _variants(claim, key)
        if not problem and last and not _is_of(last, variants):
            problem = "The sentence names another model before this figure."
        if problem:
            marks.append(Mark(*span, problem))
    return marks


def _variants(claim: CheckedClaim | None, key: Key) -> list[Variant]:
    return variants_of(claim.bound, key) if claim and claim.bound else []


def _is_of(target: Target, variants: Iterable[Variant]) -> bool:
    """Return whether a reference is to one of the variants, or to all there are of its model."""
    if target.variant is not None:
        return target.variant in variants
    return any(target.id in (variant.model, variant.developer) for variant in variants)


# Stored ------------------------------------------------------------------------------------------


def content_of(
    parsed: Parsed, key: Key, table: FigureTable, test: DifferenceTest
) -> dict[str, Any]:
    """Return the content as `ExecutiveSummary.content` stores it: claims as checked."""
    lines = {
        kind: [_stored(check_statement(one, key, table, test)) for one in getattr(parsed, kind)]
        for kind in KINDS
    }
    return {**lines, "problems": list(parsed.problems)}


def _stored(statement: CheckedStatement) -> dict[str, Any]:
    return {
        "text": statement.text,
        "flagged": [list(mark) for mark in statement.flagged],
        "claims": [
            {
                **claim.claim._asdict(),
                "problem": claim.problem,
                "evidence": evidence._asdict()
                if (evidence := statement.evidence.get(claim.claim.id))
                else None,
            }
            for claim in statement.claims.values()
        ],
    }


class Restored(NamedTuple):
    """A stored statement: marks, and its claims as checked and written out, by id."""

    text: str
    flagged: Sequence[Mark]
    claims: Mapping[str, CheckedClaim]
    texts: Mapping[str, ClaimText]
    evidence: Mapping[str, Evidence]


def restored(line: Mapping[str, Any], key: Key, table: FigureTable) -> Restored:
    """Return a stored statement.

    One from before claims were bound to cells has none: each of its figures is flagged.
    """
    text = line["text"]
    if "claims" not in line:
        return Restored(text, unsupported(text, {}, key), {}, {}, {})
    claims: dict[str, CheckedClaim] = {}
    evidence: dict[str, Evidence] = {}
    for entry in line["claims"]:
        claim = Claim(**{name: entry[name] for name in Claim._fields})
        claims[claim.id] = replace(checked(claim, key, table), problem=entry["problem"])
        if entry["evidence"]:
            evidence[claim.id] = Evidence(**entry["evidence"])
    texts = {
        name: _text_of(claim, key, table, evidence.get(name)) for name, claim in claims.items()
    }
    flagged = [Mark(start, end, named(reason, key)) for start, end, reason in line["flagged"]]
    return Restored(text, flagged, claims, texts, evidence)


def _text_of(
    claim: CheckedClaim, key: Key, table: FigureTable, evidence: Evidence | None
) -> ClaimText:
    if claim.bound is None:
        return ClaimText((), "", problem=claim.problem)
    variants = list(dict.fromkeys(variants_of(claim.bound, key)))
    figure = figure_text(claim.bound, key, table, evidence)
    return ClaimText(variants, figure, details_of(claim.bound, table), claim.problem)


def details_of(bound: Bound, table: FigureTable) -> str:
    """Return the interval of a pass rate and its method; "" for other figures."""
    cell = table.cells[bound.cell]
    if not bound.is_rate or cell.interval is None:
        return ""
    return f"95 % interval {interval_text(cell)}, {cell.method}"


def problems_of(parsed: Parsed, key: Key, table: FigureTable) -> list[str]:
    """Return what an analyst can mend: unreadable parts, and all that would be flagged, quoted."""
    found = list(parsed.problems)
    for statement in parsed.statements:
        one = check_statement(statement, key, table, lambda bound: DifferenceResult())
        source = plain(one.text)
        found += [f"“{source[start:end]}”: {reason}" for start, end, reason in one.flagged]
    return list(dict.fromkeys(found))
