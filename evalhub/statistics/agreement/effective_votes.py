from collections.abc import Sequence
from math import fsum

_TOLERANCE = 1e-9


def effective_votes(correlations: Sequence[Sequence[float | None]]) -> float | None:
    """Return n² / Σ r_ij, the number of independent judges whose mean varies as little.

    Judges with the same errors add little: n equal ones count as one.

    Args:
        correlations: r, of the judges' errors or verdicts, shape (n, n), symmetric, each in
            [-1, 1] and 1 on the diagonal (all to 1e-9); None is a pair that was not measured.

    Returns:
        At least 1; n if no two are correlated. More than n if errors cancel out. None if
        a pair was not measured or there is no judge, or where the correlations add up to nothing
        (to 1e-9): the mean then has no variance.

    Raises:
        ValueError: The matrix is not square, not symmetric or not 1 on the diagonal, or
            a correlation is not within -1 to 1.

    Source: L. Kish (1965), Survey Sampling, chapter 5 (design effect of correlated answers).
    """
    _check(correlations)
    measured = [r for row in correlations for r in row if r is not None]
    n = len(correlations)
    total = fsum(measured)
    return n * n / total if len(measured) == n * n and total > _TOLERANCE else None


def _check(correlations: Sequence[Sequence[float | None]]) -> None:
    for i, row in enumerate(correlations):
        if len(row) != len(correlations):
            raise ValueError(f"expected {len(correlations)} correlations in a row, got {len(row)}")
        for j, r in enumerate(row):
            mirrored = correlations[j][i]
            if not _is_correlation(r, alone=i == j) or not _alike(r, mirrored):
                raise ValueError(f"expected correlations, got {r} and {mirrored} at {i}, {j}")


def _is_correlation(r: float | None, *, alone: bool) -> bool:
    return r is None or (abs(r) <= 1 + _TOLERANCE and (not alone or _alike(r, 1)))


def _alike(r: float | None, mirrored: float | None) -> bool:
    if r is None or mirrored is None:
        return r is mirrored
    return abs(r - mirrored) <= _TOLERANCE
