"""Coverage of the 95 % interval of a judge's balanced accuracy on claims of known truth.

The rule: from 5 ideas on the interval accounts for ideas, with at least 90 % coverage, never above
99.5 %. An idea has a rate of its own, Beta-distributed. A true claim of it is right at that rate; a
false claim of two ideas at the mean of both rates. Each idea has 3 true claims and 3 false ones
with ideas drawn at random, and each claim is judged alike in both orders.
"""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from evalhub.statistics.judges.balanced_accuracy import balanced_accuracy
from evalhub.statistics.judges.judge_accuracy import JudgeCounts
from tests.bench.validity import Check, one_in
from tests.bench.validity.intervals import rates

CLAIMS = 3
ORDERS = 2
RATES = ((0.7, 0.6), (0.9, 0.8), (0.95, 0.9))
"""True sensitivity and specificity."""

WITHIN = (0.9, 0.995)


def coverage(ideas: int, true: float, false: float, correlation: float, draws: int) -> float:
    """Return the share of simulated trials whose interval contains the true balanced accuracy."""
    rng = np.random.default_rng(round(1000 * (ideas + true + false + correlation)))
    sensitivity = rates(ideas, true, correlation, draws, rng)
    specificity = rates(ideas, false, correlation, draws, rng)
    covered = 0
    for draw in range(draws):
        cells: dict[tuple[int, int], list[int]] = {}
        for idea in range(ideas):
            for _ in range(CLAIMS):
                right = rng.random() < sensitivity[draw, idea]
                cells.setdefault((idea, idea), [0, 0, 0, 0])[0 if right else 3] += ORDERS
                other = int(rng.choice([n for n in range(ideas) if n != idea]))
                rate = (specificity[draw, idea] + specificity[draw, other]) / 2
                pair = (min(idea, other), max(idea, other))
                cell = cells.setdefault(pair, [0, 0, 0, 0])
                cell[2 if rng.random() < rate else 1] += ORDERS
        counts = {pair: JudgeCounts(*cell) for pair, cell in cells.items()}
        found = balanced_accuracy(counts)
        assert found is not None
        covered += found.interval.low <= (true + false) / 2 <= found.interval.high
    return covered / draws


def checks() -> Iterator[Check]:
    for ideas, (true, false), correlation in product((5, 10, 40), RATES, (0.0, 0.3, 0.5)):
        yield Check(
            f"trial: {ideas} ideas, sensitivity {true}, specificity {false}, "
            f"correlation {correlation}",
            *WITHIN,
            one_in(25, partial(coverage, ideas, true, false, correlation)),
        )
