"""Rows of one table, and heat maps, none of which has a change.

At most 5 % of comparisons may call any tag, or any issue, surely lost or won; and at most 5 % of
heat maps may name an issue on which models differ, where all are equal on every test. Where one
whole issue of many is lost, its row has to say so, and so have the conclusion and the gate.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.changes.conclusion import Outcome
from reports.compare.evidence_rule import Findings, Sample, findings
from reports.heatmap.spread_rule import RunTest, spreads
from tests.bench.validity import Check, one_in

FEW = (0.0, 0.05)
MODELS, ISSUES, TESTS = 8, 10, 20
"""Models, issues, and tests of each issue: enough that a single issue can be significant."""


def two_runs(rng: np.random.Generator, *, loss: float = 0) -> Findings:
    """Compare two runs of equal models, each test with its own rate; the second fails more."""
    n = ISSUES * TESTS
    first, second = rng.random((2, n)) < rng.beta(1, 1, n)
    return compare(first, second & (rng.random(n) >= loss), ISSUES)


def compare(first: NDArray[np.bool_], second: NDArray[np.bool_], n_issues: int) -> Findings:
    """Compare the passes of two runs; every test has the tag "all"."""
    n = len(first)
    issues = tuple(place % n_issues for place in range(n))
    old, new = ([Outcome.whole(float(one)) for one in side] for side in (first, second))
    return findings(
        Sample(
            old=tuple(old),
            new=tuple(new),
            times=(1,) * n,
            issues=issues,
            tags=tuple(("all", f"tag {issue % 5}") for issue in issues),
            weights=(1.0,) * n,
            scores=(None,) * n,
        )
    )


def rows_told(kind: str, draws: int) -> float:
    """Return the share of comparisons of which any tag or issue surely changed."""
    rng = np.random.default_rng(len(kind))
    found = 0
    for _ in range(draws):
        rows = getattr(two_runs(rng), kind).values()
        found += any(one.adjusted <= 0.05 for one in rows)
    return found / draws


def lost_issue_told(draws: int, *, by_row: bool) -> float:
    """Return the share in which one whole issue of 20 × 10 tests, among 2 % noise, is told."""
    rng = np.random.default_rng(6)
    lost = np.arange(200) % 20 == 0
    found = 0
    for _ in range(draws):
        flips = rng.random((2, 200)) < 0.02
        one = compare(~flips[0] | lost, ~flips[1] & ~lost, 20)
        found += one.issues[0].adjusted <= 0.05 if by_row else one.conclusion.word.is_loss
    return found / draws


def maps_told(draws: int) -> float:
    """Return the share of heat maps of equal models that name an issue."""
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(draws):
        found += any(one.holm <= 0.05 for one in spreads(_map(rng)).values())
    return found / draws


def _map(rng: np.random.Generator) -> list[RunTest]:
    rates = rng.beta(1, 1, (ISSUES, TESTS))
    passed: NDArray[np.bool_] = rng.random((MODELS, ISSUES, TESTS)) < rates
    return [
        RunTest(issue, model, issue * TESTS + test, issue, float(passed[model, issue, test]))
        for model, issue, test in np.ndindex(passed.shape)
    ]


def checks() -> Iterator[Check]:
    measures: dict[str, Callable[[int], float]] = {
        "tables of tags with any called changed": partial(rows_told, "tags"),
        "tables of issues with any called changed": partial(rows_told, "issues"),
        "heat maps that name an issue": maps_told,
    }
    for name, measure in measures.items():
        yield Check(f"multiplicity: no change, {name}", *FEW, one_in(20, measure))
    name = "multiplicity: one whole issue of 20 × 10 tests lost among 2% noise: told"
    row, headline = (one_in(20, partial(lost_issue_told, by_row=one)) for one in (True, False))
    yield Check(f"{name} by its row", 0.8, 1, row)
    yield Check(f"{name} by the conclusion and the gate", 0.95, 1, headline)
