from math import exp, lgamma

from evalhub.statistics.arguments import check_count

_NEGLIGIBLE = 1e-17


def few_drawn(k: int, n: int, passed: int, size: int) -> float:
    """Return P(X <= k), where n of `size` tests are drawn at random and `passed` of all passed.

    Under the hypothesis that a group of n tests is no worse than the others, it is the one-sided
    p of a group of which k passed.

    Args:
        k: Passed tests of the group, 0 to n.
        n: Tests of the group, 0 to `size`.
        passed: Passed tests of all, the group's included.
        size: All tests, the group's included.

    Returns:
        A probability in (0, 1], to 1e-9 of its value; 1 if the group is everything.

    Raises:
        ValueError: The counts are impossible: k > n, n > size, or passed > size.

    Source: R. A. Fisher (1935), The Design of Experiments: the exact test, one-sided.
    """
    check_count(k, n)
    check_count(n, size)
    check_count(passed, size)
    least, most = max(0, n - (size - passed)), min(n, passed)
    if not least <= k <= most:
        raise ValueError(f"expected {least} to {most} passed of {n}, got {k}")
    if k == most:
        return 1.0
    if k * size > n * passed:  # above the mean: the other tail is the shorter sum
        return max(0.0, 1 - _tail(n - k - 1, n, size - passed, size))
    return min(1.0, _tail(k, n, passed, size))


def _tail(k: int, n: int, passed: int, size: int) -> float:
    """Sum P(X = i) for i = 0 … k, largest first."""
    least, failed = max(0, n - (size - passed)), size - passed
    term = exp(_log_choose(passed, k) + _log_choose(failed, n - k) - _log_choose(size, n))
    total = 0.0
    while k >= least and term > total * _NEGLIGIBLE:
        total += term
        term *= k * (failed - n + k) / ((passed - k + 1) * (n - k + 1))
        k -= 1
    return total


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
