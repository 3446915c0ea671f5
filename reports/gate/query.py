"""The gate's decision on a run, for the command and for notifications."""

from dataclasses import dataclass

from reports.compare.evidence_rule import Findings, findings, sample_of
from reports.compare.query import Comparison, comparison_of, sides_of
from reports.compare.rule import MATCHED, missing_share, net_change, tally_of
from reports.gate.rule import GateDecision, GateInput, Limits, rule
from runs.models import Run


@dataclass(frozen=True)
class GateResult:
    """A comparison, its findings, and the gate's decision."""

    comparison: Comparison
    computed: Findings
    ruling: GateDecision


def gate_result(run: Run, against: Run, limits: Limits) -> GateResult:
    """Decide whether the run passes; resampling takes a while."""
    comparison = comparison_of(*sides_of([against, run]))
    computed = findings(sample_of(comparison.rows, comparison.tags, single=comparison.is_single))
    return GateResult(comparison, computed, rule(gate_input(comparison, computed), limits))


def gate_input(comparison: Comparison, computed: Findings) -> GateInput:
    rows = comparison.rows
    return GateInput(
        tally=tally_of(rows),
        matched=sum(one.times for one in rows if one.kind in MATCHED),
        missing=missing_share(rows),
        net=net_change(rows),
        p=computed.evidence.p,
    )
