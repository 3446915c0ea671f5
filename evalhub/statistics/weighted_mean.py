from collections.abc import Sequence
from math import fsum

from evalhub.statistics.arguments import check_weights


def weighted_mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """Return Σw·x / Σw over the measured values.

    Args:
        values: Shape (n,); None is not measured and drops its weight.
        weights: Shape (n,), not negative.

    Returns:
        The mean, in the unit of the values; None without weighted measurements.

    Raises:
        ValueError: The sequences differ in length, or a weight is negative.
    """
    if len(values) != len(weights):
        raise ValueError(f"expected a weight for each value, got {len(values)}, {len(weights)}")
    check_weights(weights)
    measured = [(x, w) for x, w in zip(values, weights, strict=True) if x is not None]
    total = fsum(w for _, w in measured)
    return fsum(w * x for x, w in measured) / total if total else None
