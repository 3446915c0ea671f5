"""Cards and sentences that list several comparisons, none of which has a change.

From "The unit of evidence": p is corrected for all that one card, table or sentence lists together.
So at most 5 % of first pages may call any of 8 unchanged models, or any of their issues, worse or
better; at most 5 % of comparisons any tag or any issue; and at most 5 % of heat maps may name an
issue on which models differ, where all are equal on every test.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from reports.compare.evidence_rule import Findings, Sample, findings
from reports.heatmap.spread_rule import RunTest, spreads
from tests.bench.validity import Check

FEW = (0.0, 0.05)
MODELS, ISSUES, TESTS = 8, 10, 20
"""Models, issues, and tests of each issue: enough that a single issue can be significant."""


def two_runs(rng: np.random.Generator) -> Findings:
    """Compare two runs of equal models, each test with its own rate."""
    n = ISSUES * TESTS
    first, second = rng.random((2, n)) < rng.beta(1, 1, n)
    issues = tuple(place % ISSUES for place in range(n))
    return findings(
        Sample(
            changes=tuple((second.astype(float) - first).tolist()),
            times=(1,) * n,
            issues=issues,
            tags=tuple((f"tag {issue % 5}",) for issue in issues),
            weights=(1.0,) * n,
            scores=(None,) * n,
            single=True,
        )
    )


def rows_told(kind: str, draws: int) -> float:
    """Return the share of comparisons of which any tag or issue is significant."""
    rng = np.random.default_rng(len(kind))
    found = 0
    for _ in range(draws):
        rows = getattr(two_runs(rng), kind).values()
        found += any(one.holm is not None and one.holm <= 0.05 for one in rows)
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
        yield Check(f"multiplicity: no change, {name}", *FEW, _fewer(measure))


def _fewer(measure: Callable[[int], float]) -> Callable[[int], float]:
    return lambda draws: measure(max(1, draws // 20))
