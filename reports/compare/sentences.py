"""What a comparison of two runs comes to, in sentences."""

from collections.abc import Callable, Mapping, Sequence

from evalhub.statistics.detectable import ALPHA
from evalhub.statistics.interval import Interval
from reports.compare.evidence_rule import FEWEST_MOVED, FLIPPED_ISSUES, MCNEMAR, Evidence, Findings
from reports.compare.rule import COMPARED, Compared, Kind, Tally, counts_of, net_change, tally_of
from reports.documents.cells import p_value, points

REASONS: Mapping[Kind, str] = {
    Kind.ERROR: "ended in an error",
    Kind.UNSCORED: "unscored",
    Kind.PENDING: "not answered or judged yet",
    Kind.RUBRIC_CHANGED: "asked the same but judged by another rubric",
    Kind.TEXT_CHANGED: "rewritten",
    Kind.ONLY_FIRST: "only in {first}",
    Kind.ONLY_SECOND: "only in {second}",
}
"""Why a test is not compared."""


def sentences(
    rows: Sequence[Compared], findings: Findings | None, *, first: str, second: str
) -> tuple[str, ...]:
    """The answer, and what it rests on. Findings None: they are yet to be computed."""
    tally = tally_of(rows)
    said = [f"{counted(tally)}{_sure(tally, net_change(rows), findings)}."]
    if findings:
        said += _beside(findings)
    said += left_out(rows, first=first, second=second)
    return tuple(said)


def counted(tally: Tally) -> str:
    return f"{tally.worse:,} worse, {tally.better:,} better of {tally.n:,} matched"


def _sure(tally: Tally, net: float | None, findings: Findings | None) -> str:
    if findings is None or findings.evidence.p is None:
        return "" if tally.n else ": nothing can be compared"
    return f": {is_p(findings.evidence.p)}, {verdict(net, findings.evidence)}; {finds(findings)}"


def verdict(net: float | None, evidence: Evidence, alpha: float = ALPHA) -> str:
    """Whether it got better or worse. What is not sure is never called "no change"."""
    if net is None or evidence.p is None:
        return "nothing can be compared"
    if evidence.p > alpha or not net:
        return "not enough evidence"
    return "worse, and hardly by chance" if net < 0 else "better, and hardly by chance"


def finds(findings: Findings) -> str:
    """What a suite of this size could find."""
    if findings.detectable is None:
        return "where so few tests flip, a suite of this size hardly finds any net change"
    least = f"{100 * findings.detectable:.1f}".removesuffix(".0")
    at = "discordance" if is_single(findings.evidence) else "spread"
    return (
        f"a suite of this size finds a net change of ≥ {least} points with 80% power at this {at}"
    )


def is_single(evidence: Evidence) -> bool:
    """Whether it is of single answers, which flip or do not."""
    return MCNEMAR in (evidence.rule, evidence.independent_rule)


def is_p(p: float) -> str:
    return f"p {p_value(p)}" if p_value(p).startswith("<") else f"p = {p_value(p)}"


def _too_few(evidence: Evidence) -> list[str]:
    if evidence.p is None or not 0 < evidence.moved < FEWEST_MOVED:
        return []
    unit = "issue" if evidence.rule == FLIPPED_ISSUES else "test"
    changed = f"{unit} changed" if evidence.moved == 1 else f"{unit}s changed"
    return [
        f"Only {evidence.moved} {changed} on balance: fewer than {FEWEST_MOVED} never reach "
        "p < 0.05, however they changed."
    ]


def _beside(findings: Findings) -> list[str]:
    evidence, graded, said = findings.evidence, findings.graded, _too_few(findings.evidence)
    if evidence.if_independent is not None:
        also = ", and what the suite finds is of such tests" if is_single(evidence) else ""
        said.append(
            "Several tests belong to one issue, so whole issues are compared. If tests were "
            f"independent, {is_p(evidence.if_independent)} ({evidence.independent_rule}){also}."
        )
    if graded is not None:
        said.append(
            f"The mean score changed by {signed(graded.change)} over "
            f"{number_of_tests(graded.n)}{between(graded.interval, signed)}."
        )
    return said


def signed(change: float) -> str:
    """A change of a score, with its sign, to three digits."""
    return f"{change:+.3f}".replace("-", "−")


def between(interval: Interval | None, write: Callable[[float], str] = points) -> str:
    """An interval of a change, in brackets; nothing where there is none."""
    return "" if interval is None else f" (95% {write(interval.low)} to {write(interval.high)})"


def left_out(rows: Sequence[Compared], *, first: str, second: str) -> list[str]:
    """How many tests are not compared, and why; nothing where all are."""
    counts = counts_of(one for one in rows if one.kind not in COMPARED)
    if not counts:
        return []
    reasons = ", ".join(
        f"{counts[kind]:,} {reason.format(first=first, second=second)}"
        for kind, reason in REASONS.items()
        if counts[kind]
    )
    is_are = "is" if counts.total() == 1 else "are"
    of = number_of_tests(counts_of(rows).total())
    return [f"{counts.total():,} of {of} {is_are} not compared: {reasons}."]


def number_of_tests(n: int) -> str:
    return "1 test" if n == 1 else f"{n:,} tests"
