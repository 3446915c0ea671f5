"""The gate of a run: its rules with their figures, and the decision.

For the command, the API and notifications.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalhub.statistics.changes.detectable import measured_from
from reports.compare.evidence_rule import Findings, findings, sample_of
from reports.compare.query import Comparison, comparison_of, sides_of
from reports.compare.rule import MATCHED, counts_of, tally_of
from reports.gate.change_rules import Change, change_lines
from reports.gate.condition_rules import (
    Matching,
    ScoredResults,
    comparable_rule,
    done_rule,
    scored_rule,
)
from reports.gate.level_rules import (
    PassRate,
    SevereTests,
    cost_rule,
    latency_rule,
    pass_rate_rule,
    severity_rule,
)
from reports.gate.rule import GateDecision, GateLine, Remedy, Verdict, decide, skipped
from reports.queries.incomplete_runs import retry_url
from runs.comparison.comparability import rejudge_url
from runs.comparison.completeness import is_enough
from runs.figures.run_figures import RunFigures, figures_of
from runs.figures.run_labels import names_of_pair
from runs.models import RETRYABLE, Outcome, Result, ResultScore, Run
from runs.suites.gate_policy import GatePolicy, read_policy, severities_from


@dataclass(frozen=True)
class GateResult:
    """The gate's decision on a run, with the line of each rule.

    Attributes:
        against: The run that it is compared with; None if no rule needs one, or there is none.
        comparison: With its `computed` findings; None where the runs cannot be compared.
        is_running: The run or the other one is still at work: ask again later.
    """

    run: Run
    against: Run | None
    policy: GatePolicy
    lines: tuple[GateLine, ...]
    decision: GateDecision
    comparison: Comparison | None = None
    computed: Findings | None = None
    is_running: bool = False


def policy_of(run: Run) -> GatePolicy:
    """Return the policy of the run's suite; the default without a suite."""
    return run.suite.gate_policy if run.suite else GatePolicy()


def changed_policy(run: Run, changes: Mapping[str, Any]) -> GatePolicy:
    """Return the policy of the run's suite with these rules in place of its own; None: off.

    Raises:
        PolicyRefused: They are wrong.
    """
    return read_policy(policy_of(run).model_dump() | dict(changes))


def gate_result(run: Run, against: Run | None, policy: GatePolicy | None = None) -> GateResult:
    """Decide whether the run passes the gate; resampling takes a while.

    Args:
        against: The run to compare with, if there is any.
        policy: None for that of the run's suite.
    """
    policy = policy or policy_of(run)
    against = against if policy.is_comparing else None
    runs = [run, against] if against else [run]
    figures = figures_of(runs, of_judges=True)
    lines = [line for one in runs for line in _state_lines(one, run, figures[one.pk])]
    comparison = computed = None
    if policy.is_comparing and _are_met(lines):
        comparison = comparison_of(*sides_of([against, run])) if against else None
        lines.append(comparable_rule(_matching(run, against, comparison)))
    if _are_met(lines):
        if comparison:
            computed = _findings(comparison, policy)
            lines += _change_lines(comparison, computed, policy)
        lines += [RULES[rule](run, figures[run.pk], policy) for rule in policy.absolute_rules]
    else:
        lines += map(skipped, policy.rules)
    return GateResult(
        run=run,
        against=against,
        policy=policy,
        lines=tuple(lines),
        decision=decide(lines),
        comparison=comparison if computed else None,
        computed=computed,
        is_running=any(figures[one.pk].is_live for one in runs),
    )


def _are_met(lines: Sequence[GateLine]) -> bool:
    return all(line.verdict == Verdict.HOLDS for line in lines)


# Conditions --------------------------------------------------------------------------------------


def _state_lines(one: Run, run: Run, figures: RunFigures) -> Iterator[GateLine]:
    """Yield whether a run is done, and whether enough of it is scored."""
    if not figures.is_done:
        yield done_rule(one.label, figures.state_label, is_running=figures.is_live, n=figures.total)
        return
    counts = figures.counts
    found = ScoredResults(
        run=one.pk,
        name=one.label,
        scored=counts.scored,
        errors=counts.error,
        unscored=counts.unscored,
        pending=counts.pending,
        retried=_doubtful(one) if counts.unscored else 0,
        retry_page=retry_url(one.pk),
    )
    yield scored_rule("scored" if one == run else "baseline_scored", found)


def _doubtful(run: Run) -> int:
    """Count the unscored results that “Retry failed” judges again."""
    scores = ResultScore.objects.filter(RETRYABLE, judge_run__run=run, judge_run__is_active=True)
    return scores.filter(result__judges_outcome=Outcome.UNSCORED).count()


