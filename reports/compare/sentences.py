"""The findings of a comparison of two runs in sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from evalhub.formatting import counted
from evalhub.statistics.detectable import ALPHA
from evalhub.statistics.interval import Interval
from reports.compare.evidence_rule import FLIPPED_ISSUES, MCNEMAR, MIN_MOVED, Evidence, Findings
from reports.compare.rule import COMPARED, Compared, Kind, counts_of, net_change, tally_of
from reports.documents.cells import p_value, points

REASONS: Mapping[Kind, str] = {
    Kind.ERROR: "ended in an error",
    Kind.UNSCORED: "unscored",
    Kind.PENDING: "pending",
    Kind.RUBRIC_CHANGED: "with a changed rubric",
    Kind.TEXT_CHANGED: "with a changed prompt",
    Kind.ONLY_FIRST: "only in {first}",
    Kind.ONLY_SECOND: "only in {second}",
}
"""Reasons not to compare a test."""


def sentences(
    rows: Sequence[Compared], findings: Findings | None, *, first: str, second: str
) -> tuple[str, ...]:
    """Return the answer, then its basis. Findings None: not computed yet."""
    tally = tally_of(rows)
    answer = f"{tally.worse:,} worse, {tally.better:,} better of {tally.n:,} matched"
    if findings and findings.evidence.p is not None:
        direction = verdict(net_change(rows), findings.evidence)
        answer += f": {is_p(findings.evidence.p)}, {direction}; {_detectable(findings)}"
    elif not tally.n:
        answer += ": nothing can be compared"
    basis = _basis(findings) if findings else []
    return (f"{answer}.", *basis, *left_out(rows, first=first, second=second))


def verdict(net: float | None, evidence: Evidence, alpha: float = ALPHA) -> str:
    """Name the direction of the change; an uncertain one is never called "no change"."""
    if net is None or evidence.p is None:
        return "nothing can be compared"
    if evidence.p > alpha or not net:
        return "not enough evidence"
    return "significantly worse" if net < 0 else "significantly better"


def _detectable(findings: Findings) -> str:
    """Name the smallest net change that these tests can detect."""
    if findings.detectable is None:
        return "too few tests flip for this suite to detect a change"
    least = f"{100 * findings.detectable:.1f}".removesuffix(".0")
    is_single = MCNEMAR in (findings.evidence.rule, findings.evidence.independent_rule)
    at = "discordance" if is_single else "spread"
    return f"this suite can detect changes of about {least} points or more (80% power at this {at})"


def is_p(p: float) -> str:
    return f"p {p_value(p)}" if p_value(p).startswith("<") else f"p = {p_value(p)}"


def _basis(findings: Findings) -> Iterator[str]:
    evidence, graded = findings.evidence, findings.graded
    if evidence.p is not None and 0 < evidence.moved < MIN_MOVED:
        unit = "issue" if evidence.rule == FLIPPED_ISSUES else "test"
        changed = f"{unit} changed" if evidence.moved == 1 else f"{unit}s changed"
        yield f"Only {evidence.moved} {changed} on balance; p < 0.05 needs at least {MIN_MOVED}."
    if evidence.if_independent is not None:
        yield (
            "Some issues have several tests, so p is computed over whole issues. If tests were "
            f"independent: {is_p(evidence.if_independent)} ({evidence.independent_rule})."
        )
    if graded is not None:
        yield (
            f"The mean score changed by {signed(graded.change)} over "
            f"{counted(graded.n, 'test')}{between(graded.interval, signed)}."
        )


def signed(change: float) -> str:
    """Format a change of a score with its sign, to three digits."""
    return f"{change:+.3f}".replace("-", "−")


def between(interval: Interval | None, write: Callable[[float], str] = points) -> str:
    """Format the interval of a change in brackets; "" without one."""
    return "" if interval is None else f" (95% {write(interval.low)} to {write(interval.high)})"


def left_out(rows: Sequence[Compared], *, first: str, second: str) -> list[str]:
    """Count the tests that are not compared by reason; [] where all are compared."""
    counts = counts_of(one for one in rows if one.kind not in COMPARED)
    if not counts:
        return []
    reasons = ", ".join(
        f"{counts[kind]:,} {reason.format(first=first, second=second)}"
        for kind, reason in REASONS.items()
        if counts[kind]
    )
    is_are = "is" if counts.total() == 1 else "are"
    of = counted(counts_of(rows).total(), "test")
    return [f"{counts.total():,} of {of} {is_are} not compared: {reasons}."]
