"""Certainty and coverage of position bias.

The rule: the direction is tested by sign flips, Holm over the judges of a table, and the
share of verdicts that changed has the interval of pass rates. So at most 5 % of tables of judges
without a preference for a place name any judge, although their verdicts change by chance; a judge
that takes what is listed first instead of judging, on a fifth of answers in either order, is named
in at least 90 % from 20 issues on; and the interval holds the true share in at least 90 % from 20
issues on, never in more than 99.5 %.

The model: 3 tests an issue, 5 options. An answer has an option that fits it; a judge takes one next
to it with a chance of its own, drawn for each issue, anew in each order.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evalhub.statistics.changes.holm import holm
from evalhub.statistics.changes.net_change import is_significant
from evalhub.statistics.judges.position_bias import OrderedVerdict, PositionBias, position_bias
from tests.bench.validity import Check, one_in

TESTS, OPTIONS, JUDGES, PART = 3, 5, 4, 5
NOISE = (1.0, 3.0)
"""Parameters of the Beta-distributed chance of an issue that a verdict is off: 25 % in the mean."""


def checks() -> Iterator[Check]:
    for issues in (4, 20):
        name = f"position bias: {issues} issues, no judge favours a place, any named"
        yield Check(name, 0, 0.05, one_in(PART, partial(any_named, issues)))
    name = "position bias: 20 issues, a fifth takes the first, named"
    yield Check(name, 0.9, 1, one_in(PART, partial(biased_named, 20)))
    name = "position bias: 20 issues, interval of the share that changed"
    yield Check(name, 0.9, 0.995, one_in(PART, partial(coverage, 20)))


def any_named(issues: int, draws: int) -> float:
    rng = np.random.default_rng(issues)
    return float(np.mean([any(_named(issues, [0.0] * JUDGES, rng)) for _ in range(draws)]))


def biased_named(issues: int, draws: int) -> float:
    rng = np.random.default_rng(5)
    lazy = [0.2] + [0.0] * (JUDGES - 1)
    return float(np.mean([_named(issues, lazy, rng)[0] for _ in range(draws)]))


def coverage(issues: int, draws: int) -> float:
    rng = np.random.default_rng(6)
    true = np.mean([_judged(issues, 0.0, rng).changed / (issues * TESTS) for _ in range(2000)])
    found = (_judged(issues, 0.0, rng).interval for _ in range(draws))
    return float(np.mean([one.low <= true <= one.high for one in found]))


def _named(issues: int, lazy: list[float], rng: np.random.Generator) -> list[bool]:
    """Return which judges of a table are said to favour what is listed first."""
    found = [_judged(issues, share, rng) for share in lazy]
    corrected = holm([one.test.p for one in found])
    return [
        is_significant(p) and one.direction != 0 for p, one in zip(corrected, found, strict=True)
    ]


def _judged(issues: int, lazy: float, rng: np.random.Generator) -> PositionBias:
    verdicts = []
    for issue in range(issues):
        off = rng.beta(*NOISE)
        for test in range(TESTS):
            fits = int(rng.integers(OPTIONS))
            given, turned = (_place(fits, off, lazy, order, rng) for order in (0, 1))
            verdicts.append(OrderedVerdict(issue * TESTS + test, issue, given, turned))
    found = position_bias(verdicts)
    assert found is not None
    return found


def _place(fits: int, off: float, lazy: float, order: int, rng: np.random.Generator) -> float:
    """Return the place of the option that a judge takes, in the order as given."""
    if rng.random() < lazy:
        return float(order)  # the first of what it is shown
    step = int(rng.choice([-1, 1])) if rng.random() < off else 0
    return min(OPTIONS - 1, max(0, fits + step)) / (OPTIONS - 1)
