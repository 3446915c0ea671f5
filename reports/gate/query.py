"""The gate of a run: its rules with their figures, and the decision.

For the command, the API and notifications.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Max, Q

from evalhub.models import User
from evalhub.statistics.changes.slow_decay import LEVEL_OF_LOOKS
from issues.severity import severities_from
from reports.compare.attempts_query import Runs, attempts_of
from reports.compare.evidence_rule import Findings, findings, sample_of
from reports.compare.pair_changes_query import PairChange, pair_changes
from reports.compare.query import Comparison, comparison_of, pooled_sides_of, prompts_of
from reports.compare.rule import FLIPS, MATCHED, counts_of, tally_of
from reports.documents.reading import Reading
from reports.gate.change_rules import Change, change_lines, conclusion_rule
from reports.gate.precondition_rules import (
    Matching,
    ScoredResults,
    comparable_rule,
    done_rule,
    scored_rule,
)
from reports.gate.rule import GateDecision, GateLine, Remedy, Verdict, decide, skipped
from reports.gate.single_run_rules import (
    PassRate,
    SevereTest,
    cost_rule,
    latency_rule,
    pass_rate_rule,
    severity_rule,
)
from reports.limits import GATE_FLIPS
from reports.queries.incomplete_runs import retry_url
from reports.queries.names import name_of_test, titles
from reports.releases.reference_query import reference_looks
from runs.comparison.baselines import baseline_releases
from runs.comparison.comparability import rejudge_url
from runs.comparison.completeness import is_enough
from runs.comparison.detectable_change import detectable_of, measured_from, pair_before
from runs.figures.rate import rate_of_issues
from runs.figures.run_figures import RunFigures, figures_of
from runs.figures.run_labels import names_of_pair
from runs.figures.tallies import groups_of, tallies_of_runs
from runs.models import RETRYABLE, Outcome, Release, Result, ResultScore, Run
from runs.suites.gate_policy import GatePolicy, read_policy


@dataclass(frozen=True)
class GateResult:
    """The gate's decision on a run, with the line of each rule.

    Attributes:
        against: The run that it is compared with; None if no rule needs one, or there is none.
        comparison: With its `computed` findings; None where the runs cannot be compared.
        prompts: What the first flipped tests ask, by revision; without sealed ones.
        is_running: The run or the other one is still at work: ask again later.
    """

    run: Run
    against: Run | None
    policy: GatePolicy
    lines: tuple[GateLine, ...]
    decision: GateDecision
    comparison: Comparison | None = None
    computed: Findings | None = None
    prompts: Mapping[int, str] = field(default_factory=dict)
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
    """Decide whether the run passes the gate, with its other attempts at the release pooled.

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
        comparison = comparison_of(*pooled_sides_of(against, run)) if against else None
        lines.append(comparable_rule(_matching(run, against, comparison)))
    if _are_met(lines):
        if comparison:
            computed = _findings(comparison, policy)
            lines += _change_lines(comparison, computed, policy)
            lines += _reference_lines(run, policy)
        pooled = comparison.second.runs if comparison else attempts_of([run])[run.pk].pooled
        lines += [RULES[rule](pooled, policy) for rule in policy.absolute_rules]
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
        prompts=_flipped_prompts(comparison) if comparison and computed else {},
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


def detectable(result: GateResult) -> tuple[float | None, str]:
    """Return the loss that the comparison could show, a share, with its basis; "" without one."""
    comparison = result.comparison
    tests = comparison and sample_of(comparison.rows, comparison.tags).tests_by_issue().values()
    if not comparison or not tests:
        return None, ""
    pair = pair_before(comparison.first.run)
    found = detectable_of(tests, pair, result.policy.level)
    return found.change, found.note(measured_from(pair))


def _change_lines(comparison: Comparison, computed: Findings, policy: GatePolicy) -> list[GateLine]:
    change = Change(
        tally=tally_of(comparison.rows),
        conclusion=computed.conclusion,
        names=names_of_pair(comparison.first.run, comparison.second.run),
        titles=comparison.issues,
        edited=_named(
            (one.latest.test_id, one.latest.revision_id, comparison.issues[one.latest.issue_id])
            for one in comparison.rows
            if one.fails_since_edit
        ),
    )
    first, *others = change_lines(change, policy)
    said = " ".join(filter(None, [first.sentence, _attempts(comparison, change, policy)]))
    return [replace(first, sentence=said), *others]


def _reference_lines(run: Run, policy: GatePolicy) -> Iterator[GateLine]:
    """Yield whether the run is worse than the baseline release of its suite, if there is one."""
    if not (policy.against_reference and run.suite_id and baseline_releases([run.suite_id])):
        return
    order = Release.objects.in_order()
    for look in reference_looks([(run.pk, run.model_name)], (), Reading(User()), order):
        change = Change(
            tally=look.change.whole.tally,
            conclusion=look.change.conclusion,
            names=(look.reference.release, run.label),
            titles=titles(look.change.issues),
        )
        line = conclusion_rule(change, LEVEL_OF_LOOKS)
        said = f"{look.said[0].upper()}{look.said[1:]}: {line.sentence}"
        yield replace(line, rule="against_reference", sentence=said)


