"""A run held against another by the gate's rule: for the command, and for who is told of it."""

from dataclasses import dataclass

from reports.compare.evidence_rule import Findings, findings, sample_of
from reports.compare.query import Comparison, comparison_of, sides_of
from reports.compare.rule import MATCHED, missing_share, net_change, tally_of
from reports.gate.rule import GateDecision, GateInput, Limits, rule
from runs.models import Run


@dataclass(frozen=True)
class GateResult:
    """The comparison, what was computed of it, and what the gate says."""

    comparison: Comparison
    computed: Findings
    ruling: GateDecision


def gate_result(run: Run, against: Run, limits: Limits) -> GateResult:
    """What the gate says of a run; it resamples, which takes a while."""
    comparison = comparison_of(*sides_of([against, run]))
    computed = findings(sample_of(comparison.rows, comparison.tags, single=comparison.is_single))
    return GateResult(comparison, computed, rule(gate_input(comparison, computed), limits))


def gate_input(comparison: Comparison, computed: Findings) -> GateInput:
    """What the gate's rule looks at."""
    rows = comparison.rows
    return GateInput(
        tally=tally_of(rows),
        matched=sum(one.times for one in rows if one.kind in MATCHED),
        missing=missing_share(rows),
        net=net_change(rows),
        p=computed.evidence.p,
    )
