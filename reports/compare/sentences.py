"""The findings of a comparison of two runs in sentences."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from evalhub.display.formatting import counted, few
from evalhub.statistics.changes.change_interval import ChangeInterval
from evalhub.statistics.changes.change_test import (
    ALPHA,
    FLIPPED_ISSUES,
    MIN_CHANGED,
    is_significant,
)
from evalhub.statistics.changes.detectable import measured_from
from reports.compare.evidence_rule import Findings
from reports.compare.rule import COMPARED, Compared, Kind, Tally, counts_of, tally_of
from reports.documents.cells import p_value, points

REASONS: Mapping[Kind, str] = {
    Kind.ERROR: "ended in an error",
    Kind.UNSCORED: "unscored",
    Kind.PENDING: "pending",
    Kind.NOT_COMPARABLE: "scored, but not comparable",
    Kind.RUBRIC_CHANGED: "with a changed rubric",
    Kind.TEXT_CHANGED: "with a changed prompt",
    Kind.ONLY_FIRST: "only in {first}",
    Kind.ONLY_SECOND: "only in {second}",
}
"""Reasons not to compare a test."""

NAMED = 3
"""Issues that a sentence names."""


def sentences(
    rows: Sequence[Compared],
    findings: Findings | None,
    *,
    first: str,
    second: str,
    titles: Mapping[int, str] | None = None,
) -> tuple[str, ...]:
    """Return the answer, then its basis. Findings None: not computed yet."""
    evidence = findings.evidence if findings else None
    p, rule = (evidence.p, evidence.rule) if evidence else (None, "")
    tally = tally_of(rows)
    said = [answer(tally, tally.net, p, rule)]
    if findings:
        said += [*_issues(rows, findings, titles or {}), *_basis(findings, first, second)]
    return (*said, *left_out(rows, first=first, second=second))


def answer(tally: Tally, net: float | None, p: float | None, rule: str) -> str:
    """Return the change of compared tests with its certainty. p None: not computed, or no test.

    Args:
        rule: The name of the test behind p, and what it is corrected for.
    """
    counts = f"{tally.worse:,} worse, {tally.better:,} better of {tally.n:,} matched"
    if p is not None:
        return f"{counts}: {is_p(p)} ({rule}), {verdict(net, p)}."
    return f"{counts}." if tally.n else f"{counts}: nothing can be compared."


def verdict(net: float | None, p: float | None, alpha: float = ALPHA) -> str:
    """Name the direction of the change; an uncertain one is never called "no change"."""
    if net is None or p is None:
        return "nothing can be compared"
    if not is_significant(p, alpha) or not net:
        return "not enough evidence"
    return "significantly worse" if net < 0 else "significantly better"


def is_p(p: float) -> str:
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


class ChangedIssue(NamedTuple):
    """An issue with compared tests; `p` is corrected for all that it is listed with (Holm)."""

    title: str
    net: float | None
    p: float | None


def issues_by_themselves(issues: Iterable[ChangedIssue], *, over: int, unit: str = "issue") -> str:
    """Name the issues that are significantly worse, and count the better ones; "" without any.

    They may change significantly where the whole does not.

    Args:
        over: The number of issues, or of other units, that their p is corrected for.
    """
    found = [one for one in issues if one.net and is_significant(one.p)]
    worse = sorted((one for one in found if (one.net or 0) < 0), key=lambda one: one.p or 0)
    if not found or over < 2:
        return ""
    named = few([f"“{one.title}” ({is_p(one.p or 0)})" for one in worse], most=NAMED)
    worse_words = f"{counted(len(worse), 'issue')} worse" + (f", {named}" if worse else "")
    return (
        f"Significantly changed by themselves: {worse_words}; {len(found) - len(worse):,} better "
        f"(p ≤ {ALPHA:g} after Holm over {counted(over, unit)})."
    )


def _issues(
    rows: Sequence[Compared], findings: Findings, titles: Mapping[int, str]
) -> Iterator[str]:
    net: dict[int, float] = defaultdict(float)
    for one in rows:
        net[one.latest.issue_id] += (one.change or 0) * one.times
    changed = [
        ChangedIssue(titles.get(issue, f"issue {issue}"), net[issue], p.holm)
        for issue, p in findings.issues.items()
    ]
    if said := issues_by_themselves(changed, over=len(changed)):
        yield said


def _basis(findings: Findings, first: str, second: str) -> Iterator[str]:
    evidence, graded = findings.evidence, findings.graded
    if evidence.p is not None and 0 < evidence.moved < MIN_CHANGED:
        unit = "issue" if evidence.rule == FLIPPED_ISSUES else "test"
        changed = f"{unit} changed" if evidence.moved == 1 else f"{unit}s changed"
        yield f"Only {evidence.moved} {changed} on balance; p < 0.05 needs at least {MIN_CHANGED}."
    if evidence.caveat:
        yield evidence.caveat
    if evidence.if_independent is not None:
        yield (
            "Tests of one issue may fail together, so p is computed over whole issues. If tests "
            f"were independent: {is_p(evidence.if_independent)} ({evidence.independent_rule})."
        )
    if findings.detectable is not None:
        found = findings.detectable
        yield f"Detectable change: {found.points}. {found.note(measured_from(first, second))}"
    if graded is not None and graded.interval is not None:
        yield (
            f"The mean score changed by {signed(graded.change)} over "
            f"{counted(graded.n, 'test')}{between(graded.interval, signed)}."
        )


def signed(change: float) -> str:
    """Format a change of a score with its sign, to three digits."""
    return f"{change:+.3f}".replace("-", "−")


def between(found: ChangeInterval | None, write: Callable[[float], str] = points) -> str:
    """Format the interval of a change in brackets, with its method; "" without one."""
    if found is None:
        return ""
    return f" (95% {write(found.interval.low)} to {write(found.interval.high)}, {found.method})"


def left_out(rows: Sequence[Compared], *, first: str, second: str) -> list[str]:
    """Count the tests that are not compared by reason; [] where all are compared."""
    every = counts_of(rows)
    counts = Counter({kind: n for kind, n in every.items() if kind not in COMPARED})
    if not counts:
        return []
    reasons = ", ".join(
        f"{counts[kind]:,} {reason.format(first=first, second=second)}"
        for kind, reason in REASONS.items()
        if counts[kind]
    )
    is_are = "is" if counts.total() == 1 else "are"
    of = counted(every.total(), "test")
    return [f"{counts.total():,} of {of} {is_are} not compared: {reasons}."]
