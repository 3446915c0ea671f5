"""A run held against another by the gate's rule: for the command, and for who is told of it."""

from dataclasses import dataclass

from reports.comparison.comparing import MATCHED, missing_share, net_change, tally_of
from reports.comparison.evidence import Findings, findings, sample_of
from reports.comparison.gate import Found, Limits, Ruling, rule
from reports.queries.compare import Comparison, comparison_of, sides_of
from runs.models import Run


@dataclass(frozen=True)
class Gated:
    """The comparison, what was computed of it, and what the gate says."""

    comparison: Comparison
    computed: Findings
    ruling: Ruling


def gated(run: Run, against: Run, limits: Limits) -> Gated:
    """What the gate says of a run; it resamples, which takes a while."""
    comparison = comparison_of(*sides_of([against, run]))
    computed = findings(sample_of(comparison.rows, comparison.tags, single=comparison.is_single))
    return Gated(comparison, computed, rule(found_in(comparison, computed), limits))


def found_in(comparison: Comparison, computed: Findings) -> Found:
    """What the gate's rule looks at."""
    rows = comparison.rows
    return Found(
        tally=tally_of(rows),
        matched=sum(one.times for one in rows if one.kind in MATCHED),
        missing=missing_share(rows),
        net=net_change(rows),
        p=computed.evidence.p,
    )