def _flipped_prompts(comparison: Comparison) -> dict[int, str]:
    flips = [one.latest.revision_id for one in comparison.rows if one.kind in FLIPS]
    return prompts_of(flips[:GATE_FLIPS], AnonymousUser())


def _named(tests: Iterable[tuple[int, int, str]]) -> list[str]:
    """Name tests by what they ask, and by their issue; one query.

    Logs and comments are read by anybody: sealed tests are not quoted.

    Args:
        tests: Of each its id, its revision and the title of its issue.
    """
    tests = list(tests)
    prompts = prompts_of({revision for _, revision, _ in tests}, AnonymousUser())
    return [
        f"{name_of_test(test, prompts.get(revision))} ({issue})" for test, revision, issue in tests
    ]


def _attempts(comparison: Comparison, change: Change, policy: GatePolicy) -> str:
    """Return the place of the run among its attempts, and which of the others fail alone."""
    attempts = comparison.second.attempts
    if attempts is None or not attempts.are_several:
        return ""
    in_order = attempts.pooled[::-1]
    alone = pair_changes([(comparison.first.runs, (pk,)) for pk in in_order], level=policy.level)
    failed = {
        pk
        for pk, one in zip(in_order, alone, strict=True)
        if pk != attempts.run and _fails(one, change, policy)
    }
    return attempts.after(failed)


def _fails(alone: PairChange, pooled: Change, policy: GatePolicy) -> bool:
    """Tell whether a rule on the change does not hold for one attempt alone."""
    one = replace(pooled, tally=alone.whole.tally, conclusion=alone.conclusion, edited=())
    return any(line.verdict == Verdict.DOES_NOT_HOLD for line in change_lines(one, policy))


# The run alone -----------------------------------------------------------------------------------


def _severity(runs: Runs, policy: GatePolicy) -> GateLine:
    assert policy.failing_severity is not None
    severities = severities_from(policy.failing_severity)
    rows = Result.objects.filter(run__in=runs, issue__severity__in=severities).order_by("test_id")
    found = rows.values_list("test_id", "issue__title").annotate(
        revision=Max("revision"),
        n=Count("pk"),
        lowest=Count("pk", filter=Q(judges_lowest_passed=True)),
        highest=Count("pk", filter=Q(judges_highest_passed=True)),
    )
    names = _named((test, revision, issue) for test, issue, revision, *_ in found)
    tests = [SevereTest(name, *row[3:]) for name, row in zip(names, found, strict=True)]
    return severity_rule(tests, policy.failing_severity)


def _pass_rate(runs: Runs, policy: GatePolicy) -> GateLine:
    assert policy.min_pass_rate is not None
    answers = sum(Run.objects.filter(pk__in=runs).values_list("repeats", flat=True))
    by_issue = groups_of(tallies_of_runs(runs, of_judges=True), lambda tally: [tally.issue_id])
    issues = by_issue.values()
    rates = [
        rate_of_issues(sums, answers=answers)
        for sums in (
            [(one.passed, one.scored) for one in issues],
            [(one.lowest_passed, one.total) for one in issues],
            [(one.highest_passed, one.total) for one in issues],
        )
    ]
    return pass_rate_rule(PassRate(*rates), policy.min_pass_rate)


def _latency(runs: Runs, policy: GatePolicy) -> GateLine:
    assert policy.max_p90_latency_ms is not None
    return latency_rule(*_measured(runs, "latency_ms"), policy.max_p90_latency_ms)


def _cost(runs: Runs, policy: GatePolicy) -> GateLine:
    assert policy.max_mean_cost_usd is not None
    costs, answers = _measured(runs, "cost_usd")
    return cost_rule([float(cost) for cost in costs], answers, policy.max_mean_cost_usd)


def _measured(runs: Runs, figure: str) -> tuple[list[Any], int]:
    """Return the measured values of a figure of the runs' answers, and the number of answers."""
    every = Result.objects.filter(run__in=runs).order_by()
    rows = every.filter(**{f"{figure}__isnull": False}).exclude(outcome=Outcome.ERROR)
    return list(rows.values_list(figure, flat=True)), every.count()


RULES: Mapping[str, Callable[[Runs, GatePolicy], GateLine]] = {
    "failing_severity": _severity,
    "min_pass_rate": _pass_rate,
    "max_p90_latency_ms": _latency,
    "max_mean_cost_usd": _cost,
}
"""The rules that need no other run, by their name in the policy."""
