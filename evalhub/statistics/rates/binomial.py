"""The exact binomial distribution: p-values of counts.

Results are exact but for rounding (about 1e-12 of the value for counts in the thousands, 1e-9 for
millions): terms are computed from logarithms, so no count is too large.
"""

from math import exp, lgamma, log, log1p

from evalhub.statistics.arguments import check_count

_NEGLIGIBLE = 1e-17


def at_most(k: int, n: int, rate: float) -> float:
    """Return P(X <= k) for X ~ Binomial(n, rate), the one-sided p of few successes.

    Args:
        k: Successes, 0 to n.
        n: Independent trials, 0 or more.
        rate: Success rate of each trial, in [0, 1].

    Returns:
        A probability in [0, 1]; 1 without trials.

    Raises:
        ValueError: k is not within 0 to n, or `rate` not within 0 to 1.
    """
    check_count(k, n)
    if not 0 <= rate <= 1:
        raise ValueError(f"expected a rate between 0 and 1, got {rate}")
    if k == n or rate == 0:
        return 1.0
    if rate == 1:
        return 0.0
    if k <= n * rate:
        return min(1.0, _tail(k, n, rate))
    return max(0.0, 1 - _tail(n - k - 1, n, 1 - rate))


def _tail(k: int, n: int, rate: float) -> float:
    """Sum P(X = i) for i = 0 … k, largest first; k is at most the mean, so that terms shrink."""
    odds = (1 - rate) / rate
    term = exp(
        lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(rate) + (n - k) * log1p(-rate)
    )
    total = 0.0
    while k >= 0 and term > total * _NEGLIGIBLE:
        total += term
        term *= k / (n - k + 1) * odds
        k -= 1
    return total