def _matching(run: Run, against: Run | None, comparison: Comparison | None) -> Matching:
    if against is None or comparison is None:
        return Matching("")
    counts = counts_of(comparison.rows)
    matched = sum(n for kind, n in counts.items() if kind in MATCHED)
    remedy = None
    refused = comparison.comparable
    if not is_enough(matched, counts.total()):
        refused = refused and comparison.apart
    if refused.is_repairable:
        judged, like = refused.to_rejudge(against.pk, run.pk)
        remedy = Remedy(
            f"Re-judge run {judged} with the jury of run {like}.",
            f"/api/v1/runs/{judged}/rejudge/",
            (("like", like),),
            rejudge_url(judged, like),
        )
    return Matching(
        other=f"{against.label} (run {against.pk})",
        matched=matched,
        total=counts.total(),
        reason=comparison.comparable.reason,
        note=" ".join(comparison.not_compared),
        remedy=remedy,
    )


# The change from the baseline --------------------------------------------------------------------


def _findings(comparison: Comparison, policy: GatePolicy) -> Findings:
    return findings(sample_of(comparison.rows, comparison.tags), policy.level)


def _change_lines(comparison: Comparison, computed: Findings, policy: GatePolicy) -> list[GateLine]:
    change = Change(
        tally=tally_of(comparison.rows),
        conclusion=computed.conclusion,
        names=names_of_pair(comparison.first.run, comparison.second.run),
        titles=comparison.issues,
        edited=[
            f"test {one.latest.test_id} ({comparison.issues[one.latest.issue_id]})"
            for one in comparison.rows
            if one.fails_since_edit
        ],
    )
    return change_lines(change, policy)


def detectable_in_words(comparison: Comparison, computed: Findings) -> str:
    """Return the detectable change with its basis; "" where nothing was compared."""
    found = computed.detectable
    if found is None:
        return ""
    names = names_of_pair(comparison.first.run, comparison.second.run)
    return f"Detectable change: {found.points}. {found.note(measured_from(*names))}"


# The run alone -----------------------------------------------------------------------------------


def _severity(run: Run, figures: RunFigures, policy: GatePolicy) -> GateLine:
    assert policy.failing_severity is not None
    severities = severities_from(policy.failing_severity)
    rows = Result.objects.filter(run=run, issue__severity__in=severities).order_by("test_id")
    tests: dict[tuple[int, str], list[str]] = defaultdict(list)
    for test, issue, outcome in rows.values_list("test_id", "issue__title", "judges_outcome"):
        tests[test, issue].append(outcome)
    found = {
        f"test {test} ({issue})": outcomes
        for (test, issue), outcomes in tests.items()
        if Outcome.PASSED in outcomes or Outcome.FAILED in outcomes
    }
    failed = tuple(
        name
        for name, outcomes in found.items()
        if outcomes.count(Outcome.FAILED) >= outcomes.count(Outcome.PASSED)
    )
    return severity_rule(SevereTests(failed, len(found), len(tests)), policy.failing_severity)


def _pass_rate(run: Run, figures: RunFigures, policy: GatePolicy) -> GateLine:
    assert policy.min_pass_rate is not None
    rate = figures.rate
    found = PassRate(rate.passed, rate.n, rate.share, rate.interval, rate.method)
    return pass_rate_rule(found, policy.min_pass_rate)


def _latency(run: Run, figures: RunFigures, policy: GatePolicy) -> GateLine:
    assert policy.max_p90_latency_ms is not None
    return latency_rule(_measured(run, "latency_ms"), figures.total, policy.max_p90_latency_ms)


def _cost(run: Run, figures: RunFigures, policy: GatePolicy) -> GateLine:
    assert policy.max_mean_cost_usd is not None
    costs = [float(cost) for cost in _measured(run, "cost_usd")]
    return cost_rule(costs, figures.total, policy.max_mean_cost_usd)


def _measured(run: Run, figure: str) -> list[Any]:
    """Return the measured values of a figure of the run's answers."""
    rows = Result.objects.filter(run=run, **{f"{figure}__isnull": False}).order_by()
    rows = rows.exclude(outcome=Outcome.ERROR)
    return list(rows.values_list(figure, flat=True))


RULES = {
    "failing_severity": _severity,
    "min_pass_rate": _pass_rate,
    "max_p90_latency_ms": _latency,
    "max_mean_cost_usd": _cost,
}
"""The rules that need no other run, by their name in the policy."""
