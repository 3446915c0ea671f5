"""The facts above a comparison of two runs, and what speaks against comparing them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from evalhub.display.formatting import counted, listed, points
from evalhub.statistics.changes.conclusion import Conclusion
from evalhub.statistics.rates.rate_interval import MIN_ISSUES
from reports.compare.conclusion_words import said
from reports.compare.evidence_rule import Findings
from reports.compare.query import Comparison, Side
from reports.compare.rule import SIDE_BY_SIDE, counts_of, missing_share
from reports.compare.sentences import between, signed
from reports.compare.two_runs.state import TwoRuns
from reports.documents.document import Fact
from runs.comparison.comparability import comparability_of_pairs
from runs.comparison.comparability_rule import Comparable
from runs.comparison.tested_rule import Tested
from runs.figures.rate import Rate, rate_of_issues
from runs.models import Run


def warnings(first: Side, others: Sequence[tuple[Side, Comparable]]) -> tuple[str, ...]:
    """Return the reasons why the runs cannot be compared with the first, or not yet.

    Args:
        others: Each with whether it may be compared with the first.
    """
    apart: dict[Comparable, list[str]] = defaultdict(list)
    for side, comparable in others:
        if not comparable:
            apart[comparable].append(side.run.label)
    found = [
        f"Not comparable: {comparable.cause}."
        if len(others) == 1
        else f"{listed(names)}: {comparable.reason_against(first.run.label)}"
        for comparable, names in apart.items()
    ]
    sides = first, *(side for side, _ in others)
    if unfinished := ", ".join(side.run.label for side in sides if not side.is_done):
        found.append(f"Still running: {unfinished}. The figures will change.")
    return tuple(found)


def against_first(sides: Sequence[Side]) -> list[tuple[Side, Comparable]]:
    """Return whether each other run may be compared with the first; one query."""
    first, *others = sides
    found = comparability_of_pairs([(first.run.pk, side.run.pk) for side in others])
    return [(side, found[first.run.pk, side.run.pk]) for side in others]


def labels(comparison: Comparison, names: tuple[str, str]) -> tuple[str, ...]:
    """Return the labels of both runs; a label of only one run starts with its name."""
    first, second = comparison.first.labels, comparison.second.labels
    return tuple(
        label
        if label in first and label in second
        else f"{names[0] if label in first else names[1]}: {label}"
        for label in dict.fromkeys((*first, *second))
    )


def facts_of(two: TwoRuns) -> tuple[Fact, ...]:
    """Return the headline numbers; those with a direction only where something may be concluded."""
    if not two.comparison.is_conclusive:
        return (*_rates(two, "scored in both runs"), _missing(two))
    tally, found = two.tally, two.found
    conclusion = found.conclusion if found else None
    detectable, basis = two.detectable or (None, "")
    return (
        Fact("conclusion", "Conclusion", conclusion and said(conclusion, across=bool(two.across))),
        Fact("worse", "Worse", tally.worse, "count", url=two.url(show="worse")),
        Fact("better", "Better", tally.better, "count", url=two.url(show="better")),
        Fact("same", "Same", tally.same, "count", url=two.url(show="same")),
        Fact("net", "Net change", tally.net, "points", _net_note(two)),
        Fact("p", "p", conclusion and conclusion.p, "p", _method(conclusion)),
        Fact(
            "detectable",
            "Detectable change",
            detectable and detectable.change,
            "size",
            basis,
        ),
        *_rates(two, "compared tests only"),
        *_graded(found),
        _missing(two),
    )


def rates_of(two: TwoRuns) -> tuple[Rate, Rate]:
    """Return the pass rates of both runs over the tests that both have scored."""
    kept = [one for one in two.comparison.rows if one.kind in SIDE_BY_SIDE]
    before = _rate(two.comparison.first.run, ((one.first, one.times) for one in kept))
    after = _rate(two.comparison.second.run, ((one.second, one.times) for one in kept))
    return before, after


def _rates(two: TwoRuns, of: str) -> tuple[Fact, Fact]:
    before, after = rates_of(two)
    of_first, of_second = (
        f"{name}, {of}{rate.method and f'; 95% CI, {rate.method}'}"
        for name, rate in zip(two.names, (before, after), strict=True)
    )
    return (
        Fact("rate_before", "Pass rate before", before, "rate", of_first),
        Fact("rate_after", "Pass rate after", after, "rate", of_second),
    )


def _method(found: Conclusion | None) -> str:
    return found.reading.net.method if found and found.reading else ""


def _missing(two: TwoRuns) -> Fact:
    rows = two.comparison.rows
    of = f"of {counted(counts_of(rows).total(), 'test')}"
    return Fact("missing", "Not compared", missing_share(rows), "share", of)


def _net_note(two: TwoRuns) -> str:
    tests = counted(two.tally.n, "test")
    interval = two.found and two.found.conclusion.interval
    if not interval:
        return f"over {tests}"
    return f"over {tests} (95% {points(interval.low)} to {points(interval.high)})"


def _rate(run: Run, tests: Iterable[tuple[Tested | None, int]]) -> Rate:
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    total = 0
    for one, times in tests:
        if one is not None:
            mine = sums[one.issue_id]
            mine[0] += one.passed * times
            mine[1] += one.scored * times
            total += one.n * times
    issues = [(passed, scored) for passed, scored in sums.values()]
    return rate_of_issues(issues, answers=run.repeats, total=total)


def _graded(found: Findings | None) -> list[Fact]:
    if found is None or found.graded is None:
        return []
    graded, of = found.graded, counted(found.graded.n, "test")
    if graded.interval is None:
        note = f"over {of} of fewer than {MIN_ISSUES} issues: too few for an interval"
        return [Fact("score_change", "Change in mean score", None, "number", note)]
    error = f", standard error {graded.interval.standard_error:.3f}"
    note = f"over {of}{between(graded.interval, signed)}{error}"
    return [Fact("score_change", "Change in mean score", graded.change, "number", note)]
