from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values, which control the family-wise error rate.

    The i-th smallest of m is multiplied by m - i + 1, is never below the one before it, and never
    above 1. Compare an adjusted p with the level itself.

    Args:
        p_values: Shape (m,), each in [0, 1]; None is a missing comparison.

    Returns:
        Shape (m,), in the given order. None stays None and is not counted in m.

    Raises:
        ValueError: A p-value is not within 0 to 1.

    Source: S. Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure,
    Scandinavian Journal of Statistics 6, 65-70, https://www.jstor.org/stable/4615733.
    """
    made = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    if made and not (made[0][0] >= 0 and made[-1][0] <= 1):
        raise ValueError(f"expected p-values between 0 and 1, got {made[0][0]} to {made[-1][0]}")
    adjusted: list[float | None] = [None] * len(p_values)
    reached = 0.0
    for i, (p, place) in enumerate(made):
        reached = max(reached, min(1.0, (len(made) - i) * p))
        adjusted[place] = reached
    return adjusted
