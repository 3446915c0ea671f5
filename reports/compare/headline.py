"""The head of a comparison of two runs: warnings and headline numbers."""

from collections.abc import Sequence

from evalhub.formatting import percent
from evalhub.statistics.bootstrap import clustered_interval
from evalhub.statistics.interval import Interval
from evalhub.statistics.wilson import wilson_interval
from reports.compare.evidence_rule import SEED, Findings
from reports.compare.matching_rule import Tested
from reports.compare.query import Comparison, Side
from reports.compare.rule import COMPARED, counts_of, missing_share, net_change
from reports.compare.sentences import between, number_of_tests, signed
from reports.compare.state import TwoRuns
from reports.documents.document import Fact
from reports.documents.reading import Reading
from runs.figures.tallies import Rate


def warnings(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return the reasons why the runs may not be comparable."""
    juries = {side.judge_run.jury_fingerprint if side.judge_run else "" for side in sides}
    mixes = {side.run.similarity_weight for side in sides}
    unfinished = ", ".join(side.run.label for side in sides if not side.is_done)
    found = {
        "Different juries judged these runs: differences may come from the judges.": len(juries),
        "Similarity counts for a different share of the score in each of these runs.": len(mixes),
        f"Still running: {unfinished}. The figures will change.": 2 if unfinished else 0,
    }
    return tuple(text for text, n in found.items() if n > 1)


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
    rows, tally, found = two.comparison.rows, two.tally, two.found
    net, missing = net_change(rows), missing_share(rows)
    return (
        Fact("worse", "Worse", tally.worse, "count", url=two.url(show="worse")),
        Fact("better", "Better", tally.better, "count", url=two.url(show="better")),
        Fact("same", "Same", tally.same, "count", url=two.url(show="same")),
        Fact("net", "Net change", net, "points", _net_note(two)),
        Fact("p", "p", found and found.evidence.p, "p", _p_note(found)),
        Fact(
            "detectable",
            "Detectable change",
            found and found.detectable,
            "share",
            _detectable_note(two),
        ),
        *_rates(two),
        *_graded(found),
        Fact(
            "missing",
            "Not compared",
            missing,
            "share",
            f"of {number_of_tests(counts_of(rows).total())}",
        ),
    )


def _net_note(two: TwoRuns) -> str:
    found = two.found
    if found is None or found.interval is None:
        return f"over {number_of_tests(two.tally.n)}"
    error = (
        ""
        if found.standard_error is None
        else f", standard error {100 * found.standard_error:.1f} pts"
    )
    return f"over {number_of_tests(two.tally.n)}{between(found.interval)}{error}, by issue"


def _p_note(found: Findings | None) -> str:
    return "" if found is None or found.evidence.p is None else found.evidence.rule


def _detectable_note(two: TwoRuns) -> str:
    flips = two.tally.discordance
    if flips is None or two.found is None:
        return ""
    if two.found.detectable is None:
        return f"none: only {percent(flips)} of {number_of_tests(two.tally.n)} flip"
    return f"of the tests, with 80% power, if {percent(flips)} flip"


def _rates(two: TwoRuns) -> list[Fact]:
    """Return the pass rates over the compared tests only."""
    kept = [one for one in two.comparison.rows if one.kind in COMPARED]
    before = [(one.first, one.times) for one in kept if one.first is not None]
    after = [(one.second, one.times) for one in kept if one.second is not None]
    return [
        Fact(
            "rate_before",
            "Pass rate before",
            _rate(two, before),
            "rate",
            _on_compared(two.names[0]),
        ),
        Fact(
            "rate_after", "Pass rate after", _rate(two, after), "rate", _on_compared(two.names[1])
        ),
    ]


def _on_compared(name: str) -> str:
    return f"{name}, compared tests only"


def _rate(two: TwoRuns, tests: Sequence[tuple[Tested, int]]) -> Rate:
    passed = sum(one.passed * times for one, times in tests)
    n = sum(one.scored * times for one, times in tests)
    single = two.comparison.is_single
    interval = wilson_interval(passed, n) if single else _of_repeats(two.reading, tests)
    return Rate(passed, n, passed / n if n else None, interval, is_resampled=not single)


def _of_repeats(reading: Reading, tests: Sequence[tuple[Tested, int]]) -> Interval | None:
    """Resample issues: repeats of a test are not independent."""
    shares = [one.share or 0.0 for one, _ in tests]
    repeats = [float(one.scored * times) for one, times in tests]
    return resampled(reading, shares, repeats, [one.issue_id for one, _ in tests])


def resampled(
    reading: Reading, shares: Sequence[float], repeats: Sequence[float], issues: Sequence[int]
) -> Interval | None:
    """Return the interval of a share of repeats, resampled by issue; None also while pending."""
    return reading.computed(
        "compare-rate-1",
        [shares, repeats, issues],
        lambda: clustered_interval(shares, repeats, issues, seed=SEED) if shares else None,
    )


def _graded(found: Findings | None) -> list[Fact]:
    if found is None or found.graded is None:
        return []
    graded = found.graded
    error = "" if graded.standard_error is None else f", standard error {graded.standard_error:.3f}"
    note = f"over {number_of_tests(graded.n)}{between(graded.interval, signed)}{error}, by issue"
    return [Fact("score_change", "Change in mean score", graded.change, "number", note)]
