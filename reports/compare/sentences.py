"""The findings of a comparison of two runs in sentences."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from evalhub.display.formatting import counted, points
from evalhub.statistics.changes.change_interval import ChangeInterval
from reports.compare.conclusion_words import headline, how_sure, lost, missing
from reports.compare.evidence_rule import Findings
from reports.compare.rule import COMPARED, FLIPS, Compared, Kind, counts_of, tally_of

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


def concluded(
    rows: Sequence[Compared],
    findings: Findings | None,
    *,
    first: str,
    second: str,
    titles: Mapping[int, str] | None = None,
    across: str = "",
) -> tuple[str, ...]:
    """Return the conclusion, and what was lost or is missing. Findings None: not computed.

    Args:
        across: Names of two models, where the runs are of different ones.
    """
    conclusion = findings.conclusion if findings else None
    said = [headline(conclusion, tally_of(rows), across=across)]
    if conclusion:
        said += lost(conclusion, titles or {}, in_short=True)
        said += filter(None, [missing(conclusion, first, second)])
    return (*said, *reviewed_apart(rows, first=first, second=second))


def basis(
    rows: Sequence[Compared],
    findings: Findings | None,
    *,
    first: str,
    second: str,
    detectable: str = "",
) -> tuple[str, ...]:
    """Return how sure the conclusion is, and which tests it leaves out."""
    said = [*how_sure(findings.conclusion)] if findings else []
    said += filter(None, [detectable])
    said += _score(findings) if findings else []
    return (*said, *left_out(rows, first=first, second=second))


def overruled_apart(rows: Sequence[Compared]) -> tuple[list[int], list[int]]:
    """Return the first results of changed tests that people overruled in the other run alone."""
    flips = [(one.first, one.second) for one in rows if one.kind in FLIPS]
    pairs = [(before, after) for before, after in flips if before and after]
    return (
        [one.result_id for one, other in pairs if other.overridden and not one.overridden],
        [one.result_id for other, one in pairs if other.overridden and not one.overridden],
    )


def reviewed_apart(rows: Sequence[Compared], *, first: str, second: str) -> Iterator[str]:
    """Yield how many changed tests have a human verdict on one side; comparisons use neither."""
    tally = tally_of(rows)
    for results, name in zip(overruled_apart(rows), (second, first), strict=True):
        if results:
            of = counted(tally.worse + tally.better, "changed test")
            yield f"People gave a verdict on {len(results):,} of the {of} in {name} alone."


def _score(findings: Findings) -> Iterator[str]:
    graded = findings.graded
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
