from collections.abc import Mapping
from math import fsum, sqrt


def pearson_from_confusion(counts: Mapping[tuple[float, float], int]) -> float | None:
    """Return Pearson's r: Σ(x - x̄)(y - ȳ) / √(Σ(x - x̄)² · Σ(y - ȳ)²).

    Args:
        counts: From `kappa.confusion`, or several of them added up: counts of
            ratings (x, y) of the same item.

    Returns:
        In [-1, 1]. None without pairs, or if either never varies (to 1e-12).

    Source: K. Pearson (1895), doi:10.1098/rspl.1895.0041.
    """
    n = sum(counts.values())
    if not n:
        return None
    mean_x = fsum(x * count for (x, _), count in counts.items()) / n
    mean_y = fsum(y * count for (_, y), count in counts.items()) / n
    xx = fsum(count * (x - mean_x) ** 2 for (x, _), count in counts.items())
    yy = fsum(count * (y - mean_y) ** 2 for (_, y), count in counts.items())
    xy = fsum(count * (x - mean_x) * (y - mean_y) for (x, y), count in counts.items())
    if min(xx, yy) <= 1e-12 * n:
        return None
    return min(1.0, max(-1.0, xy / sqrt(xx * yy)))
